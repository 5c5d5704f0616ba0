// What the kernel keeps for each kernel thread, as ranks see it. The argument is one of:
//
//   cpu         sched_getcpu returns the rank's CPU
//   segment     each rank's own GS base
//   mutexes     normal, recursive, error checking and robust ones
//   inheriting  the same with priority inheritance
//   user        setuid and setgid, which reach all threads by a signal that cannot be blocked
//   user-inside the same by a rank
#define _GNU_SOURCE
#include "work.h"
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __x86_64__
#include <asm/prctl.h>
#endif
static void cpu(void) {
  int wrong = 0, looks = 0;
  cpu_set_t all;
  sched_getaffinity(0, sizeof all, &all);
  int cpus[2] = {-1, -1};
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &all)) { cpus[0] = cpus[1]; cpus[1] = cpu; }
  #pragma omp parallel reduction(+ : wrong, looks)
  for (int i = 0; i < 150; i++) {
    work(i % 2 ? 40 : 150);
    #pragma omp barrier
    // Sometimes the kernel thread is moved to one CPU and to the other, however busy the machine is.
    int sends = i % 4 == 0 && cpus[0] >= 0;
    if (sends) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpus[i / 4 % 2], &one);
      sched_setaffinity(0, sizeof one, &one);
    }
    for (int look = 0; look < 10; look++) {
      unsigned before = 0, after = 0;
      syscall(SYS_getcpu, &before, NULL, NULL);
      int said = sched_getcpu();
      syscall(SYS_getcpu, &after, NULL, NULL);
      if (before == after) { looks++; wrong += said != (int)before; }
    }
    if (sends) sched_setaffinity(0, sizeof all, &all);
  }
  // A rank may move between the two reads, and there and back, but seldom.
  printf("%s\n", wrong * 50 > looks ? "another CPU" : "this CPU");
}
static void segment(void) {
  int wrong = 0;
#ifdef __x86_64__
  #pragma omp parallel reduction(+ : wrong)
  {
    static __thread long mine[8];
    for (int i = 0; i < 200; i++) {
      unsigned long base = (unsigned long)&mine[i / 50], found = 0;
      if (i % 50 == 0) syscall(SYS_arch_prctl, ARCH_SET_GS, base);
      work(i % 2 ? 40 : 200);
      #pragma omp barrier
      syscall(SYS_arch_prctl, ARCH_GET_GS, &found);
      wrong += found != base;
    }
  }
#endif
  printf("%d times another rank's\n", wrong);
}
// Each kind alone, since a library may treat priority inheritance in another way.
static void mutexes(int inherits) {
  enum { NORMAL, RECURSIVE, ERRORCHECK, ROBUST, KINDS };
  static pthread_mutex_t mutexes[KINDS];
  static long counts[KINDS];
  static int inside[KINDS];
  for (int kind = 0; kind < KINDS; kind++) {
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    if (inherits) pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_INHERIT);
    if (kind == RECURSIVE) pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
    if (kind == ERRORCHECK) pthread_mutexattr_settype(&how, PTHREAD_MUTEX_ERRORCHECK);
    if (kind == ROBUST) pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutexes[kind], &how);
  }
  int errors = 0, both = 0, size = 0;
  #pragma omp parallel reduction(+ : errors, both)
  for (int i = 0; i < 80; i++) {
    int kind = i / 5 % KINDS;
    pthread_mutex_t *mutex = &mutexes[kind];
    for (int turn = 0; turn < 3; turn++) {
      errors += pthread_mutex_lock(mutex) != 0;
      both += __atomic_add_fetch(&inside[kind], 1, __ATOMIC_SEQ_CST) != 1;
      if (kind == RECURSIVE) errors += pthread_mutex_lock(mutex) != 0;
      if (kind == ERRORCHECK) errors += pthread_mutex_lock(mutex) != EDEADLK;
      counts[kind]++;
      work(60);
      if (kind == RECURSIVE) errors += pthread_mutex_unlock(mutex) != 0;
      __atomic_sub_fetch(&inside[kind], 1, __ATOMIC_SEQ_CST);
      errors += pthread_mutex_unlock(mutex) != 0;
      if (kind == ERRORCHECK) errors += pthread_mutex_unlock(mutex) != EPERM;
      work(30);
    }
    #pragma omp barrier
    #pragma omp master
    size = omp_get_num_threads();
  }
  for (int kind = 0; kind < KINDS; kind++) errors += counts[kind] != 60L * size;
  printf("%d errors, %d times two ranks inside\n", errors, both);
}
static long sums(int regions) {
  long sum = 0;
  for (int i = 0; i < regions; i++) {
    #pragma omp parallel reduction(+ : sum)
    {
      work(100);
      #pragma omp barrier
      sum += omp_get_thread_num() < 2;
    }
  }
  return sum / regions;
}
// Sets identifiers that the process already has: nothing changes, but all threads are notified.
static int change(int which) {
  switch (which % 4) {
  case 0: return setuid(getuid());
  case 1: return setgid(getgid());
  case 2: return setresuid(-1, geteuid(), -1);
  default: return setresgid(-1, getegid(), -1);
  }
}
static void user(void) {
  int failed = 0;
  long sum = sums(30);
  for (int i = 0; i < 12; i++) {
    failed += change(i) != 0;
    failed += sums(4) != sum;
  }
  printf("%d failed\n", failed);
}
static void user_inside(void) {
  int failed = 0;
  long sum = sums(30);
  #pragma omp parallel reduction(+ : failed)
  {
    int me = omp_get_thread_num(), size = omp_get_num_threads();
    for (int i = 0; i < 12; i++) {
      work(100);
      if (i % size == me) failed += change(i) != 0;
      #pragma omp barrier
      work(100);
    }
    for (int i = 0; i < 4; i++) failed += change(me + i) != 0;
  }
  failed += sums(20) != sum;
  printf("%d failed\n", failed);
}
int main(int count, char **words) {
  const char *word = count > 1 ? words[1] : "";
  calibrate();
  if (!strcmp(word, "cpu")) cpu();
  else if (!strcmp(word, "segment")) segment();
  else if (!strcmp(word, "mutexes")) mutexes(0);
  else if (!strcmp(word, "inheriting")) mutexes(1);
  else if (!strcmp(word, "user")) user();
  else if (!strcmp(word, "user-inside")) user_inside();
  else return 2;
}
