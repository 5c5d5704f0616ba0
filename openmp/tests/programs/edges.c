// Each case prints `ok`, or what was wrong.
#define _GNU_SOURCE
#include "cases.h"
#include <dlfcn.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int all_ran(int rounds) {
  int ran = 0;
  for (int round = 0; round < rounds; round++) {
    #pragma omp for schedule(dynamic)
    for (int i = 0; i < 4; i++) {
      #pragma omp cancellation point for
      if (round == 0 && i == 1) {
        #pragma omp cancel for
      }
      ran++;
    }
  }
  return ran;
}

// A team of one, in a region and outside of regions: a cancellation ends with its loop.
static int cancelled_loops(void) {
  int wrong = all_ran(3) != 9;
  #pragma omp parallel num_threads(1) reduction(+ : wrong)
  wrong += 2 * (all_ran(3) != 9);
  return wrong;
}

// A child of a fork has no threads in regions, and its regions get as many threads as they want.
static volatile int in_region, go_on;
static void *region_of_eight(void *a) {
  #pragma omp parallel num_threads(8)
  {
    __atomic_fetch_add(&in_region, 1, __ATOMIC_SEQ_CST);
    while (!go_on) usleep(1000);
  }
  return a;
}
static int members(int wanted) {
  int count = 0;
  #pragma omp parallel num_threads(wanted) reduction(+ : count)
  count++;
  return count;
}
static int status_of(pid_t child) {
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}
static int forked(void) {
  pthread_t other;
  pthread_create(&other, 0, region_of_eight, 0);
  while (in_region < 8) usleep(1000);
  pid_t child = fork();
  if (child == 0) _exit(members(4) != 4);
  int wrong = status_of(child);
  go_on = 1;
  pthread_join(other, 0);
  return wrong;
}

// A rank forks. The child continues no other rank.
static int forked_by_rank(void) {
  pid_t parent = getpid();
  int wrong = 0, ended = 0;
  omp_set_max_active_levels(2);
  #pragma omp parallel num_threads(12) reduction(+ : wrong) shared(ended)
  {
    for (int round = 0; round < 8; round++) {
      #pragma omp barrier
      if (omp_get_thread_num() == 5) {
        pid_t child = fork();
        if (child == 0) {
          int count = 0;
          for (int k = 0; k < 20; k++) count += members(2);
          _exit(count != 40);
        }
        wrong += status_of(child);
        __atomic_fetch_add(&ended, 1, __ATOMIC_SEQ_CST);
      }
      while (__atomic_load_n(&ended, __ATOMIC_SEQ_CST) <= round) {
        if (getpid() != parent) _exit(9);
        sched_yield();
      }
    }
  }
  return wrong;
}

// Without clang: its calls for `task if(0) detach(event)`, and for a detached task in a cancelled group.
static void *(*allocate)(void *, int, int, size_t, size_t, void *);
static uintptr_t (*allow)(void *, int, void *);
static void (*begin)(void *, int, void *), (*complete)(void *, int, void *);
static int (*task)(void *, int, void *);
static int nothing(int number, void *task) { (void)number, (void)task; return 0; }
static void find(void) {
  allocate = dlsym(RTLD_DEFAULT, "__kmpc_omp_task_alloc");
  allow = dlsym(RTLD_DEFAULT, "__kmpc_task_allow_completion_event");
  begin = dlsym(RTLD_DEFAULT, "__kmpc_omp_task_begin_if0");
  complete = dlsym(RTLD_DEFAULT, "__kmpc_omp_task_complete_if0");
  task = dlsym(RTLD_DEFAULT, "__kmpc_omp_task");
}
static void *fulfil(void *event) {
  usleep(20000);
  go_on = 1;
  omp_fulfill_event((omp_event_handle_t)event);
  return 0;
}
static int detached_at_once(void) {
  pthread_t other;
  find();
  void *it = allocate(0, 0, 1, 64, 0, nothing);
  pthread_create(&other, 0, fulfil, (void *)allow(0, 0, it));
  begin(0, 0, it);
  nothing(0, it);
  complete(0, 0, it);
  int wrong = !go_on;
  pthread_join(other, 0);
  return wrong;
}
static int detached_and_dropped(void) {
  find();
  #pragma omp parallel num_threads(2)
  #pragma omp single
  #pragma omp taskgroup
  {
    #pragma omp task
    {
      #pragma omp cancel taskgroup
    }
    #pragma omp task if (0)
    {
      #pragma omp cancel taskgroup
    }
    void *it = allocate(0, 0, 1, 64, 0, nothing);
    uintptr_t event = allow(0, 0, it);
    task(0, 0, it);
    omp_fulfill_event((omp_event_handle_t)event);
  }
  omp_event_handle_t event;
  #pragma omp parallel num_threads(2)
  #pragma omp single
  #pragma omp taskgroup
  {
    #pragma omp task if (0)
    {
      #pragma omp cancel taskgroup
    }
    #pragma omp task detach(event)
    {
      /* GCC leaves out a task without a body, and then `event` has no value. */
      __asm__ volatile("");
    }
    omp_fulfill_event(event);
  }
  return 0;
}

