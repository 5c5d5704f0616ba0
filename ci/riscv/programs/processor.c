// Timers of processor time: a thread that computes, one that sleeps, and several threads.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int rung[65], by_other;
static pthread_t first;
static void ring(int signal) {
    rung[signal]++;
    by_other += !pthread_equal(pthread_self(), first);
}
static long used(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
static void set(int which, long first, long every) {
    struct itimerval time = {{0, every}, {0, first}};
    printf("set: %d\n", setitimer(which, &time, 0));
}
static void *computes(void *data) {
    sigset_t *blocked = data;
    pthread_sigmask(SIG_SETMASK, blocked, 0);
    while (!rung[SIGPROF])
        ;
    return data;
}

int main(void) {
    first = pthread_self();
    struct itimerval time;
    struct sigaction action = {.sa_handler = ring};
    sigaction(SIGVTALRM, &action, 0);
    sigaction(SIGPROF, &action, 0);

    long before = used();
    set(ITIMER_VIRTUAL, 20000, 0);
    while (!rung[SIGVTALRM])
        ;
    long took = used() - before;
    printf("once: %d, in time: %d\n", rung[SIGVTALRM], took >= 15000 && took < 500000);
    getitimer(ITIMER_VIRTUAL, &time);
    printf("off: %d\n", !time.it_value.tv_usec && !time.it_value.tv_sec);

    set(ITIMER_PROF, 10000, 10000);
    while (rung[SIGPROF] < 5)
        ;
    set(ITIMER_PROF, 0, 0);
    printf("repeated: %d\n", rung[SIGPROF] >= 5);

    // Sleep takes no processor time.
    rung[SIGVTALRM] = 0;
    set(ITIMER_VIRTUAL, 30000, 0);
    for (int i = 0; i < 10; i++)
        usleep(5000);
    getitimer(ITIMER_VIRTUAL, &time);
    printf("after a sleep: %d %d\n", rung[SIGVTALRM], time.it_value.tv_usec > 10000);
    set(ITIMER_VIRTUAL, 0, 0);

    // The thread that computes takes the signal. If it blocks the signal, the main thread takes it.
    for (int blocks = 0; blocks < 2; blocks++) {
        sigset_t blocked;
        sigemptyset(&blocked);
        if (blocks)
            sigaddset(&blocked, SIGPROF);
        rung[SIGPROF] = by_other = 0;
        pthread_t thread;
        pthread_create(&thread, 0, computes, &blocked);
        set(ITIMER_PROF, 20000, 0);
        pthread_join(thread, 0);
        printf("with a thread: %d, taken by the main thread: %d\n", rung[SIGPROF], !by_other);
    }

    int unknown = setitimer(3, &time, 0);
    printf("unknown: %d %d\n", unknown, errno);
    fflush(stdout);
    // A child has no timer.
    time = (struct itimerval){{0, 0}, {100, 0}};
    setitimer(ITIMER_PROF, &time, 0);
    if (!fork()) {
        getitimer(ITIMER_PROF, &time);
        printf("child: %ld\n", (long)time.it_value.tv_sec);
        fflush(stdout);
        _exit(0);
    }
    wait(0);
    // Without a handler, the signal kills.
    if (!fork()) {
        signal(SIGVTALRM, SIG_DFL);
        set(ITIMER_VIRTUAL, 5000, 0);
        for (;;)
            ;
    }
    int status;
    wait(&status);
    printf("killed by %d\n", WTERMSIG(status));
}
