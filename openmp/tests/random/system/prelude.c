// The words of random programs about the state that the system keeps for a thread. After each step a program
// notes what a rank sees: its signal mask, the number of its alternate stack, its pending signals, and the
// step's result. The notes do not depend on luck.
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <asm/prctl.h>
#endif
#define P(...) _Pragma(#__VA_ARGS__)
#define INLINE static inline __attribute__((always_inline))
// Runs a step, and notes what the rank sees afterwards.
#define STEP(number, ...) do { __VA_ARGS__; note(me, number); } while (0)
enum { MOST = 64, NOTES = 512, STACKS = 4, STACK = 65536 };
// Signals for handlers, for queued values, for the one thread that reads them, and for timers. No word sends
// RTMIN + 1 to RTMIN + 8, USR1 and USR2: words only block and open these.
#define HANDLED (SIGRTMIN + 9)
#define QUEUED (SIGRTMIN + 10)
#define TAKEN (SIGRTMIN + 11)
#define TIMED (SIGRTMIN + 12)
struct note { int round, step, stack; uint64_t mask, pending; long found; };
static struct note notes[MOST][NOTES];
static int noted[MOST], round_now;
// Handlers change these, even during a C library function that the compiler takes for one without side
// effects.
static volatile long found[MOST];
static char stacks[MOST][STACKS][STACK] __attribute__((aligned(64)));
static int bad;
// Whether the program waits for the highest signal, which its own timer sends.
static int foreign;
static void wrong(const char *what) {
  if (!__atomic_exchange_n(&bad, 1, __ATOMIC_RELAXED)) dprintf(2, "wrong: %s\n", what);
}

static volatile double worked;
static __attribute__((noinline)) double walk(long steps) {
  double x = 1;
  for (long i = 0; i < steps; i++) x = x * 1.0000001 + 1e-9;
  return x;
}
// Some microseconds in the program's own code.
static void work(int us) { double x = walk(us * 300L); if (x == 42) worked = x; }

// Leaves out the C library's own two signals, which it sometimes blocks.
static uint64_t bits(const sigset_t *set) {
  uint64_t word;
  memcpy(&word, set, sizeof word);
  return word & ~((uint64_t)3 << 31);
}
static sigset_t set_of(int signal) { sigset_t set; sigemptyset(&set); sigaddset(&set, signal); return set; }
static int stack_number(void) {
  stack_t now;
  sigaltstack(NULL, &now);
  if (now.ss_flags & SS_DISABLE) return 0;
  long at = (char *)now.ss_sp - stacks[0][0];
  return at < 0 || at >= (long)sizeof stacks ? -1 : 1 + (int)(at / STACK);
}
static void note(int me, int step) {
  sigset_t mask, pending;
  pthread_sigmask(SIG_BLOCK, NULL, &mask);
  sigpending(&pending);
  // Signals that wait for the whole process are pending for varying times.
  sigdelset(&pending, QUEUED);
  sigdelset(&pending, TAKEN);
  sigdelset(&pending, TIMED);
  if (foreign) sigdelset(&pending, SIGRTMAX);
  struct note it = {round_now, step, stack_number(), bits(&mask), bits(&pending), found[me]};
  if (noted[me] < NOTES) notes[me][noted[me]++] = it;
  found[me] = 0;
}

