/* Signals between threads: sent and masked signals, nested handlers, a signal that ends the program. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static volatile sig_atomic_t count[65], nested, deepest, informed_of;
static void counted(int number) { count[number]++; }
static void deep(int number) {
    nested++;
    deepest = nested > deepest ? nested : deepest;
    if (count[number]++ < 3) raise(number);
    nested--;
}
static void informed(int number, siginfo_t *info, void *context) {
    (void)context;
    count[number]++;
    informed_of = info->si_signo;
}
static pthread_barrier_t barrier;
static __thread volatile int mine;
static void own(int number) { (void)number, mine++; }
static void *body(void *argument) {
    (void)argument;
    pthread_barrier_wait(&barrier);
    while (mine == 0) sched_yield();
    return (void *)(long)mine;
}
int main(void) {
    signal(SIGUSR1, counted);
    struct sigaction action = {.sa_handler = deep, .sa_flags = SA_NODEFER};
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
    printf("%d %d\n", count[SIGUSR2], deepest);
    action.sa_flags = 0;
    count[SIGUSR2] = deepest = 0;
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
    printf("%d %d\n", count[SIGUSR2], deepest);
    struct sigaction with = {.sa_sigaction = informed, .sa_flags = SA_SIGINFO};
    sigaction(SIGTERM, &with, NULL);
    kill(getpid(), SIGTERM);
    printf("%d %d\n", count[SIGTERM], informed_of == SIGTERM);
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    raise(SIGUSR1);
    raise(SIGUSR1);
    raise(SIGTERM);
    int before = count[SIGUSR1];
    pthread_sigmask(SIG_SETMASK, &old, &set);
    printf("%d %d %d %d\n", before, count[SIGUSR1], count[SIGTERM],
           sigismember(&set, SIGUSR1) && !sigismember(&old, SIGUSR1));
    signal(SIGALRM, own);
    enum { N = 4 };
    pthread_t thread[N];
    pthread_barrier_init(&barrier, NULL, N + 1);
    for (int i = 0; i < N; i++) pthread_create(&thread[i], NULL, body, NULL);
    pthread_barrier_wait(&barrier);
    long sum = 0;
    for (int i = 0; i < N; i++) pthread_kill(thread[i], SIGALRM);
    for (int i = 0; i < N; i++) {
        void *result;
        pthread_join(thread[i], &result);
        sum += (long)result;
    }
    printf("%ld %d %s\n", sum, mine, strsignal(SIGALRM));
    fflush(stdout);
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
    return 0;
}
