// OpenBLAS: products and a solved system. Checks the results, and writes their sums.
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
extern void dgesv_(int *, int *, double *, int *, int *, double *, int *, int *);
static unsigned state = 1;
static double next(void) { return (state = state * 1103515245u + 12345u) / 4294967296.0 - 0.5; }
int main(void) {
  enum { N = 401, ROUNDS = 20 };
  double *a = malloc(sizeof(double) * N * N), *b = malloc(sizeof(double) * N * N);
  double *c = malloc(sizeof(double) * N * N), *lu = malloc(sizeof(double) * N * N);
  double x[N], right[N];
  int pivots[N], n = N, one = 1, info, wrong = 0;
  for (int i = 0; i < N * N; i++) a[i] = next(), b[i] = next();
  for (int round = 0; round < ROUNDS; round++)
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, N, N, N, 1, a, N, b, N, 0, c, N);
  double sum = 0;
  for (int i = 0; i < N; i += 7)
    for (int j = 0; j < N; j += 5) {
      double expected = 0;
      for (int k = 0; k < N; k++) expected += a[i * N + k] * b[j * N + k];
      wrong += fabs(expected - c[i * N + j]) > 1e-10;
      sum += c[i * N + j];
    }
  for (int i = 0; i < N * N; i++) lu[i] = a[i];
  for (int i = 0; i < N; i++) x[i] = right[i] = next();
  dgesv_(&n, &one, lu, &n, pivots, x, &n, &info);
  for (int i = 0; i < N; i++) {
    double got = 0;
    for (int k = 0; k < N; k++) got += a[k * N + i] * x[k];
    wrong += fabs(got - right[i]) > 1e-8;
  }
  double dot = 0, y[N];
  cblas_dgemv(CblasRowMajor, CblasNoTrans, N, N, 1, a, N, right, 1, 0, y, 1);
  for (int i = 0; i < N; i++) dot += y[i];
  printf("product %.6f solved %d vector %.8f wrong %d\n", sum, info, dot, wrong);
  return wrong != 0;
}