// Waits for the other ranks.
static omp_lock_t lock;
INLINE void barrier(int us) { work(us); P(omp barrier) }
INLINE void critical(int us) {
  P(omp critical) work(us);
}
INLINE void locked(int us) { omp_set_lock(&lock); work(us); omp_unset_lock(&lock); }
INLINE void tasks(int count, int us) {
  for (int i = 0; i < count; i++) {
    P(omp task) work(us);
  }
  P(omp taskwait)
}
INLINE void single(int count, int us) {
  P(omp single) for (int i = 0; i < count; i++) {
    P(omp task) work(us);
  }
}
INLINE void loop(int count, int us) {
  P(omp for schedule(dynamic)) for (int i = 0; i < count; i++) work(us);
}
// Ranks spin in a ring, in the program's own code. The library gives them turns until the next barrier, and
// preempts them anywhere. Only the library runs this: system threads need long for it.
static int spins;
static struct { int at __attribute__((aligned(128))); } ring[MOST];
INLINE void spin(int me) {
  int size = omp_get_num_threads(), before = (me + size - 1) % size;
  P(omp barrier)
  for (int turn = 0; spins && turn < 2; turn++) {
    int mine = __atomic_load_n(&ring[me].at, __ATOMIC_RELAXED) + 1;
    while (size > 1 && __atomic_load_n(&ring[before].at, __ATOMIC_ACQUIRE) < mine - (me == 0)) {}
    __atomic_store_n(&ring[me].at, mine, __ATOMIC_RELEASE);
  }
}

// Masks. A rank takes part if its number modulo `modulus` is `which`; a modulus of 0 selects all.
static int is_of(int me, int modulus, int which) { return modulus == 0 || me % modulus == which % modulus; }
static int signal_of(int number) {
  switch (number % 12) {
  case 0: return SIGUSR1;
  case 1: return SIGUSR2;
  case 2: return SIGTERM;
  case 3: return foreign ? SIGUSR1 : SIGRTMAX;
  default: return SIGRTMIN + number % 12 - 3;
  }
}
INLINE void mask(int me, int how, int number) {
  sigset_t set = set_of(signal_of(number + me));
  sigaddset(&set, signal_of(number + 5));
  // Signals that other words block stay blocked.
  if (how == SIG_SETMASK) {
    sigaddset(&set, QUEUED);
    sigaddset(&set, TAKEN);
    if (foreign) sigaddset(&set, SIGRTMAX);
  }
  pthread_sigmask(how, &set, NULL);
}
// Blocks all signals around a wait.
#define INSIDE(wait) do { \
  sigset_t all, before, now; \
  sigfillset(&all); \
  pthread_sigmask(SIG_SETMASK, &all, &before); \
  pthread_sigmask(SIG_BLOCK, NULL, &all); \
  wait; \
  pthread_sigmask(SIG_SETMASK, &before, &now); \
  if (bits(&now) != bits(&all)) wrong("a mask around a wait"); \
} while (0)
static void *mask_of_child(void *to) { pthread_sigmask(SIG_BLOCK, NULL, to); return NULL; }
INLINE void child(int me) {
  sigset_t mask;
  pthread_t thread;
  pthread_create(&thread, NULL, mask_of_child, &mask);
  pthread_join(thread, NULL);
  found[me] = (long)bits(&mask);
}
// Each task blocks a signal while it runs, on any rank.
INLINE void masked_tasks(int count, int number) {
  for (int i = 0; i < count; i++) {
    P(omp task firstprivate(number)) {
      sigset_t set = set_of(signal_of(number)), before, now;
      pthread_sigmask(SIG_BLOCK, &set, &before);
      work(60);
      pthread_sigmask(SIG_SETMASK, &before, &now);
      if (!sigismember(&now, signal_of(number))) wrong("the mask of a task");
    }
  }
  P(omp taskwait)
}

// Alternate stacks and handlers on them.
INLINE void stack(int me, int number) {
  stack_t new = {.ss_sp = stacks[me][number % STACKS], .ss_size = STACK, .ss_flags = number ? 0 : SS_DISABLE};
  if (sigaltstack(&new, NULL)) wrong("sigaltstack");
}
static int handler_us, handler_depth;
static __thread volatile int depth;
static __attribute__((noinline)) void handler(int signal, siginfo_t *info, void *frame) {
  (void)info, (void)frame;
  volatile unsigned long mine[64];
  unsigned long tag = (unsigned long)pthread_self() + (unsigned long)mine;
  for (int i = 0; i < 64; i++) mine[i] = tag + i;
  int error = errno, me = omp_get_thread_num();
  // The stack on which the handler runs, and the signals blocked here.
  long at = (char *)mine - stacks[0][0];
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, NULL, &mask);
  found[me] = found[me] * 31 + (at < 0 || at >= (long)sizeof stacks ? 0 : 1 + at / STACK) + (long)(bits(&mask) >> 30);
  if ((depth = depth + 1) < handler_depth) raise(signal);
  work(handler_us);
  depth = depth - 1;
  for (int i = 0; i < 64; i++) if (mine[i] != tag + i) wrong("a handler's variables");
  errno = error;
}
static void handle(int flags, int us, int depth) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
  sigaction(HANDLED, &action, NULL);
  handler_us = us;
  handler_depth = flags & SA_NODEFER ? depth : 1;
}

