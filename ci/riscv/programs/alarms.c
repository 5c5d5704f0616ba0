/* Alarms go to a thread that takes them: the main thread blocks them, has ended, or begins to block them. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static __thread int me;
static volatile int taken[8];
static int count;
static pthread_t threads[8];
static sigset_t alarms;
static void handler(int number) {
    (void)number;
    taken[me]++;
    __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
}
static void block(int how) { pthread_sigmask(how, &alarms, NULL); }
static void after(long micros) {
    struct itimerval time = {{0, 0}, {0, micros}};
    setitimer(ITIMER_REAL, &time, NULL);
}
static void await(int wanted) {
    while (__atomic_load_n(&count, __ATOMIC_SEQ_CST) < wanted) usleep(200);
}
static void show(const char *what) {
    printf("%s:", what);
    for (int thread = 0; thread < 5; thread++) printf(" %d", taken[thread]);
    printf("\n");
    fflush(stdout);
}
/* Sleeps for ever, or spins. */
static void *sleeps(void *number) {
    me = (long)number;
    block(SIG_UNBLOCK);
    for (;;) pause();
    return NULL;
}
static volatile int spins = 1, begun;
static void *spinner(void *number) {
    me = (long)number;
    block(SIG_UNBLOCK);
    begun = 1;
    while (spins) continue;
    return NULL;
}
/* Takes one alarm and ends. */
static void *once(void *number) {
    me = (long)number;
    block(SIG_UNBLOCK);
    while (!taken[me]) usleep(1000);
    return NULL;
}
static void *last(void *number) {
    me = (long)number;
    usleep(50000);
    after(20000);
    /* No thread takes the alarm yet, and the main thread has ended. */
    usleep(60000);
    sigset_t pending;
    sigpending(&pending);
    printf("pending %d\n", sigismember(&pending, SIGALRM));
    block(SIG_UNBLOCK);
    show("the main thread has ended");
    after(20000);
    await(7);
    show("the only thread");
    kill(getpid(), SIGALRM);
    await(8);
    show("a signal after that");
    exit(0);
}
int main(void) {
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGALRM, &action, NULL);
    block(SIG_BLOCK);
    /* All other threads exist before the alarm is set. */
    pthread_create(&threads[1], NULL, once, (void *)1);
    usleep(10000);
    after(20000);
    await(1);
    pthread_join(threads[1], NULL);
    show("another thread");
    pthread_create(&threads[2], NULL, spinner, (void *)2);
    while (!begun) usleep(50);
    after(400);
    await(2);
    spins = 0;
    pthread_join(threads[2], NULL);
    show("a spinning thread");
    /* The main thread would take the alarm, but begins to block it. */
    pthread_create(&threads[3], NULL, sleeps, (void *)3);
    usleep(10000);
    block(SIG_UNBLOCK);
    after(100000);
    block(SIG_BLOCK);
    await(3);
    show("the main thread blocks it");
    /* The main thread would take the next alarm too, but begins a wait with another mask. */
    block(SIG_UNBLOCK);
    after(100000);
    sigset_t mask = alarms;
    struct timespec limit = {0, 200000000};
    ppoll(NULL, 0, &limit, &mask);
    show("the main thread waits");
    block(SIG_BLOCK);
    struct itimerval every = {{0, 20000}, {0, 20000}};
    setitimer(ITIMER_REAL, &every, NULL);
    await(5);
    after(0);
    taken[3] = taken[3] > 1;
    count = 6;
    show("again and again");
    pthread_cancel(threads[3]);
    pthread_join(threads[3], NULL);
    pthread_create(&threads[4], NULL, last, (void *)4);
    pthread_exit(NULL);
}
