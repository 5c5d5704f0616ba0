// The costs of constructs in nanoseconds: for each, the median of many batches of repetitions.
//
//   constructs [NAME...]     measures these constructs, or all; writes a line "name ns" for each
//
// A batch lasts about a millisecond. Bodies are empty, so the time is the runtime's.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 201 };
static volatile long sink;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

// Regions: each repetition is a region of its own.
static void parallel(long n) {
  for (long i = 0; i < n; i++) {
    #pragma omp parallel
    __asm__ volatile("");
  }
}
static void parallel_for(long n) {
  for (long i = 0; i < n; i++) {
    #pragma omp parallel for schedule(dynamic, 16)
    for (int k = 0; k < 64; k++) __asm__ volatile("");
  }
}
static void reduction(long n) {
  for (long i = 0; i < n; i++) {
    long sum = 0;
    #pragma omp parallel reduction(+ : sum)
    sum++;
    sink = sum;
  }
}

// Constructs in one region, whose own time is short compared with a batch.
#define INSIDE(name, body)                     \
  static void name(long n) {                   \
    _Pragma("omp parallel")                    \
    for (long i = 0; i < n; i++) { body }      \
  }
INSIDE(for_static, _Pragma("omp for schedule(static)") for (int k = 0; k < 4; k++) __asm__ volatile("");)
INSIDE(for_dynamic, _Pragma("omp for schedule(dynamic)") for (int k = 0; k < 4; k++) __asm__ volatile("");)
INSIDE(barrier, _Pragma("omp barrier"))
INSIDE(single, _Pragma("omp single") __asm__ volatile("");)
INSIDE(single_nowait, _Pragma("omp single nowait") __asm__ volatile("");)
INSIDE(critical, _Pragma("omp critical") sink++;)
INSIDE(ordered, _Pragma("omp for ordered schedule(static, 1)") for (int k = 0; k < 4; k++) {
  _Pragma("omp ordered") __asm__ volatile("");
})
static omp_lock_t the_lock;
INSIDE(lock, omp_set_lock(&the_lock); sink++; omp_unset_lock(&the_lock);)

// A critical section with work outside, as in most programs: it is seldom contended.
INSIDE(critical_seldom, for (int k = 0; k < 200; k++) __asm__ volatile(""); _Pragma("omp critical") sink++;)

// Tasks: made by one member, run by all.
static void task(long n) {
  #pragma omp parallel
  #pragma omp single
  for (long i = 0; i < n; i++) {
    #pragma omp task
    __asm__ volatile("");
  }
}
// Made by all.
INSIDE(task_each, _Pragma("omp task") __asm__ volatile("");)
static void task_wait(long n) {
  #pragma omp parallel
  #pragma omp single
  for (long i = 0; i < n; i++) {
    #pragma omp task
    __asm__ volatile("");
    #pragma omp taskwait
  }
}
static void task_depend(long n) {
  static char address[8];
  #pragma omp parallel
  #pragma omp single
  for (long i = 0; i < n; i++) {
    #pragma omp task depend(inout : address[i & 7])
    __asm__ volatile("");
  }
}
static long fib(int n) {
  long a, b;
  if (n < 2) return n;
  #pragma omp task shared(a)
  a = fib(n - 1);
  #pragma omp task shared(b)
  b = fib(n - 2);
  #pragma omp taskwait
  return a + b;
}
// A tree of tasks: ns per task. fib(k) makes about 3.24 F(k) tasks; 12 makes 464.
static void task_tree(long n) {
  #pragma omp parallel
  #pragma omp single
  for (long i = 0; i < n; i += 464) sink = fib(12);
}
static void taskloop(long n) {
  #pragma omp parallel
  #pragma omp single
  for (long i = 0; i < n; i += 16) {
    #pragma omp taskloop num_tasks(16)
    for (int k = 0; k < 16; k++) __asm__ volatile("");
  }
}

static const struct { const char *name; void (*run)(long); } all[] = {
  {"parallel", parallel}, {"parallel_for", parallel_for}, {"reduction", reduction},
  {"for_static", for_static}, {"for_dynamic", for_dynamic}, {"barrier", barrier},
  {"single", single}, {"single_nowait", single_nowait}, {"critical", critical},
  {"critical_seldom", critical_seldom}, {"lock", lock}, {"ordered", ordered}, {"task", task},
  {"task_each", task_each}, {"task_wait", task_wait}, {"task_depend", task_depend},
  {"task_tree", task_tree}, {"taskloop", taskloop},
};

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(const char *name, void (*run)(long)) {
  long n = 464;
  double began, took;
  for (;;) {
    began = now();
    run(n);
    took = now() - began;
    if (took > 1e6) break;
    n *= 2;
  }
  double times[BATCHES];
  for (int i = 0; i < BATCHES; i++) {
    began = now();
    run(n);
    times[i] = (now() - began) / n;
  }
  qsort(times, BATCHES, sizeof *times, by_value);
  printf("%s %.1f\n", name, times[BATCHES / 2]);
  fflush(stdout);
}

int main(int count, char **names) {
  omp_init_lock(&the_lock);
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
    int wanted = count < 2;
    for (int k = 1; k < count; k++) wanted |= !strcmp(names[k], all[i].name);
    if (wanted) measure(all[i].name, all[i].run);
  }
}
