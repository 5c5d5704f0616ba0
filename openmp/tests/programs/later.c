// Functions that are new in GCC 13 and 14, declared here for older compilers.
#include <omp.h>
#include <stdio.h>
extern int omp_in_explicit_task(void);
extern int omp_target_memcpy_async(void *, const void *, size_t, size_t, size_t, int, int, int, omp_depend_t *);
extern int omp_target_memcpy_rect_async(void *, const void *, size_t, int, const size_t *, const size_t *,
    const size_t *, const size_t *, const size_t *, int, int, int, omp_depend_t *);
extern void GOMP_taskwait_depend_nowait(void **);
extern void *GOMP_target_map_indirect_ptr(void *);
int main(void) {
  int implicit = 0, explicit = 0, host = omp_get_initial_device(), bad = 0;
  #pragma omp parallel reduction(+: implicit, explicit)
  {
    implicit += omp_in_explicit_task();
    #pragma omp single
    {
      #pragma omp task shared(explicit)
      explicit += omp_in_explicit_task();
      #pragma omp taskwait
      #pragma omp task shared(explicit) if (0)
      explicit += omp_in_explicit_task();
    }
  }
  printf("explicit %d %d\n", implicit, explicit);
  for (int round = 0; round < 200; round++) {
    int from[6] = {0}, to[6] = {0}, x = 0;
    omp_depend_t object;
    #pragma omp parallel
    #pragma omp single
    {
      #pragma omp depobj(object) depend(in: from)
      #pragma omp task depend(out: from)
      for (int k = 0; k < 6; k++) from[k] = k + round;
      omp_target_memcpy_async(to, from, sizeof from, 0, 0, host, host, 1, &object);
      for (int k = 0; k < 6; k++) bad += to[k] != k + round;
      size_t volume[2] = {1, 2}, at[2] = {1, 0}, sizes[2] = {2, 3};
      omp_target_memcpy_rect_async(to, from, sizeof(int), 2, volume, at, (size_t[]){0, 1}, sizes, sizes,
                                   host, host, 1, &object);
      bad += to[3] != 1 + round || to[4] != 2 + round;
      #pragma omp depobj(object) destroy
      #pragma omp task depend(out: x)
      x = 1;
      void *depend[] = {(void *)1, (void *)1, &x};
      GOMP_taskwait_depend_nowait(depend);
      #pragma omp task depend(inout: x)
      x = x * 2 + 1;
    }
    bad += x != 3;
  }
  printf("bad %d %d\n", bad, GOMP_target_map_indirect_ptr((void *)main) != (void *)main);
  return 0;
}