// Signals with values. All threads block these signals.
static void queue(int me) {
  union sigval value = {.sival_int = 100 + me};
  while (sigqueue(getpid(), QUEUED, value) && errno == EAGAIN) usleep(100);
}
INLINE void queued(int me, int by, int how) {
  int size = omp_get_num_threads();
  queue(me);
  work(40);
  P(omp barrier)
  if (me == by % size) {
    sigset_t set = set_of(QUEUED);
    struct timespec none = {0, 0};
    int file = how == 2 ? signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC) : -1, left = size;
    while (left > 0) {
      siginfo_t info;
      struct signalfd_siginfo one;
      int value = 0;
      if (how == 0 && sigwaitinfo(&set, &info) == QUEUED) value = info.si_value.sival_int;
      else if (how == 1 && sigtimedwait(&set, &info, &none) == QUEUED) value = info.si_value.sival_int;
      else if (how == 2 && read(file, &one, sizeof one) == sizeof one) value = one.ssi_int;
      else if (errno == EINTR) continue;
      else { wrong("a queued signal is lost"); break; }
      found[me] += value;
      left--;
    }
    if (file >= 0) close(file);
  }
  P(omp barrier)
}
static pthread_t taker;
static long taken, given;
static void *take(void *unused) {
  sigset_t set = set_of(TAKEN);
  if (foreign) sigaddset(&set, SIGRTMAX);
  for (;;) {
    siginfo_t info;
    int signal = sigwaitinfo(&set, &info), value = info.si_value.sival_int;
    if (signal < 0) continue;
    if (signal == SIGRTMAX) { if (value != 4321) wrong("the value of a timer of the program's"); continue; }
    if (value < 0) return unused;
    __atomic_add_fetch(&taken, value, __ATOMIC_RELAXED);
  }
}
INLINE void give(int me, int directed) {
  union sigval value = {.sival_int = 7 + me};
  __atomic_add_fetch(&given, 7 + me, __ATOMIC_RELAXED);
  if (directed) { if (pthread_sigqueue(taker, TAKEN, value)) wrong("pthread_sigqueue"); }
  else if (sigqueue(getpid(), TAKEN, value)) wrong("sigqueue");
}

// The program's own timers.
static int fired[MOST];
static void timed(int signal, siginfo_t *info, void *frame) {
  (void)signal, (void)frame;
  int me = info->si_value.sival_int - 1000;
  if (me < 0 || me >= MOST) wrong("the value of a timer's signal"); else __atomic_add_fetch(&fired[me], 1, __ATOMIC_SEQ_CST);
}
INLINE void timer(int me, int of_thread, int us, int how) {
  struct sigevent event = {.sigev_notify = of_thread ? SIGEV_THREAD_ID : SIGEV_SIGNAL, .sigev_signo = TIMED, .sigev_value.sival_int = 1000 + me};
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  timer_t it;
  if (timer_create(CLOCK_MONOTONIC, &event, &it)) { wrong("timer_create"); return; }
  struct itimerspec once = {{0, 0}, {0, us * 1000L}};
  int before = __atomic_load_n(&fired[me], __ATOMIC_SEQ_CST);
  timer_settime(it, 0, &once, NULL);
  work(us / 2);
  while (__atomic_load_n(&fired[me], __ATOMIC_SEQ_CST) == before)
    if (how == 0) usleep(50); else if (how == 1) work(20); else sched_yield();
  timer_delete(it);
  found[me] = __atomic_load_n(&fired[me], __ATOMIC_SEQ_CST) - before;
}

