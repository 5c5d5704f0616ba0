// A program loads a library with regions late, closes it, and loads it again. Each rank has its own
// thread-locals of the library. The argument is the library's path.
#include <dlfcn.h>
#include <stdio.h>
static int regions(int members) {
  int count = 0;
  #pragma omp parallel num_threads(members) reduction(+ : count)
  count++;
  return count;
}
int main(int count, char **arguments) {
  if (count < 2) return 2;
  int before = regions(5);
  for (int round = 0; round < 3; round++) {
    void *library = dlopen(arguments[1], RTLD_NOW);
    if (!library) { printf("%s\n", dlerror()); return 1; }
    int (*sums)(int) = (int (*)(int))dlsym(library, "sums");
    printf("late %d\n", sums(5));
    dlclose(library);
  }
  printf("around %d %d\n", before, regions(5));
}
