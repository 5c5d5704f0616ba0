// Each case prints `ok`, or what was wrong.
#define _GNU_SOURCE
#include "cases.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

// LLVM's functions, since GCC does not link them.
static int (*number)(void *);
static void (*part_of_loop)(void *, int, int, int *, int *, int *, int *, int, int);
static void (*enter_loop)(void *, int, int, int, int, int, int);
static int (*next_part)(void *, int, int *, int *, int *, int *);
static int find_llvm(void) {
  number = dlsym(RTLD_DEFAULT, "__kmpc_global_thread_num");
  part_of_loop = dlsym(RTLD_DEFAULT, "__kmpc_for_static_init_4");
  enter_loop = dlsym(RTLD_DEFAULT, "__kmpc_dispatch_init_4");
  next_part = dlsym(RTLD_DEFAULT, "__kmpc_dispatch_next_4");
  return number && part_of_loop && enter_loop && next_part;
}

// Clang's schedule(simd: static, 16): each member has one block, of whole chunks except for the last.
static int balanced(void) {
  enum { TRIPS = 1000 };
  static int hits[TRIPS];
  int wrong = !find_llvm(), lasts = 0;
  if (wrong) return wrong;
  #pragma omp parallel num_threads(3) reduction(+ : wrong, lasts)
  {
    int id = number(0), last = 0, lower = 0, upper = TRIPS - 1, stride = 1, blocks = 0;
    part_of_loop(0, id, 45, &last, &lower, &upper, &stride, 1, 16);
    for (; lower < TRIPS; lower += stride, upper += stride, blocks++) {
      if (upper >= TRIPS) upper = TRIPS - 1;
      wrong += lower % 16 != 0 || (upper != TRIPS - 1 && upper % 16 != 15);
      for (int i = lower; i <= upper; i++) hits[i]++;
    }
    wrong += blocks != 1;
    lasts += last;
    #pragma omp barrier
    int begin, end, last_part = 0;
    enter_loop(0, id, 45, 0, TRIPS - 1, 1, 16);
    while (next_part(0, id, &last_part, &begin, &end, &stride))
      for (int i = begin; i <= end; i++) hits[i]++;
  }
  for (int i = 0; i < TRIPS; i++) wrong += hits[i] != 2;
  return wrong + 1000 * (lasts != 1);
}

// Clang's `target thread_limit(2)` and `num_threads(strict: 2)`.
static int limited(void) {
  void (*limit)(void *, int, int) = dlsym(RTLD_DEFAULT, "__kmpc_set_thread_limit");
  void (*strict)(void *, int, int, int, const char *) = dlsym(RTLD_DEFAULT, "__kmpc_push_num_threads_strict");
  void (*fork)(void *, int, void (*)(int *, int *), ...) = dlsym(RTLD_DEFAULT, "__kmpc_fork_call");
  if (!limit || !strict || !fork) return 1;
  extern void count_member(int *, int *);
  extern int counted;
  strict(0, 0, 3, 1, 0);
  fork(0, 0, count_member);
  int wrong = counted != 3;
  // In a nested region there is room for one thread, and the program wants a line about that.
  int lines[2], errors = dup(2);
  char text[200] = "";
  wrong += 100 * (pipe2(lines, O_NONBLOCK) != 0 || dup2(lines[1], 2) != 2);
  omp_set_max_active_levels(1);
  #pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) {
    strict(0, 0, 1, 1, "not this");
    fork(0, 0, count_member);
    strict(0, 0, 3, 1, "too few");
    fork(0, 0, count_member);
    fork(0, 0, count_member);
  }
  dup2(errors, 2);
  wrong += 200 * (read(lines[0], text, sizeof text - 1) <= 0 || !strstr(text, ": too few\n"));
  wrong += 400 * (strchr(text, '\n') != strrchr(text, '\n') || counted != 6);
  limit(0, 0, 0);
  wrong += 2 * (omp_get_thread_limit() < 8);
  limit(0, 0, 2);
  wrong += 4 * (omp_get_thread_limit() != 2);
  counted = 0;
  #pragma omp parallel num_threads(8)
  count_member(0, 0);
  return wrong + 8 * (counted != 2);
}
int counted;
void count_member(int *thread, int *bound) { __atomic_fetch_add(&counted, 1, __ATOMIC_SEQ_CST); }