// A thread that has left its team is in no region. The C library calls `at_end` as a destructor of C++.
extern int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);
extern void *__dso_handle;
static int ended, outside;
static void at_end(void *value) {
  (void)value;
  outside += omp_get_num_threads() == 1 && omp_get_level() == 0 && !omp_in_final();
  __atomic_fetch_add(&ended, 1, __ATOMIC_SEQ_CST);
}
static int paused(void) {
  #pragma omp parallel num_threads(2)
  if (omp_get_thread_num()) __cxa_thread_atexit_impl(at_end, 0, &__dso_handle);
  omp_pause_resource_all(omp_pause_hard);
  while (!__atomic_load_n(&ended, __ATOMIC_SEQ_CST)) usleep(1000);
  return outside != 1;
}

// A thread takes two tasks of another thread: a task that waits for an event, and the task that fulfils it. The other
// thread finds the second task, whenever it looks.
static volatile int known;
static int stolen(void) {
  long sum = 0;
  double end = omp_get_wtime() + 5;
  for (int round = 0; round < 20000 && omp_get_wtime() < end; round++) {
    #pragma omp parallel num_threads(2)
    #pragma omp single
    {
      omp_event_handle_t event;
      known = 0;
      #pragma omp task shared(event)
      {
        #pragma omp task if (0) detach(event)
        known = 1;
      }
      #pragma omp task shared(event)
      {
        while (!known) sched_yield();
        omp_fulfill_event(event);
      }
      for (int i = 0; i < 2; i++) {
        #pragma omp task shared(sum)
        for (volatile int k = 0; k < round % 97; k++) {}
      }
      #pragma omp taskwait
    }
  }
  return 0;
}

// A team of one sleeps until another thread fulfils an event.
static void *fulfil_late(void *event) {
  usleep(400000);
  omp_fulfill_event((omp_event_handle_t)event);
  return 0;
}
static int awaited(void) {
  pthread_t other;
  #pragma omp parallel num_threads(1)
  {
    omp_event_handle_t event;
    #pragma omp task detach(event)
    pthread_create(&other, 0, fulfil_late, (void *)event);
    #pragma omp barrier
  }
  pthread_join(other, 0);
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec > 0 || used.tv_nsec > 200000000;
}

// Handlers jump out of `sched_yield`. Afterwards ranks still let others run there: with a few calls for each turn.
static __thread sigjmp_buf back;
static __thread volatile int jumps;
static void jump(int signal) {
  (void)signal;
  if (jumps > 0 && jumps <= 30) siglongjmp(back, 1);
}
static int jumped(void) {
  struct itimerval every = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
  struct sigaction action = {.sa_handler = jump, .sa_flags = SA_RESTART};
  int turns = 0, slow = 0, ready = 0;
  sigaction(SIGALRM, &action, 0);
  setitimer(ITIMER_REAL, &every, 0);
  #pragma omp parallel
  {
    int me = omp_get_thread_num(), all = omp_get_num_threads();
    sigsetjmp(back, 1);
    if (jumps++ < 30) for (;;) sched_yield();
    if (__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST) == all) setitimer(ITIMER_REAL, &never, 0);
    while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < all) usleep(1000);
    for (int k = 0; k < 40; k++) {
      int calls = 0;
      for (; __atomic_load_n(&turns, __ATOMIC_SEQ_CST) != k * all + me; calls++) sched_yield();
      slow += calls > 200;
      __atomic_fetch_add(&turns, 1, __ATOMIC_SEQ_CST);
    }
  }
  // On a busy machine the rank whose turn it is may wait for a core.
  return slow > turns / 10 * 9 ? slow : 0;
}

