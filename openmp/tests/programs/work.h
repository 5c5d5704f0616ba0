// Common parts of programs whose ranks are preempted: work in the program's own code.
#include <time.h>
static volatile double worked; static double steps_in_us = 100;
static __attribute__((noinline)) double step(long steps) {
  double x = 1;
  for (long i = 0; i < steps; i++) x = x * 1.0000001 + 1e-9;
  return x;
}
// Works for about this many microseconds on a quiet core, without a system call.
static void work(double us) { double x = step((long)(us * steps_in_us)); if (x == 42) worked = x; }
// Measures a step. Takes the shortest of some samples, since other programs may use the core.
static void calibrate(void) {
  double least = 1;
  for (int i = 0; i < 10; i++) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    worked = step(20000);
    clock_gettime(CLOCK_MONOTONIC, &b);
    double took = (b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec) * 1e-9;
    if (took < least) least = took;
  }
  steps_in_us = 20000 / (least * 1e6);
}