// Each task makes the next one. A single thread does not run one inside of the other.
static long steps;
static void step(long left) {
  steps++;
  if (left > 1) {
    #pragma omp task
    step(left - 1);
  }
}
static int chain(void) {
  int wrong = 0;
  for (int round = 0; round < 3; round++) {
    steps = 0;
    #pragma omp parallel num_threads(1)
    step(200000);
    wrong += steps != 200000;
  }
  steps = 0;
  #pragma omp parallel num_threads(1)
  {
    step(1000);
    #pragma omp taskgroup
    step(1000);
    wrong += steps < 1000;
  }
  wrong += steps != 2000;
  // Outside of regions the tasks run at once.
  steps = 0;
  step(1000);
  return wrong + (steps != 1000);
}

// Long chains need little memory, and a waiting thread finds their tasks soon.
static void step_with_others(long left, int priority) {
  #pragma omp atomic
  steps++;
  if (left > 1) {
    #pragma omp task
    { }
    #pragma omp task priority(priority)
    step_with_others(left - 1, priority);
  }
}
static int long_chains(void) {
  enum { STEPS = 200000, ROOM = 24 << 10 };
  int wrong = 0;
  struct rusage before, after;
  for (int priority = 0; priority < 2; priority++) {
    steps = 0;
    getrusage(RUSAGE_SELF, &before);
    #pragma omp parallel
    #pragma omp single
    {
      #pragma omp taskgroup
      step_with_others(STEPS, priority);
      wrong += steps != STEPS;
    }
    getrusage(RUSAGE_SELF, &after);
    wrong += 10 * (after.ru_maxrss - before.ru_maxrss > ROOM);
  }
  return wrong;
}

// Predefined allocators of LLVM (100 to 102) and of newer GCCs (200 and 201).
static int reserved(void) {
  int wrong = 0;
  for (int number = 100; number < 202; number += number == 102 ? 98 : 1) {
    omp_allocator_handle_t allocator = (omp_allocator_handle_t)(long)number;
    char *block = omp_alloc(64, allocator);
    if (!block) return number;
    memset(block, 1, 64);
    omp_set_default_allocator(allocator);
    block = omp_realloc(block, 100, omp_null_allocator, omp_null_allocator);
    wrong += !block || block[63] != 1;
    omp_free(block, allocator);
    omp_destroy_allocator(allocator);
  }
  return wrong;
}

// The number of members may change at any time, but all parts of a reduction are those of members.
static volatile int over;
static void *other_regions(void *a) {
  while (!over) {
    #pragma omp parallel num_threads(2)
    for (volatile int i = 0; i < 100; i++)
      ;
    usleep(20);
  }
  return a;
}
static int reduced(void) {
  pthread_t other;
  int wrong = 0, last = 0, changes = 0;
  omp_set_dynamic(1);
  pthread_create(&other, 0, other_regions, 0);
  for (int round = 0; round < 20000 || (changes < 2 && round < 5000000); round++) {
    long product = 3;
    int size = 0;
    #pragma omp parallel reduction(task, *: product)
    {
      product *= 1;
      #pragma omp masked
      size = omp_get_num_threads();
    }
    wrong += product != 3;
    changes += size != last;
    last = size;
  }
  over = 1;
  pthread_join(other, 0);
  // Otherwise this case has tried nothing.
  return wrong + (changes < 2 && omp_get_num_procs() > 1);
}

// In a team of one, nothing could post an iteration that the program does not post.
static int unposted(void) {
  int sum = 0;
  #pragma omp parallel for ordered(1) num_threads(1) reduction(+ : sum)
  for (int i = 0; i < 10; i++) {
    if (i == 4) continue;
    #pragma omp ordered depend(sink : i - 1)
    sum += i;
    #pragma omp ordered depend(source)
  }
  struct { long lower, upper, step; } loop = {0, 9, 1};
  void (*enter)(void *, int, int, void *) = dlsym(RTLD_DEFAULT, "__kmpc_doacross_init");
  void (*post)(void *, int, long *) = dlsym(RTLD_DEFAULT, "__kmpc_doacross_post");
  void (*await)(void *, int, long *) = dlsym(RTLD_DEFAULT, "__kmpc_doacross_wait");
  void (*leave)(void *, int) = dlsym(RTLD_DEFAULT, "__kmpc_doacross_fini");
  if (!enter || !post || !await || !leave) return 1;
  for (int round = 0; round < 20; round++) {
    enter(0, 0, 1, &loop);
    for (long i = 1, before = 0; i < 10; before = i, i += 1 + (i == 4)) {
      await(0, 0, &before);
      post(0, 0, &i);
    }
    leave(0, 0);
  }
  return sum != 41;
}