// Sets identifiers that the process already has: all threads are notified, and nothing changes.
INLINE void identify(int me, int which) {
  int failed;
  switch (which % 4) {
  case 0: failed = setuid(getuid()); break;
  case 1: failed = setresgid(-1, getegid(), -1); break;
  case 2: failed = setgid(getgid()); break;
  default: failed = setresuid(getuid(), -1, -1);
  }
  found[me] = failed;
}

// The program's own allocator, by the kind of its lock: 0 is none.
#ifndef ALLOCATOR
#define ALLOCATOR 0
#endif
#if ALLOCATOR
struct block { size_t class; struct block *next; };
static struct block *unused[40];
static char *heap_at, *heap_end;
static int heap_us;
#if ALLOCATOR == 1
static pthread_mutex_t heap = PTHREAD_MUTEX_INITIALIZER;
static void heap_take(void) { pthread_mutex_lock(&heap); }
static void heap_give(void) { pthread_mutex_unlock(&heap); }
#else
static int heap;
static void heap_take(void) {
  while (__atomic_exchange_n(&heap, 1, __ATOMIC_ACQUIRE)) {
    if (ALLOCATOR == 3) sched_yield();
  }
}
static void heap_give(void) { __atomic_store_n(&heap, 0, __ATOMIC_RELEASE); }
#endif
static void *aligned(size_t align, size_t size) {
  size_t class = 5;
  while (((size_t)1 << class) < size) class++;
  heap_take();
  if (heap_us) work(heap_us);
  struct block *block = align <= 16 ? unused[class] : NULL;
  if (block) {
    unused[class] = block->next;
  } else {
    if (!heap_at) {
      heap_at = mmap(NULL, 1L << 34, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      heap_end = heap_at + (1L << 34);
    }
    if (align < 16) align = 16;
    block = (struct block *)(((uintptr_t)heap_at + sizeof *block + align - 1) & -align) - 1;
    heap_at = (char *)(block + 1) + ((size_t)1 << class);
    if (heap_at > heap_end) __builtin_trap();
    block->class = class;
  }
  heap_give();
  return block + 1;
}
void *malloc(size_t size) { return aligned(16, size); }
void free(void *memory) {
  struct block *block = (struct block *)memory - 1;
  if (!memory) return;
  heap_take();
  block->next = unused[block->class];
  unused[block->class] = block;
  heap_give();
}
void *calloc(size_t count, size_t size) { return memset(aligned(16, count * size), 0, count * size); }
void *realloc(void *old, size_t size) {
  size_t room = old ? (size_t)1 << ((struct block *)old)[-1].class : 0;
  if (size <= room) return old;
  void *new = aligned(16, size);
  if (old) { memcpy(new, old, room); free(old); }
  return new;
}
void *memalign(size_t align, size_t size) { return aligned(align, size); }
void *aligned_alloc(size_t align, size_t size) { return aligned(align, size); }
int posix_memalign(void **to, size_t align, size_t size) { *to = aligned(align, size); return 0; }
#endif
static unsigned char *handed[MOST];
INLINE void allocate(int me, int count, int size, int hands) {
  for (int i = 0; i < count; i++) {
    size_t bytes = size + 13 * me + 100 * i;
    unsigned char *memory = NULL;
    switch (i % 4) {
    case 0: memory = malloc(bytes); break;
    case 1: memory = calloc(1, bytes); if (memory[bytes - 1]) wrong("calloc"); break;
    case 2: memory = aligned_alloc(256, 1024); if ((uintptr_t)memory % 256) wrong("aligned_alloc"); memory = realloc(memory, 1024 + bytes); break;
    default: if (posix_memalign((void **)&memory, 64, bytes) || (uintptr_t)memory % 64) wrong("posix_memalign");
    }
    memset(memory, me + i, bytes);
    if (i % 3 == 0) work(20);
    if (memory[0] != (unsigned char)(me + i) || memory[bytes - 1] != (unsigned char)(me + i)) wrong("memory");
    free(memory);
  }
  if (!hands) return;
  // Another rank frees it.
  int size_now = omp_get_num_threads();
  handed[me] = malloc(200);
  memset(handed[me], me, 200);
  P(omp barrier)
  int other = (me + hands) % size_now;
  if (handed[other][199] != other) wrong("memory of another rank");
  free(handed[other]);
  P(omp barrier)
}

// Ranks wait for each other with calls.
static int token, open_at;
static pthread_spinlock_t spinlock;
static long counted;
INLINE void pass(int me, int rounds, int how) {
  int size = omp_get_num_threads();
  P(omp barrier)
  P(omp single) token = 0;
  for (int i = 0; i < rounds; i++) {
    while (__atomic_load_n(&token, __ATOMIC_ACQUIRE) != me)
      if (how) usleep(0); else sched_yield();
    __atomic_store_n(&token, (me + 1) % size, __ATOMIC_RELEASE);
  }
  P(omp barrier)
}
INLINE void spinlocked(int me, int times, int us) {
  P(omp barrier)
  P(omp single) counted = 0;
  for (int i = 0; i < times; i++) {
    pthread_spin_lock(&spinlock);
    counted++;
    work(us);
    pthread_spin_unlock(&spinlock);
  }
  P(omp barrier)
  found[me] = counted - times * omp_get_num_threads();
}
INLINE void gate(int me, int by) {
  int size = omp_get_num_threads();
  P(omp barrier)
  P(omp single) open_at = 0;
  if (me == by % size) { work(150); __atomic_store_n(&open_at, 1, __ATOMIC_RELEASE); }
  while (!__atomic_load_n(&open_at, __ATOMIC_ACQUIRE)) sched_yield();
  P(omp barrier)
}

// Normal, recursive, error checking and robust mutexes; with priority inheritance normal, recursive and
// robust ones.
enum { KINDS = 7 };
static pthread_mutex_t mutexes[KINDS];
static pthread_cond_t condition[2];
static void make_mutex(int kind) {
  pthread_mutexattr_t how;
  pthread_mutexattr_init(&how);
  if (kind == 1 || kind == 5) pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
  if (kind == 2) pthread_mutexattr_settype(&how, PTHREAD_MUTEX_ERRORCHECK);
  if (kind >= 4) pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_INHERIT);
  if (kind == 3 || kind == 6) pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutexes[kind], &how);
}
static int acquire(pthread_mutex_t *mutex, int how) {
  struct timespec far;
  clock_gettime(CLOCK_REALTIME, &far);
  far.tv_sec += 1000;
  if (how == 1) return pthread_mutex_timedlock(mutex, &far);
  if (how == 2) { int is; while ((is = pthread_mutex_trylock(mutex)) == EBUSY) sched_yield(); return is; }
  return pthread_mutex_lock(mutex);
}
INLINE void mutex(int me, int kind, int how, int times, int us) {
  pthread_mutex_t *it = &mutexes[kind];
  P(omp barrier)
  P(omp single) counted = 0;
  for (int i = 0; i < times; i++) {
    if (acquire(it, how)) wrong("a mutex is not taken");
    if ((kind == 1 || kind == 5) && acquire(it, how)) wrong("a mutex is not taken again");
    if (kind == 2 && pthread_mutex_lock(it) != EDEADLK) wrong("a mutex is taken twice");
    counted++;
    work(us);
    if ((kind == 1 || kind == 5) && pthread_mutex_unlock(it)) wrong("a mutex is not given back again");
    if (pthread_mutex_unlock(it)) wrong("a mutex is not given back");
    if (kind == 2 && pthread_mutex_unlock(it) != EPERM) wrong("a mutex is given back twice");
    work(us);
  }
  P(omp barrier)
  found[me] = counted - times * omp_get_num_threads();
}
INLINE void wait_for(int me, int inherits, int by) {
  pthread_mutex_t *it = &mutexes[inherits ? 4 : 0];
  P(omp barrier)
  P(omp single) counted = 0;
  pthread_mutex_lock(it);
  if (me == by % omp_get_num_threads()) {
    work(100);
    counted = 1;
    pthread_cond_broadcast(&condition[inherits]);
  }
  while (!counted) pthread_cond_wait(&condition[inherits], it);
  pthread_mutex_unlock(it);
  P(omp barrier)
}
static void *dies(void *mutex) { pthread_mutex_lock(mutex); return NULL; }
INLINE void robust(int me, int kind) {
  pthread_mutex_t *it = &mutexes[kind];
  P(omp barrier)
  P(omp single) {
    counted = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, dies, it);
    pthread_join(thread, NULL);
  }
  int is = pthread_mutex_lock(it);
  if (is == EOWNERDEAD) { pthread_mutex_consistent(it); counted++; } else if (is) wrong("a robust mutex");
  work(40);
  pthread_mutex_unlock(it);
  P(omp barrier)
  found[me] = counted;
}