// Threads are cancelled while they wait in functions of the C library that this library has in front of it.
static int pipes[2], listener;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static void unlock(void *a) { (void)a; pthread_mutex_unlock(&mutex); }
static struct timespec far(int clock) {
  struct timespec time = {1000, 0};
  if (clock >= 0) { clock_gettime(clock, &time); time.tv_sec += 1000; }
  return time;
}
static void *wait_for_cancel(void *way) {
  struct timespec length = far(-1), end = far(CLOCK_REALTIME);
  struct timeval time = {1000, 0};
  struct pollfd file = {pipes[0], POLLIN, 0};
  char byte;
  int signal;
  sigset_t set;
  fd_set files;
  FD_ZERO(&files);
  FD_SET(pipes[0], &files);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, 0);
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, 0);
  if ((intptr_t)way == 3) pthread_cond_wait(&condition, &mutex);
  if ((intptr_t)way == 4) pthread_cond_timedwait(&condition, &mutex, &end);
  pthread_cleanup_pop(1);
  switch ((intptr_t)way) {
    case 0: sigwait(&set, &signal); break;
    case 1: read(pipes[0], &byte, 1); break;
    case 2: accept(listener, 0, 0); break;
    case 5: sem_wait(&semaphore); break;
    case 6: nanosleep(&length, 0); break;
    case 7: usleep(900000000); break;
    case 8: sleep(1000); break;
    case 9: clock_nanosleep(CLOCK_MONOTONIC, 0, &length, 0); break;
    case 10: poll(&file, 1, -1); break;
    case 11: select(pipes[0] + 1, &files, 0, 0, &time); break;
    case 12: sigwaitinfo(&set, 0); break;
    case 13: sigtimedwait(&set, 0, &length); break;
    case 14: sem_timedwait(&semaphore, &end); break;
    case 15: recv(listener, &byte, 1, 0); break;
    case 16: wait(0); break;
    case 17: epoll_wait(epoll_create1(0), (struct epoll_event[1]){{0}}, 1, -1); break;
  }
  return 0;
}
static int cancelled(void) {
  int wrong = 0;
  pid_t child = fork();
  if (child == 0) for (;;) pause();
  pipe(pipes);
  listener = socket(AF_UNIX, SOCK_STREAM, 0);
  bind(listener, (struct sockaddr *)&(struct sockaddr_un){.sun_family = AF_UNIX}, sizeof(sa_family_t));
  listen(listener, 1);
  sem_init(&semaphore, 0, 0);
  for (intptr_t way = 0; way < 18; way++) {
    if (way == 15) { int pair[2]; socketpair(AF_UNIX, SOCK_STREAM, 0, pair); listener = pair[0]; }
    pthread_t thread;
    void *result = 0;
    pthread_create(&thread, 0, wait_for_cancel, (void *)way);
    usleep(20000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    wrong += result != PTHREAD_CANCELED;
  }
  kill(child, SIGKILL);
  return wrong;
}

// `omp_initial_device` is the host.
static int initial_device(void) {
  char from[4] = "abc", *to = omp_target_alloc(4, -1);
  if (!to) return 1;
  int wrong = omp_target_memcpy(to, from, 4, 0, 0, -1, omp_get_initial_device()) || strcmp(to, from);
  omp_target_free(to, -1);
  omp_set_default_device(-1);
  return wrong || omp_get_default_device() != -1;
}

// Without an allocator a block stays with its own, whose pool is too small here.
static int reallocated(void) {
  omp_alloctrait_t traits[] = {{omp_atk_pool_size, 1024}, {omp_atk_fallback, omp_atv_null_fb}};
  omp_allocator_handle_t small = omp_init_allocator(omp_default_mem_space, 2, traits);
  void *block = omp_alloc(100, small);
  return !block || omp_realloc(block, 4000, omp_null_allocator, omp_null_allocator);
}

// A program's functions at the end have as much stack as other threads.
static void with_much_stack(void) {
  pthread_attr_t attributes;
  size_t bytes = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstacksize(&attributes, &bytes);
  puts(bytes >= 1 << 20 ? "ok" : "a small stack");
}
static int without_main(void) {
  members(3);
  atexit(with_much_stack);
  pthread_exit(0);
}

// More ranks than the library has, in teams one after the other.
static int many_ranks(void) {
  int wrong = members(600) != 600;
  members(1);
  return wrong + 2 * (members(601) != 601);
}

// A thread sends signals to ranks that wait, compute and yield. Each rank handles its own, on its own stack.
static pthread_t ranks[64];
static __thread int number = -1;
static __thread char *frame;
static volatile int handled[64], elsewhere, quit;
static void handle(int signal) {
  char here;
  (void)signal;
  if (number < 0 || frame - &here > 1 << 20 || &here > frame) elsewhere = 1;
  else __atomic_fetch_add(&handled[number], 1, __ATOMIC_SEQ_CST);
}
static void *send_signals(void *count) {
  for (int round = 1; round <= 5; round++) {
    for (int i = 1; i < (intptr_t)count; i++) pthread_kill(ranks[i], SIGUSR1);
    for (int i = 1; i < (intptr_t)count; i++)
      while (handled[i] < round) usleep(1000);
    usleep(5000);
  }
  quit = 1;
  return 0;
}
static int signalled(void) {
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  pthread_t sender;
  sigaction(SIGUSR1, &action, 0);
  for (int kind = 0; kind < 3; kind++) {
    quit = 0;
    memset((void *)handled, 0, sizeof handled);
    #pragma omp parallel
    {
      char here;
      number = omp_get_thread_num();
      frame = &here;
      ranks[number] = pthread_self();
      #pragma omp barrier
      #pragma omp master
      pthread_create(&sender, 0, send_signals, (void *)(intptr_t)omp_get_num_threads());
      if (kind == 0 && number == 0) while (!quit) usleep(1000);
      if (kind == 1) while (!quit) for (volatile int i = 0; i < 1000; i++) {}
      if (kind == 2) while (!quit) sched_yield();
      #pragma omp barrier
    }
    pthread_join(sender, 0);
  }
  return elsewhere;
}

// A limit on threads holds for each initial thread by itself.
static int two_groups(void) {
  pthread_t other;
  pthread_create(&other, 0, region_of_eight, 0);
  while (in_region < 8) usleep(1000);
  int wrong = members(8) != 8;
  #pragma omp parallel num_threads(6) reduction(+ : wrong)
  {
    omp_set_max_active_levels(2);
    #pragma omp barrier
    if (omp_get_thread_num() == 0) wrong += 2 * (members(8) != 3);
  }
  go_on = 1;
  pthread_join(other, 0);
  return wrong;
}

// Members of a team begin regions of their own at the same time. The group has at most eight threads.
static int crowded(void) {
  int now = 0, wrong = 0;
  omp_set_max_active_levels(3);
  for (int round = 0; round < 20; round++) {
    #pragma omp parallel num_threads(4)
    #pragma omp parallel num_threads(4)
    {
      int seen;
      #pragma omp atomic capture
      seen = ++now;
      if (seen > 8) {
        #pragma omp atomic
        wrong++;
      }
      usleep(1000);
      #pragma omp atomic
      now--;
    }
  }
  // Nothing is counted any more.
  return wrong + (members(8) != 8);
}

// A thread closes the library, and ends after that.
static const char *library;
static void *open_and_close(void *a) {
  void *it = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  int (*most)(void) = it ? (int (*)(void))dlsym(it, "omp_get_max_threads") : 0;
  if (!most || most() < 1) return &library;
  dlclose(it);
  return a;
}
static int closed(void) {
  pthread_t thread;
  void *result = 0;
  pthread_create(&thread, 0, open_and_close, 0);
  pthread_join(thread, &result);
  return result != 0;
}

static const struct named cases[] = {
    {"cancelled loops", cancelled_loops},
    {"forked", forked},
    {"forked by rank", forked_by_rank},
    {"detached at once", detached_at_once},
    {"detached and dropped", detached_and_dropped},
    {"paused", paused},
    {"stolen", stolen},
    {"awaited", awaited},
    {"jumped", jumped},
    {"cancelled", cancelled},
    {"initial device", initial_device},
    {"reallocated", reallocated},
    {"without main", without_main},
    {"many ranks", many_ranks},
    {"signalled", signalled},
    {"two groups", two_groups},
    {"crowded", crowded},
    {"closed", closed},
};
int main(int count, char **arguments) {
  if (count > 2) library = arguments[2];
  return run_case(cases, sizeof cases / sizeof *cases, count, arguments);
}
