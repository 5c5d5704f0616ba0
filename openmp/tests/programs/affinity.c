// With OMP_DISPLAY_AFFINITY the members of some regions print lines.
#include <omp.h>
#include <stdio.h>

// A region of two whose members may have other places than those of the last such region.
static void bound(int is_spread) {
  fprintf(stderr, "a region of 2, spread %d\n", is_spread);
  if (is_spread) {
    #pragma omp parallel num_threads(2) proc_bind(spread)
    {
      #pragma omp barrier
    }
  } else {
    #pragma omp parallel num_threads(2) proc_bind(primary)
    {
      #pragma omp barrier
    }
  }
}

static void in_target(int members) {
  fprintf(stderr, "in a target region\n");
  #pragma omp target
  {
    #pragma omp parallel num_threads(members)
    {
      #pragma omp barrier
    }
  }
}

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
  bound(0);
  bound(1);
  bound(1);
  bound(0);
  region(2, 0);
  in_target(2);
  region(2, 0);
  in_target(2);
  omp_set_affinity_format("other %n of %N at %A");
  region(most + 1, 0);
  return 0;
}