// The kernel's data for a kernel thread.
static __thread long segments[8];
INLINE void segment(int me, int number) {
#ifdef __x86_64__
  static __thread unsigned long base;
  if (number) { base = (unsigned long)&segments[number % 8]; syscall(SYS_arch_prctl, ARCH_SET_GS, base); }
  unsigned long now = 0;
  syscall(SYS_arch_prctl, ARCH_GET_GS, &now);
  found[me] = now != base;
#endif
}
INLINE void processor(int me) {
  // A rank may move between two reads, but not in all pairs.
  int differ = 0;
  for (int i = 0; i < 8; i++) {
    unsigned before, after;
    syscall(SYS_getcpu, &before, NULL, NULL);
    int said = sched_getcpu();
    syscall(SYS_getcpu, &after, NULL, NULL);
    differ += before == after && said != (int)before;
  }
  found[me] = differ > 5;
}

static void show(void) {
  for (int me = 0; me < MOST; me++)
    for (int i = 0; i < noted[me]; i++) {
      struct note *it = &notes[me][i];
      printf("rank %d round %d step %d: mask %lx stack %d pending %lx found %ld\n", me, it->round, it->step, it->mask, it->stack, it->pending, it->found);
    }
  if (taker) {
    union sigval end = {.sival_int = -1};
    sigqueue(getpid(), TAKEN, end);
    pthread_join(taker, NULL);
    printf("taken %ld of %ld\n", taken, given);
  }
  printf("%s\n", bad ? "WRONG" : "ok");
  fflush(stdout);
}
static void *last(void *unused) { show(); return unused; }
// Each program begins with this.
static void begin(int takes, int waits_for_highest, int kinds_of_mutexes) {
  spins = getenv("SPINS") != NULL;
  omp_init_lock(&lock);
  pthread_spin_init(&spinlock, 0);
  for (int kind = 0; kind < kinds_of_mutexes; kind++) make_mutex(kind);
  for (int i = 0; i < 2; i++) pthread_cond_init(&condition[i], NULL);
  struct sigaction action = {.sa_sigaction = timed, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(TIMED, &action, NULL);
  handle(0, 10, 1);
  // All later threads block these signals.
  sigset_t set = set_of(QUEUED), all, before;
  sigaddset(&set, TAKEN);
  if (waits_for_highest) sigaddset(&set, SIGRTMAX);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  foreign = waits_for_highest;
  if (takes || foreign) {
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_create(&taker, NULL, take, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
  if (foreign) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMAX, .sigev_value.sival_int = 4321};
    timer_t timer;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    struct itimerspec often = {{0, 700000}, {0, 700000}};
    timer_settime(timer, 0, &often, NULL);
  }
#if ALLOCATOR
  heap_us = 30;
#endif
}
