// Calls of ranks that wait or could wait.
#define _GNU_SOURCE
#include "cases.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

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

static const struct named cases[] = {
    {"polling", polling},
    {"names", names},
    {"results", results},
};
int main(int count, char **arguments) {
  return run_case(cases, sizeof cases / sizeof *cases, count, arguments);
}
