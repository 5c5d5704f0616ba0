// Ranks treat signals as POSIX threads do. The argument is one of:
//
//   masks      each rank blocks its own signals, which stay blocked wherever it continues
//   stacks     the same with alternate stacks
//   first      after each region, the first thread has the settings from before the region
//   blocked    a signal that all threads block and one thread reads ends no rank's work
//   foreign    the program waits for the highest signal, whose timer has a value of the program's
//   alternate  handlers on alternate stacks, in which the signal may come again
#define _GNU_SOURCE
#include "work.h"
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>
enum { MOST = 64, SIZE = 65536 };
static char memory[MOST][SIZE];
static omp_lock_t lock;
static sigset_t set_of(int signal) { sigset_t set; sigemptyset(&set); sigaddset(&set, signal); return set; }
static unsigned long mask(void) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  unsigned long bits;
  memcpy(&bits, &now, sizeof bits);
  return bits;
}
static void *stack(void) { stack_t now; sigaltstack(NULL, &now); return now.ss_flags & SS_DISABLE ? NULL : now.ss_sp; }
static void use_stack(char *at) {
  stack_t new = {.ss_sp = at, .ss_size = SIZE, .ss_flags = at ? 0 : SS_DISABLE};
  sigaltstack(&new, NULL);
}
// Waits for other ranks in one of the possible ways.
static void meet(int how) {
  switch (how % 4) {
  case 0: {
    #pragma omp barrier
    break;
  }
  case 1: {
    omp_set_lock(&lock);
    work(20);
    omp_unset_lock(&lock);
    #pragma omp barrier
    break;
  }
  case 2:
    #pragma omp single
    for (int i = 0; i < 8; i++) {
      #pragma omp task
      work(20);
    }
    break;
  case 3: {
    #pragma omp critical
    work(20);
    #pragma omp barrier
  }
  }
}
static void own(int is_mask) {
  int wrong = 0;
  #pragma omp parallel reduction(+ : wrong)
  {
    int me = omp_get_thread_num();
    unsigned long blocked = mask();
    for (int i = 0; i < 120; i++) {
      if (i % 10 == 0 && is_mask) {
        // Rank 0 blocks nothing; the others block signals by their number and the time.
        sigset_t none, mine = set_of(SIGRTMIN + (me + i / 10) % 16);
        sigemptyset(&none);
        pthread_sigmask(SIG_SETMASK, me ? &mine : &none, NULL);
        blocked = mask();
      } else if (i == 0) {
        use_stack(memory[me % MOST]);
      }
      work(i % 3 ? 40 : 200);
      meet(i / 10);
      wrong += is_mask ? mask() != blocked : stack() != memory[me % MOST];
    }
  }
  printf("%d times another rank's\n", wrong);
}
static void first(void) {
  int other_mask = 0, other_stack = 0;
  #pragma omp parallel
  work(100);
  for (int change = 0; change < 8; change++) {
    sigset_t some = set_of(change % 2 ? SIGUSR1 : SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &some, NULL);
    use_stack(change % 3 ? memory[change] : NULL);
    unsigned long blocked = mask();
    void *at = stack();
    for (int region = 0; region < 8; region++) {
      #pragma omp parallel
      for (int i = 0; i < 4; i++) {
        work(300);
        #pragma omp barrier
      }
      other_mask += mask() != blocked;
      other_stack += stack() != at;
    }
  }
  printf("%d other masks, %d other stacks\n", other_mask, other_stack);
}
static int sending, ending;
static long sent;
static void *receiver(void *count) {
  sigset_t some = set_of(SIGRTMIN + 3);
  int from = signalfd(-1, &some, 0);
  struct signalfd_siginfo one;
  while (read(from, &one, sizeof one) == sizeof one && one.ssi_int >= 0) ++*(long *)count;
  close(from);
  return NULL;
}
static void *sender(void *unused) {
  for (; !__atomic_load_n(&ending, __ATOMIC_RELAXED); usleep(300)) {
    if (!__atomic_load_n(&sending, __ATOMIC_RELAXED)) continue;
    union sigval value = {.sival_int = 1};
    sent += sigqueue(getpid(), SIGRTMIN + 3, value) == 0;
    // Also the standard signals, which no thread reads.
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGTERM);
  }
  union sigval last = {.sival_int = -1};
  sigqueue(getpid(), SIGRTMIN + 3, last);
  return unused;
}
static void blocked(void) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  long received = 0;
  int open = 0;
  unsigned long expected = mask();
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, receiver, &received);
  pthread_create(&threads[1], NULL, sender, NULL);
  #pragma omp parallel reduction(+ : open)
  {
    int me = omp_get_thread_num(), size = omp_get_num_threads();
    for (int round = 0; round < 2; round++) {
      // The library plans preemptions by the times of these intervals.
      for (int i = 0; i < 40; i++) {
        work(300);
        #pragma omp barrier
        open += mask() != expected;
      }
      #pragma omp master
      __atomic_store_n(&sending, 1, __ATOMIC_RELAXED);
      #pragma omp barrier
      // One rank computes and is moved to a spare worker, while the others sleep in the kernel.
      if (me == size / 2)
        for (int i = 0; i < 60; i++) { work(1000); open += mask() != expected; }
      else
        usleep(80000);
      open += mask() != expected;
      #pragma omp barrier
      #pragma omp master
      __atomic_store_n(&sending, 0, __ATOMIC_RELAXED);
      #pragma omp barrier
    }
  }
  __atomic_store_n(&ending, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%d times open, %ld signals lost\n", open, sent - received);
}
static volatile long waited;
static void *waiter(void *last) {
  sigset_t some = set_of(SIGRTMAX);
  siginfo_t info;
  do {
    if (sigwaitinfo(&some, &info) != SIGRTMAX) continue;
    if (info.si_value.sival_int != 1234 && info.si_value.sival_int != -1) *(long *)last += 1;
    waited++;
  } while (info.si_value.sival_int != -1);
  return NULL;
}
static void foreign(void) {
  sigset_t some = set_of(SIGRTMAX);
  pthread_sigmask(SIG_BLOCK, &some, NULL);
  pthread_t thread;
  long others = 0;
  pthread_create(&thread, NULL, waiter, &others);
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMAX, .sigev_value.sival_int = 1234};
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  struct itimerspec often = {{0, 500000}, {0, 500000}};
  timer_settime(timer, 0, &often, NULL);
  union sigval value = {.sival_int = 1234};
  for (int region = 0; region < 40 || waited < 20; region++) {
    #pragma omp parallel
    {
      work(300);
      #pragma omp barrier
      work(300);
    }
    sigqueue(getpid(), SIGRTMAX, value);
  }
  timer_delete(timer);
  value.sival_int = -1;
  sigqueue(getpid(), SIGRTMAX, value);
  pthread_join(thread, NULL);
  printf("waited for, with another value %ld times\n", others);
}
static int handled, changed;
static __attribute__((noinline)) void handler(int signal) {
  (void)signal;
  volatile unsigned long mine[128];
  unsigned long tag = (unsigned long)pthread_self() ^ (unsigned long)&mine;
  for (int i = 0; i < 128; i++) mine[i] = tag + i;
  work(300);
  int wrong = 0;
  for (int i = 0; i < 128; i++) wrong |= mine[i] != tag + i;
  __atomic_add_fetch(&changed, wrong, __ATOMIC_RELAXED);
  __atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);
}
static void alternate(void) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_NODEFER | SA_RESTART};
  sigaction(SIGRTMIN + 2, &action, NULL);
  int size = 0, expected = 0;
  #pragma omp parallel
  for (int i = 0; i < 130; i++) {
    // Each kernel thread that runs this gets an alternate stack.
    if (!stack()) use_stack(malloc(SIZE));
    if (i < 30) {
      work(500);
    } else {
      syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGRTMIN + 2);
      work(200);
    }
    #pragma omp barrier
    #pragma omp master
    { size = omp_get_num_threads(); expected += i < 30 ? 0 : size; }
  }
  while (__atomic_load_n(&handled, __ATOMIC_RELAXED) < expected) usleep(100);
  printf("%d changed\n", changed);
}
int main(int count, char **words) {
  const char *word = count > 1 ? words[1] : "";
  calibrate();
  omp_init_lock(&lock);
  if (!strcmp(word, "masks")) own(1);
  else if (!strcmp(word, "stacks")) own(0);
  else if (!strcmp(word, "first")) first();
  else if (!strcmp(word, "blocked")) blocked();
  else if (!strcmp(word, "foreign")) foreign();
  else if (!strcmp(word, "alternate")) alternate();
  else return 2;
}
