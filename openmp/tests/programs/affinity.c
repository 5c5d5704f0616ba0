// With OMP_DISPLAY_AFFINITY the members of some regions print lines.
#include <omp.h>
#include <stdio.h>

static void region(int members, int inner) {
  fprintf(stderr, "a region of %d, in it one of %d\n", members, inner);
  #pragma omp parallel num_threads(members)
  {
    #pragma omp barrier
    if (inner && omp_get_thread_num() == members - 1) {
      #pragma omp parallel num_threads(inner)
      {
        #pragma omp barrier
      }
    }
  }
}

int main(void) {
  int most = omp_get_max_threads();
  omp_set_max_active_levels(2);
  region(1, 0);
  region(most, 0);
  region(most, 0);
  region(1, 0);
  region(most, 0);
  region(2, 0);
  region(2, 2);
  region(2, 2);
  region(2, 1);
  omp_set_affinity_format("other %n of %N at %A");
  region(most + 1, 0);
  return 0;
}
