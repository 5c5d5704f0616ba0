// Prints how many calls that read the process has made before `main`, or -1.
#include <stdio.h>

int main(void) {
  long reads = -1;
  FILE *file = fopen("/proc/self/io", "r");
  if (file) fscanf(file, "rchar: %*d wchar: %*d syscr: %ld", &reads);
  printf("%ld\n", reads);
  return 0;
}
