/* A thread starts another program while others compute, spin, and sleep: they end, and it has the
 * process's number. A program that is not there leaves all of them as they are. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int main(int count, char **arguments) {
    if (strcmp(arguments[0], "replaced") == 0) {
        int same = atoi(arguments[1]) == getpid();
        printf("%s with %d arguments, %s process\n", arguments[0], count,
               same ? "the same" : "another");
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
