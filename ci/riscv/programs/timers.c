/* Timers that send signals to threads, signals with values, handlers on their own stack. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
enum { N = 3 };
static volatile sig_atomic_t rung[N];
static __thread volatile sig_atomic_t seen;
static char *stack;
static volatile int on_stack;

static void handler(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)context;
    char here;
    on_stack |= &here > stack && &here < stack + 65536;
    if (info->si_code == SI_TIMER) rung[info->si_value.sival_int]++;
    seen = info->si_code == SI_TIMER ? 1 : info->si_value.sival_int;
}

static timer_t make(int value, long first, long every) {
    timer_t timer;
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGRTMIN + 2;
    event.sigev_value.sival_int = value;
    event._sigev_un._tid = syscall(SYS_gettid);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) exit(9);
    struct itimerspec time = {{0, every}, {0, first}};
    if (timer_settime(timer, 0, &time, NULL) != 0) exit(9);
    return timer;
}

/* Each thread's timer ends the thread's loop. A repeated timer sends its signal again and again. */
static void *body(void *argument) {
    int me = (int)(long)argument;
    timer_t timer = make(me, 3000000, me == 1 ? 2000000 : 0);
    volatile double sum = 0;
    while (!seen) sum += 1.5;
    while (me == 1 && rung[me] < 4) sum += 1.5;
    struct itimerspec left;
    timer_gettime(timer, &left);
    long again = left.it_interval.tv_nsec;
    timer_delete(timer);
    errno = 0;
    int gone = timer_gettime(timer, &left);
    printf("thread %d: %s, every %ld, deleted %d %d\n", me,
           me == 1 ? "again and again" : rung[me] == 1 ? "once" : "wrong", again, gone, errno);
    return NULL;
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGRTMIN + 2, &action, NULL);
    for (long i = 0; i < N; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, body, (void *)i);
        pthread_join(thread, NULL);
    }
    /* Blocked signals with values all wait. */
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 2);
    stack = malloc(65536);
    stack_t alternate = {stack, 0, 65536}, old;
    sigaltstack(&alternate, NULL);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (int value = 40; value < 43; value++) {
        union sigval with = {value};
        sigqueue(getpid(), SIGRTMIN + 2, with);
    }
    int before = seen;
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    sigaltstack(NULL, &old);
    printf("%d %d, own stack %d, kept %d %zu\n", before, (int)seen, on_stack,
           old.ss_sp == stack, old.ss_size);
    alternate.ss_size = 16;
    errno = 0;
    int small = sigaltstack(&alternate, NULL);
    printf("too small: %d %d\n", small, errno == ENOMEM);
    return 0;
}
