/* Arguments, the exit status, and text to standard output and standard error. */
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) printf("%d %s %zu\n", i, argv[i], strlen(argv[i]));
    fprintf(stderr, "to the other stream\n");
    return 7;
}
