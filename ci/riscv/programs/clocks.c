// Files that report times and signals: timerfd and signalfd, with poll and epoll.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t count(int clock) {
    uint64_t value = 0;
    return read(clock, &value, sizeof value) == 8 ? value : 1000 + errno;
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    int clock = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    printf("early %d\n", count(clock) == 1000 + EAGAIN);
    struct itimerspec once = {.it_value = {0, 2000000}}, left;
    printf("set %d\n", timerfd_settime(clock, 0, &once, NULL));
    timerfd_gettime(clock, &left);
    printf("left %d\n", left.it_value.tv_nsec > 0 && left.it_value.tv_nsec <= 2000000);
    struct pollfd poll_it = {clock, POLLIN, 0};
    printf("poll %d", poll(&poll_it, 1, 0));
    printf(" %d", poll(&poll_it, 1, 10000));
    printf(" count %d", (int)count(clock));
    printf(" %d\n", count(clock) == 1000 + EAGAIN);
    int blocking = timerfd_create(CLOCK_REALTIME, 0);
    struct itimerspec often = {{0, 1000000}, {0, 1000000}};
    timerfd_settime(blocking, 0, &often, NULL);
    printf("blocks %d", count(blocking) >= 1);
    struct timespec nap = {0, 10000000};
    nanosleep(&nap, NULL);
    printf(" %d\n", count(blocking) >= 9);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= 1;
    struct itimerspec past = {.it_value = now};
    timerfd_settime(blocking, TFD_TIMER_ABSTIME, &past, NULL);
    printf("past %d\n", (int)count(blocking));
    int group = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = 5};
    epoll_ctl(group, EPOLL_CTL_ADD, clock, &event);
    timerfd_settime(clock, 0, &once, NULL);
    printf("epoll %d", epoll_wait(group, &event, 1, -1));
    printf(" %d\n", event.data.u32);
    printf("bad %d\n", timerfd_create(99, 0) == -1 && errno == EINVAL);

    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int signals = signalfd(-1, &set, SFD_NONBLOCK);
    struct signalfd_siginfo info;
    printf("none %d\n", read(signals, &info, sizeof info) == -1 && errno == EAGAIN);
    kill(getpid(), SIGUSR1);
    poll_it = (struct pollfd){signals, POLLIN, 0};
    printf("poll %d", poll(&poll_it, 1, -1));
    printf(" %zd", read(signals, &info, sizeof info));
    printf(" %d %d\n", info.ssi_signo, info.ssi_pid == getpid());
    printf("short %d\n", read(signals, &info, 10) == -1 && errno == EINVAL);
    int waits = signalfd(-1, &set, 0);
    pid_t child = fork();
    if (child == 0)
        _exit(3);
    printf("child %zd", read(waits, &info, sizeof info));
    printf(" %d %d %d\n", info.ssi_signo, info.ssi_pid == child, info.ssi_status);
    int status;
    waitpid(child, &status, 0);
    printf("status %x\n", status);
    return 0;
}
