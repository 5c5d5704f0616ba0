// FFTW: three-dimensional transforms and their inverses, with OpenMP's number of threads. Writes sums of the
// results.
#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
int main(void) {
  enum { N = 48, ALL = N * N * N };
  int wrong = 0;
  if (!fftw_init_threads()) return 1;
  fftw_plan_with_nthreads(omp_get_max_threads());
  fftw_complex *from = fftw_alloc_complex(ALL), *to = fftw_alloc_complex(ALL);
  fftw_plan there = fftw_plan_dft_3d(N, N, N, from, to, FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_plan back = fftw_plan_dft_3d(N, N, N, to, from, FFTW_BACKWARD, FFTW_ESTIMATE);
  for (int i = 0; i < ALL; i++) from[i] = sin(0.37 * i) + I * cos(0.11 * i);
  double energy = 0;
  for (int round = 0; round < 20; round++) {
    fftw_execute(there);
    fftw_execute(back);
    for (int i = 0; i < ALL; i++) from[i] /= ALL;
  }
  for (int i = 0; i < ALL; i++) {
    energy += cabs(to[i]);
    wrong += cabs(from[i] - (sin(0.37 * i) + I * cos(0.11 * i))) > 1e-9;
  }
  printf("energy %.5f wrong %d\n", energy, wrong);
  return wrong != 0;
}