// Doacross loops of two dimensions, by each schedule and for some sizes. Each iteration sums up its neighbours.
static int doacross(void) {
  static const struct { omp_sched_t kind; int chunk; } schedules[] = {
      {omp_sched_static, 0}, {omp_sched_static, 3}, {omp_sched_dynamic, 1}, {omp_sched_dynamic, 5},
      {omp_sched_guided, 2}};
  static unsigned sums[60][8];
  int wrong = 0;
  for (int schedule = 0; schedule < 5; schedule++) {
    omp_set_schedule(schedules[schedule].kind, schedules[schedule].chunk);
    for (int size = 1; size < 60; size = size * 2 + 1) {
      #pragma omp parallel for ordered(2) schedule(runtime)
      for (int i = 0; i < size; i++)
        for (int k = 0; k < 8; k++) {
          #pragma omp ordered depend(sink : i - 1, k) depend(sink : i, k - 1)
          sums[i][k] = (i ? sums[i - 1][k] : 0) + (k ? sums[i][k - 1] : 0) + 1;
          #pragma omp ordered depend(source)
        }
      for (int i = 0; i < size; i++)
        for (int k = 0; k < 8; k++) {
          wrong += sums[i][k] != (i ? sums[i - 1][k] : 0) + (k ? sums[i][k - 1] : 0) + 1;
        }
      memset(sums, 0, sizeof sums);
    }
  }
  return wrong;
}

// The same by LLVM's functions, with few and with many inner iterations.
static int doacross_of_llvm(void) {
  enum { OUTER = 300, INNER = 70 };
  static unsigned sums[OUTER][INNER];
  struct { long lower, upper, step; } loops[2] = {{0, OUTER - 1, 1}, {10, 10, 2}};
  int (*thread)(void *) = dlsym(RTLD_DEFAULT, "__kmpc_global_thread_num");
  void (*enter)(void *, int, int, void *) = dlsym(RTLD_DEFAULT, "__kmpc_doacross_init");
  void (*post)(void *, int, long *) = dlsym(RTLD_DEFAULT, "__kmpc_doacross_post");
  void (*await)(void *, int, long *) = dlsym(RTLD_DEFAULT, "__kmpc_doacross_wait");
  void (*leave)(void *, int) = dlsym(RTLD_DEFAULT, "__kmpc_doacross_fini");
  if (!thread || !enter || !post || !await || !leave) return 1;
  int wrong = 0;
  for (int inner = 1; inner <= INNER; inner += inner == 1 ? 6 : 63) {
    loops[1].upper = 10 + 2 * (inner - 1);
    #pragma omp parallel
    {
      int id = thread(0);
      enter(0, id, 2, loops);
      #pragma omp for schedule(dynamic) nowait
      for (int i = 0; i < OUTER; i++)
        for (int k = 0; k < inner; k++) {
          long here[2] = {i, 10 + 2 * k}, above[2] = {i - 1, 10 + 2 * k};
          await(0, id, above);
          sums[i][k] = (i ? sums[i - 1][k] : 0) + (k ? sums[i][k - 1] : 0) + 1;
          post(0, id, here);
        }
      leave(0, id);
    }
    for (int i = 0; i < OUTER; i++)
      for (int k = 0; k < inner; k++)
        wrong += sums[i][k] != (i ? sums[i - 1][k] : 0) + (k ? sums[i][k - 1] : 0) + 1;
    memset(sums, 0, sizeof sums);
  }
  // Memory that no iteration has used costs nothing.
  struct rusage before, after;
  loops[0].upper = 1000000000;
  getrusage(RUSAGE_SELF, &before);
  #pragma omp parallel
  {
    int id = thread(0);
    enter(0, id, 1, loops);
    long some = 100000 + id;
    post(0, id, &some);
    await(0, id, &some);
    leave(0, id);
  }
  getrusage(RUSAGE_SELF, &after);
  return wrong + 100000 * (after.ru_maxrss - before.ru_maxrss > 20000);
}

static const struct named cases[] = {
    {"balanced", balanced},
    {"limited", limited},
    {"unposted", unposted},
    {"doacross", doacross},
    {"doacross of LLVM", doacross_of_llvm},
    {"chain", chain},
    {"long chains", long_chains},
    {"reserved", reserved},
    {"reduced", reduced},
};
int main(int count, char **arguments) {
  return run_case(cases, sizeof cases / sizeof *cases, count, arguments);
}
