// Each case prints `ok`, or what was wrong.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>
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
  }
  return a;
}
static int reduced(void) {
  pthread_t other;
  int wrong = 0;
  omp_set_dynamic(1);
  pthread_create(&other, 0, other_regions, 0);
  for (int round = 0; round < 20000; round++) {
    long product = 3;
    #pragma omp parallel reduction(task, *: product)
    product *= 1;
    wrong += product != 3;
  }
  over = 1;
  pthread_join(other, 0);
  return wrong;
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

// Calls that never wait leave a rank on its worker's kernel thread. A rank that is cut may change its thread, so a few
// changes are allowed.
static void *returns(void *a) { return a; }
static void *tells_number(void *a) { __atomic_store_n((int *)a, syscall(SYS_gettid), __ATOMIC_SEQ_CST); return a; }
static int polling(void) {
  enum { ROUNDS = 300 };
  int wrong = 0, moves = 0;
  #pragma omp parallel reduction(+ : wrong, moves)
  {
    int sockets[2], pipes[2], ready = eventfd(1, 0), many = epoll_create1(0);
    char byte, bytes[2];
    struct epoll_event event = {.events = EPOLLIN};
    struct pollfd file = {ready, POLLIN, 0};
    struct timespec long_time = {100, 0};
    siginfo_t child;
    pthread_t ended;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || pipe2(pipes, O_NONBLOCK)) wrong++;
    if (epoll_ctl(many, EPOLL_CTL_ADD, ready, &event) || send(sockets[1], "ab", 2, 0) != 2) wrong++;
    for (int round = 0; round < ROUNDS; round++) {
      long thread = syscall(SYS_gettid);
      fd_set files;
      FD_ZERO(&files);
      FD_SET(ready, &files);
      wrong += epoll_wait(many, &event, 1, -1) != 1 || epoll_pwait(many, &event, 1, 1000, 0) != 1;
      wrong += select(ready + 1, &files, 0, 0, 0) != 1 || !FD_ISSET(ready, &files);
      wrong += pselect(ready + 1, &files, 0, 0, &long_time, 0) != 1 || !FD_ISSET(ready, &files);
      wrong += ppoll(&file, 1, 0, 0) != 1 || file.revents != POLLIN;
      wrong += waitpid(1, 0, 0) != -1 || waitid(P_PID, 1, &child, WEXITED) != -1 || wait4(1, 0, 0, 0) != -1;
      wrong += recv(sockets[0], bytes, 2, MSG_WAITALL | MSG_PEEK) != 2;
      wrong += recv(sockets[1], &byte, 1, MSG_DONTWAIT) != -1 || errno != EAGAIN;
      wrong += read(pipes[0], &byte, 1) != -1 || errno != EAGAIN;
      wrong += read(sockets[1], &byte, 0) != 0;
      moves += syscall(SYS_gettid) != thread;
      #pragma omp barrier
    }
    // A thread that has ended.
    for (int round = 0; round < 30; round++) {
      int number = 0;
      wrong += pthread_create(&ended, 0, tells_number, &number) != 0;
      while (!__atomic_load_n(&number, __ATOMIC_SEQ_CST) || syscall(SYS_tgkill, getpid(), number, 0) == 0) usleep(100);
      long thread = syscall(SYS_gettid);
      wrong += pthread_join(ended, 0) != 0;
      moves += syscall(SYS_gettid) != thread;
      #pragma omp barrier
    }
    close(sockets[0]), close(sockets[1]), close(pipes[0]), close(pipes[1]), close(ready), close(many);
  }
  return wrong + (moves > 6 ? moves : 0);
}

// The library has its own versions of all names under which the C library's functions that wait are called.
static int names(void) {
  static const char *all[] = {"read", "__read_chk", "recv", "__recv_chk", "recvfrom", "__recvfrom_chk", "recvmsg",
      "poll", "__poll_chk", "ppoll", "__ppoll_chk", "accept", "accept4", "waitpid", "waitid", "wait4", "thrd_join",
      "thrd_sleep", "readv", "recvmmsg", "wait3", "epoll_pwait2", "pthread_timedjoin_np", "pthread_clockjoin_np"};
  Dl_info ours, found;
  void *known = dlsym(RTLD_DEFAULT, "GOMP_parallel");
  if (!known || !dladdr(known, &ours)) return 100;
  for (int i = 0; i < (int)(sizeof all / sizeof *all); i++) {
    void *function = dlsym(RTLD_DEFAULT, all[i]);
    if (!function || !dladdr(function, &found) || found.dli_fbase != ours.dli_fbase) return i + 1;
  }
  return 0;
}

