/* Timers whose signals no thread takes: a signalfd reports them. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static struct signalfd_siginfo info;
static volatile int done;
static void alarm_after(int micros) {
    struct itimerval time = {.it_value = {0, micros}};
    setitimer(ITIMER_REAL, &time, NULL);
}
static void *reads(void *file) {
    struct signalfd_siginfo info;
    if (read(*(int *)file, &info, sizeof info) == sizeof info) done = info.ssi_signo;
    return NULL;
}
int main(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int file = signalfd(-1, &set, 0), group = epoll_create1(0);
    alarm_after(2000);
    printf("read %zd", read(file, &info, sizeof info));
    printf(" %d\n", info.ssi_signo);
    alarm_after(2000);
    struct pollfd poll_it = {file, POLLIN, 0};
    printf("poll %d", poll(&poll_it, 1, 10000));
    printf(" %d\n", poll_it.revents);
    read(file, &info, sizeof info);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = 6};
    epoll_ctl(group, EPOLL_CTL_ADD, file, &event);
    timer_t timer;
    struct sigevent usr = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    timer_create(CLOCK_MONOTONIC, &usr, &timer);
    timer_settime(timer, 0, &(struct itimerspec){.it_value = {0, 2000000}}, NULL);
    printf("epoll %d", epoll_wait(group, &event, 1, 10000));
    printf(" %zd", read(file, &info, sizeof info));
    printf(" %d\n", info.ssi_signo);
    /* The main thread waits for the reader, or computes. */
    for (int spins = 0; spins < 2; spins++) {
        pthread_t reader;
        done = 0;
        pthread_create(&reader, NULL, reads, &file);
        usleep(10000);
        alarm_after(2000);
        while (spins && !done) continue;
        pthread_join(reader, NULL);
        printf("reader %d\n", done);
    }
    return 0;
}
