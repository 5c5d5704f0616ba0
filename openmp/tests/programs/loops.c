// Every schedule, ordered or not, signed and unsigned: each iteration runs once.
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <limits.h>
#define N 1000
static int seen[N];
static long sum;
static int wrong(void) { int w = 0; for (int i = 0; i < N; i++) w += seen[i] != 1; memset(seen, 0, sizeof seen); return w; }
#define LOOP(name, clause) do { long last = -1; \
  _Pragma("omp parallel") { _Pragma(clause) for (long i = 0; i < N; i++) { seen[i]++; last = i; } } \
  printf("%s %d %ld\n", name, wrong(), last); } while (0)
#define ULL(name, clause) do { \
  _Pragma("omp parallel") { _Pragma(clause) for (unsigned long long i = N; i > 0; i -= 1) { seen[i - 1]++; } } \
  printf("%s %d\n", name, wrong()); } while (0)
#define ORDERED(name, clause) do { long next = 0; int bad = 0; \
  _Pragma("omp parallel") { _Pragma(clause) for (long i = 0; i < N; i++) { seen[i]++; \
    _Pragma("omp ordered") { bad += next != i; next = i + 1; } } } \
  printf("%s %d %d %ld\n", name, wrong(), bad, next); } while (0)
int main(void) {
  LOOP("static", "omp for schedule(static) lastprivate(last)");
  LOOP("static 7", "omp for schedule(static, 7) lastprivate(last)");
  LOOP("dynamic", "omp for schedule(dynamic) lastprivate(last)");
  LOOP("dynamic 3", "omp for schedule(monotonic: dynamic, 3) lastprivate(last)");
  LOOP("nonmonotonic dynamic 3", "omp for schedule(nonmonotonic: dynamic, 3) lastprivate(last)");
  LOOP("guided", "omp for schedule(guided) lastprivate(last)");
  LOOP("guided 5", "omp for schedule(monotonic: guided, 5) lastprivate(last)");
  LOOP("auto", "omp for schedule(auto) lastprivate(last)");
  omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
  for (int k = 0; k < 4; k++) for (int chunk = 0; chunk < 3; chunk++) {
    omp_set_schedule(kinds[k], chunk * 5);
    LOOP("runtime", "omp for schedule(runtime) lastprivate(last)");
    LOOP("monotonic runtime", "omp for schedule(monotonic: runtime) lastprivate(last)");
    LOOP("nonmonotonic runtime", "omp for schedule(nonmonotonic: runtime) lastprivate(last)");
    ULL("ull runtime", "omp for schedule(runtime)");
    ORDERED("ordered runtime", "omp for ordered schedule(runtime)");
  }
  ULL("ull static", "omp for schedule(static, 4)");
  ULL("ull dynamic", "omp for schedule(dynamic, 4)");
  ULL("ull guided", "omp for schedule(guided)");
  ORDERED("ordered static", "omp for ordered schedule(static)");
  ORDERED("ordered static 3", "omp for ordered schedule(static, 3)");
  ORDERED("ordered dynamic", "omp for ordered schedule(dynamic, 2)");
  ORDERED("ordered guided", "omp for ordered schedule(guided)");
  // Not every iteration reaches its ordered region.
  { long order = 0; int bad = 0;
    #pragma omp parallel for ordered schedule(dynamic)
    for (int i = 0; i < 200; i++) if (i % 3) {
      #pragma omp ordered
      { bad += order > i; order = i; } }
    printf("ordered at times %d %ld\n", bad, order); }
  // At the ends of the types.
  { int count = 0;
    #pragma omp parallel for schedule(dynamic, 100) reduction(+: count)
    for (long i = LONG_MAX - 1001; i < LONG_MAX; i += 7) count++;
    printf("far end %d\n", count); count = 0;
    #pragma omp parallel for schedule(guided) reduction(+: count)
    for (long i = LONG_MIN + 1001; i > LONG_MIN; i -= 7) count++;
    printf("near end %d\n", count); count = 0;
    #pragma omp parallel for schedule(dynamic, 3) reduction(+: count)
    for (unsigned long long i = ULLONG_MAX - 100; i < ULLONG_MAX; i++) count++;
    printf("unsigned end %d\n", count); }
  #pragma omp parallel for collapse(2) schedule(dynamic, 4) reduction(+: sum)
  for (int i = 0; i < 30; i++) for (int j = 0; j < 20; j++) sum += i * j;
  printf("collapsed %ld\n", sum);
  // More loops without barriers than the runtime has slots for.
  sum = 0;
  #pragma omp parallel
  {
    long mine = 0;
    for (int k = 0; k < 100; k++) {
      #pragma omp for schedule(dynamic) nowait
      for (int i = 0; i < 10; i++) mine += i;
    }
    #pragma omp atomic
    sum += mine;
  }
  printf("nowait %ld\n", sum);
  // Loops of leagues, also with fewer iterations than members, and chunks of whole vectors.
  { int bad = 0;
    for (int n = 0; n < 40; n += n < 8 ? 1 : 7) {
      static int w[5][40];
      #pragma omp teams distribute parallel for num_teams(1) schedule(static, 1)
      for (int i = 0; i < n; i++) w[0][i]++;
      #pragma omp teams distribute parallel for num_teams(2) schedule(static, 1)
      for (int i = 0; i < n; i++) w[1][i]++;
      #pragma omp teams distribute parallel for simd num_teams(2) schedule(simd: static, 1)
      for (int i = 0; i < n; i++) w[2][i]++;
      #pragma omp teams distribute parallel for num_teams(3) dist_schedule(static, 2) schedule(static, 3)
      for (int i = 0; i < n; i++) w[3][i]++;
      #pragma omp parallel for simd schedule(simd: static, 4)
      for (int i = 0; i < n; i++) w[4][i]++;
      for (int k = 0; k < 5; k++) for (int i = 0; i < 40; i++) { bad += w[k][i] != (i < n); w[k][i] = 0; }
    }
    printf("leagues %d\n", bad); }
  // Doacross.
  { enum { A = 20, B = 15, C = 5 }; static int v[A][B][C]; int bad = 0;
    #pragma omp parallel for ordered(2) schedule(dynamic)
    for (int i = 0; i < A; i++) for (int j = 0; j < B; j++) {
      #pragma omp ordered depend(sink: i - 1, j) depend(sink: i, j - 1)
      v[i][j][0] = 1 + (i ? v[i - 1][j][0] : 0) + (j ? v[i][j - 1][0] : 0);
      #pragma omp ordered depend(source)
    }
    for (int i = 0; i < A; i++) for (int j = 0; j < B; j++) bad += v[i][j][0] != 1 + (i ? v[i - 1][j][0] : 0) + (j ? v[i][j - 1][0] : 0);
    printf("doacross %d\n", bad); bad = 0;
    #pragma omp parallel for ordered(3) schedule(static, 1)
    for (unsigned long long i = 1; i < A; i++) for (int j = 0; j < B; j++) for (int k = 0; k < C; k++) {
      #pragma omp ordered depend(sink: i - 1, j, k)
      v[i][j][k] = v[i - 1][j][k] + 1;
      #pragma omp ordered depend(source)
    }
    for (int i = 1; i < A; i++) for (int j = 0; j < B; j++) for (int k = 0; k < C; k++) bad += v[i][j][k] != v[i - 1][j][k] + 1;
    printf("doacross ull %d\n", bad); }
}
