// late.c loads this library. Each member counts in a thread-local of the library, over barriers.
#include <omp.h>
static int mine;
#pragma omp threadprivate(mine)
int sums(int members) {
  int bad = 0;
  #pragma omp parallel num_threads(members) reduction(+ : bad)
  {
    mine = 100 * omp_get_thread_num();
    for (int k = 0; k < 50; k++) {
      #pragma omp barrier
      mine++;
    }
    bad += mine != 100 * omp_get_thread_num() + 50;
  }
  return bad;
}
