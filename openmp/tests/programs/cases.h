// Runs the case that the first argument names, and prints `ok`, or what was wrong.
#include <stdio.h>
#include <string.h>

struct named { const char *name; int (*run)(void); };

static int run_case(const struct named *cases, int length, int count, char **arguments) {
  for (int i = 0; i < length; i++) {
    if (count > 1 && strcmp(arguments[1], cases[i].name) == 0) {
      int wrong = cases[i].run();
      if (wrong) printf("wrong %d\n", wrong);
      else printf("ok\n");
      return 0;
    }
  }
  printf("no such case\n");
  return 2;
}
