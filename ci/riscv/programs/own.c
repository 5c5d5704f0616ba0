// Each thread's name and processor time, and wrong numbers of clocks and of users of resources.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static volatile int stop;

static void *busy(void *unused) {
    (void)unused;
    volatile long count = 0;
    while (!stop) count++;
    return NULL;
}

static double own(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(void) {
    char name[32] = "";
    pthread_t threads[4];
    for (int t = 0; t < 4; t++) pthread_create(&threads[t], NULL, busy, NULL);
    double before = own();
    usleep(5000);
    double slept = own() - before;
    printf("the sleeper's time stands still: %d\n", slept < 0.002);
    for (volatile long i = 0; i < 2000000; i++) continue;
    printf("and goes on: %d\n", own() - before > slept);
    int failed = pthread_setname_np(pthread_self(), "worker");
    printf("named: %d", failed);
    failed = pthread_getname_np(pthread_self(), name, sizeof name);
    printf(" %d %s\n", failed, name);
    prctl(PR_SET_NAME, "a name that is too long");
    prctl(PR_GET_NAME, name);
    printf("cut: %s\n", name);
    stop = 1;
    for (int t = 0; t < 4; t++) pthread_join(threads[t], NULL);
    struct timespec time;
    struct rusage usage;
    printf("no such clock: %d %d\n", clock_getres(77, &time), clock_gettime(77, &time));
    printf("atomic time: %d\n", clock_gettime(CLOCK_TAI, &time));
    printf("usage: %d %d\n", getrusage(RUSAGE_SELF, &usage), getrusage(77, &usage));
    printf("no new privileges: %d\n", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    return 0;
}