// Each rank calls these functions: the result is that of the C library.
static int ends_with_seven(void *a) { return 7; }
static int results(void) {
  ssize_t (*checked_read)(int, void *, size_t, size_t) = dlsym(RTLD_DEFAULT, "__read_chk");
  ssize_t (*checked_recv)(int, void *, size_t, size_t, int) = dlsym(RTLD_DEFAULT, "__recv_chk");
  ssize_t (*checked_recvfrom)(int, void *, size_t, size_t, int, void *, void *) = dlsym(RTLD_DEFAULT, "__recvfrom_chk");
  int (*checked_poll)(struct pollfd *, nfds_t, int, size_t) = dlsym(RTLD_DEFAULT, "__poll_chk");
  int (*checked_ppoll)(struct pollfd *, nfds_t, void *, void *, size_t) = dlsym(RTLD_DEFAULT, "__ppoll_chk");
  int wrong = 0;
  #pragma omp parallel reduction(+ : wrong)
  for (int round = 0; round < 20; round++) {
    int sockets[2], result = 0;
    char bytes[8] = "";
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets)) wrong++;
    struct pollfd file = {sockets[1], POLLIN, 0};
    struct timespec none = {0, 0}, some = {0, 100000}, invalid = {0, -1};
    struct iovec to = {bytes, sizeof bytes};
    struct msghdr message = {.msg_iov = &to, .msg_iovlen = 1};
    siginfo_t information;
    wrong += checked_poll(&file, 1, 0, sizeof file) != 0;
    wrong += checked_poll(&file, 1, 1, sizeof file) != 0;
    for (int i = 0; i < 5; i++) wrong += send(sockets[0], "abc", 3, 0) != 3;
    wrong += checked_poll(&file, 1, -1, sizeof file) != 1;
    wrong += checked_ppoll(&file, 1, &none, 0, sizeof file) != 1;
    wrong += checked_read(sockets[1], bytes, 3, sizeof bytes) != 3;
    wrong += checked_recv(sockets[1], bytes, 3, sizeof bytes, 0) != 3;
    wrong += checked_recvfrom(sockets[1], bytes, 3, sizeof bytes, 0, 0, 0) != 3;
    wrong += recvfrom(sockets[1], bytes, 3, 0, 0, 0) != 3;
    wrong += recvmsg(sockets[1], &message, 0) != 3 || memcmp(bytes, "abc", 4);
    for (int i = 0; i < 4; i++) wrong += send(sockets[0], "abc", 3, 0) != 3;
    struct mmsghdr two[2] = {{.msg_hdr = message}, {.msg_hdr = message}};
    wrong += readv(sockets[1], &to, 1) != 3 || recvmmsg(sockets[1], two, 2, 0, 0) != 2;
    wrong += recv(sockets[1], bytes, 8, MSG_WAITALL) != 3;
    wrong += wait3(0, WNOHANG, 0) > 0;
    pthread_t other;
    void *value = 0;
    struct timespec soon;
    wrong += pthread_create(&other, 0, returns, &value) != 0;
    clock_gettime(CLOCK_REALTIME, &soon), soon.tv_sec += 50;
    wrong += pthread_timedjoin_np(other, &value, &soon) != 0 || value != &value;
    wrong += accept4(sockets[0], 0, 0, 0) != -1;
    wrong += waitid(P_PID, 1, &information, WEXITED) != -1 || errno != ECHILD;
    wrong += wait4(1, 0, 0, 0) != -1 || errno != ECHILD;
    wrong += thrd_sleep(&some, 0) != 0 || thrd_sleep(&none, 0) != 0 || thrd_sleep(&invalid, 0) == 0;
    thrd_t thread;
    wrong += thrd_create(&thread, ends_with_seven, 0) != thrd_success || thrd_join(thread, &result) != thrd_success;
    wrong += result != 7;
    close(sockets[0]), close(sockets[1]);
    #pragma omp barrier
  }
  return wrong;
}

static const struct { const char *name; int (*run)(void); } cases[] = {
    {"balanced", balanced},
    {"limited", limited},
    {"unposted", unposted},
    {"doacross", doacross},
    {"chain", chain},
    {"long chains", long_chains},
    {"polling", polling},
    {"names", names},
    {"results", results},
    {"reserved", reserved},
    {"reduced", reduced},
};
int main(int count, char **arguments) {
  for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
    if (count > 1 && strcmp(arguments[1], cases[i].name) == 0) {
      int wrong = cases[i].run();
      if (wrong) printf("wrong %d\n", wrong);
      else printf("ok\n");
      return 0;
    }
  }
  printf("no such case\n");
  return 2;
}
