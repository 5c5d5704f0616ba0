/* A handler blocks signals that its thread would take: another thread takes them, or they wait in their order. In
 * qemu-riscv64 7.2, they sometimes stay with the first thread. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define PATIENCE 400000000L
static __thread int me;
static volatile int ready, taken[2];
static void shown(const char *what, long value) {
    printf("%s: %ld\n", what, value);
    fflush(stdout);
}
static void act(int number, void (*handler)(int), int blocks) {
    struct sigaction action = {.sa_handler = handler};
    if (blocks) sigaddset(&action.sa_mask, blocks);
    sigaction(number, &action, NULL);
}
static void counts(int number) {
    (void)number;
    taken[me]++;
}
/* The main thread computes without a system call until the other thread has taken some signals. */
static volatile int wanted;
static void computes(int number) {
    (void)number;
    taken[me]++;
    for (long lap = 0; !me && lap < PATIENCE && taken[1] < wanted; lap++) continue;
}
static void *sends(void *waits) {
    sigset_t mains;
    sigemptyset(&mains);
    sigaddset(&mains, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &mains, NULL);
    me = 1;
    while (!ready) continue;
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR2);
    for (long lap = 0; lap < PATIENCE && !taken[1]; lap++)
        if (waits) pause();
    return NULL;
}
static void *pauses(void *unused) {
    me = 1;
    ready = 1;
    while (taken[1] < wanted) pause();
    return unused;
}
static void start_again(int count) {
    ready = taken[0] = taken[1] = 0;
    wanted = count;
}
/* Queued signals of one process to another, which a handler interrupts. */
static struct { volatile int ready, begun, sent; } *shared;
static volatile int values[8], count;
static void collects(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    values[count++] = info->si_value.sival_int;
    if (count > 1) return;
    shared->begun = 1;
    while (!shared->sent) continue;
    getppid();
}
static void queue(pid_t child, int value) { sigqueue(child, SIGRTMIN, (union sigval){value}); }
static void queued(void) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    if (child == 0) {
        struct sigaction action = {.sa_sigaction = collects, .sa_flags = SA_SIGINFO};
        sigaction(SIGRTMIN, &action, NULL);
        shared->ready = 1;
        while (count < 4) continue;
        for (int at = 0; at < 4; at++) shown("queued", values[at]);
        _exit(0);
    }
    while (!shared->ready) continue;
    queue(child, 1);
    queue(child, 2);
    while (!shared->begun) continue;
    queue(child, 3);
    queue(child, 4);
    shared->sent = 1;
    waitpid(child, NULL, 0);
}
int main(void) {
    pthread_t thread;
    act(SIGUSR1, computes, SIGUSR2);
    act(SIGUSR2, counts, 0);
    for (int waits = 0; waits < 2; waits++) {
        start_again(1);
        pthread_create(&thread, NULL, sends, waits ? &thread : NULL);
        ready = 1;
        while (!taken[0]) continue;
        shown(waits ? "by a sleeper" : "by a spinner", taken[1]);
        while (!taken[1]) pthread_kill(thread, SIGUSR2);
        pthread_join(thread, NULL);
    }
    act(SIGALRM, computes, 0);
    start_again(3);
    pthread_create(&thread, NULL, pauses, NULL);
    while (!ready) continue;
    usleep(5000);
    struct itimerval every = {{0, 2000}, {0, 2000}};
    setitimer(ITIMER_REAL, &every, NULL);
    while (!taken[0]) continue;
    shown("alarms", taken[1] >= 3);
        pthread_join(thread, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    queued();
    /* The signals of two timers, which no thread takes. */
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &(struct itimerspec){.it_value = {0, 1000}}, NULL);
    usleep(3000);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 1000}}, NULL);
    usleep(3000);
    sigpending(&set);
    shown("pending", sigismember(&set, SIGUSR2) * 10 + sigismember(&set, SIGALRM));
    return 0;
}
