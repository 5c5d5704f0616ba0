/* A thread starts another program while others compute, spin, and sleep: they end, and it has the
 * process's number. A program that is not there leaves all of them as they are. The new program
 * starts itself once more, and its timer keeps the time that it has used. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long counted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char number[32];

static void *computes(void *unused) {
    for (;;)
        counted++;
    return unused;
}

static void *waits(void *unused) {
    pthread_mutex_lock(&lock);
    return unused;
}

static void *sleeps(void *unused) {
    sleep(1000);
    return unused;
}

static void *replaces(void *unused) {
    char *missing[] = {"missing", NULL};
    execv("/nowhere/missing", missing);
    printf("missing: %s\n", strerror(errno));
    fflush(stdout);
    long before = counted;
    while (counted == before)
        ;
    char *arguments[] = {"replaced", number, NULL};
    execv("/proc/self/exe", arguments);
    printf("not replaced: %s\n", strerror(errno));
    exit(1);
    return unused;
}

static void again(void) {
    struct itimerval timer = {{0, 0}, {100, 0}};
    setitimer(ITIMER_PROF, &timer, NULL);
    clock_t from = clock();
    while (clock() - from < CLOCKS_PER_SEC / 1000)
        ;
    char own[64], *arguments[] = {"again", NULL};
    snprintf(own, sizeof own, "/proc/%d/exe", getpid());
    execv(own, arguments);
    printf("%s: %s\n", own, strerror(errno));
}

int main(int count, char **arguments) {
    if (strcmp(arguments[0], "replaced") == 0) {
        int same = atoi(arguments[1]) == getpid();
        printf("%s with %d arguments, %s process\n", arguments[0], count,
               same ? "the same" : "another");
        fflush(stdout);
        again();
        return 1;
    }
    if (strcmp(arguments[0], "again") == 0) {
        struct itimerval timer;
        getitimer(ITIMER_PROF, &timer);
        if (timer.it_value.tv_sec != 99 || timer.it_value.tv_usec > 999000)
            printf("%ld.%06ld s left of the timer\n", (long)timer.it_value.tv_sec,
                   (long)timer.it_value.tv_usec);
        return 7;
    }
    snprintf(number, sizeof number, "%d", getpid());
    pthread_mutex_lock(&lock);
    void *(*all[])(void *) = {computes, waits, sleeps, replaces};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, all[i], NULL);
    pthread_join(threads[3], NULL);
    printf("not reached\n");
    return 1;
}
