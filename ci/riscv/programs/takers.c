/* Signals and timers of the process go to a thread that takes them, or wait for such a thread. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static int got[65];
static void await(int number, int count) {
    while (__atomic_load_n(&got[number], __ATOMIC_SEQ_CST) < count) usleep(100);
}
static void *taker(void *set) {
    int number;
    do {
        number = sigwaitinfo(set, NULL);
        __atomic_add_fetch(&got[number], 1, __ATOMIC_SEQ_CST);
    } while (number != SIGTERM);
    return NULL;
}
static void handler(int number) {
    __atomic_add_fetch(&got[number], 1, __ATOMIC_SEQ_CST);
}
static void *spinner(void *unused) {
    while (!__atomic_load_n(&got[SIGUSR2], __ATOMIC_SEQ_CST)) continue;
    return unused;
}
int main(void) {
    sigset_t all, set, one, pending;
    sigfillset(&all), sigemptyset(&set), sigemptyset(&one);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    sigaddset(&set, SIGUSR1), sigaddset(&set, SIGALRM), sigaddset(&set, SIGRTMIN);
    sigaddset(&set, SIGTERM);
    pthread_t thread;
    pthread_create(&thread, NULL, taker, &set);
    for (int round = 1; round <= 3; round++) kill(getpid(), SIGUSR1), await(SIGUSR1, round);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    struct itimerspec every = {{0, 1000000}, {0, 1000000}};
    timer_create(CLOCK_MONOTONIC, &event, &timer), timer_settime(timer, 0, &every, NULL);
    await(SIGRTMIN, 3), timer_delete(timer);
    struct itimerval once = {{0, 0}, {0, 2000}};
    setitimer(ITIMER_REAL, &once, NULL), await(SIGALRM, 1);
    sigqueue(getpid(), SIGTERM, (union sigval){.sival_int = 5});
    pthread_join(thread, NULL);
    printf("%d %d %d %d\n", got[SIGUSR1], got[SIGALRM], got[SIGRTMIN] >= 3, got[SIGTERM]);
    /* No thread takes the signal, so it waits until a thread takes it. */
    int number;
    kill(getpid(), SIGHUP), sigpending(&pending), sigaddset(&one, SIGHUP);
    printf("%d ", sigismember(&pending, SIGHUP)), sigwait(&one, &number), sigpending(&pending);
    printf("%d %d\n", number == SIGHUP, sigismember(&pending, SIGHUP));
    /* The main thread blocks a signal that the other thread handles. */
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR2, &action, NULL), sigemptyset(&one), sigaddset(&one, SIGUSR2);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL), pthread_create(&thread, NULL, spinner, NULL);
    pthread_sigmask(SIG_BLOCK, &one, NULL), kill(getpid(), SIGUSR2);
    pthread_join(thread, NULL);
    printf("%d %d\n", got[SIGUSR2], kill(0, 0));
    return 0;
}
