// Waits for children: their options, the children's time, and a handler without SA_RESTART.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int handled;
static void count(int signal) { handled += signal == SIGCHLD; }
static void show(const char *what, long result) { printf("%s: %ld %d\n", what, result, result < 0 ? errno : 0); }
static long micros(struct rusage *used) {
    struct timeval *user = &used->ru_utime, *system = &used->ru_stime;
    return (user->tv_sec + system->tv_sec) * 1000000 + user->tv_usec + system->tv_usec;
}

static void work(void) {
    struct timespec from, now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < 30000000);
}

int main(void) {
    int status;
    siginfo_t info;
    show("unknown option", waitpid(-1, &status, 0x4000000));
    show("unknown option of waitid", waitid(P_ALL, 0, &info, WEXITED | 0x100000));
    show("child 0", waitid(P_PID, 0, &info, WEXITED));
    show("child -5", waitid(P_PID, -5, &info, WEXITED));
    show("unusual child", waitpid(-1, &status, __WCLONE));
    show("no child", waitpid(-1, &status, WUNTRACED | WCONTINUED));

    struct sigaction action = {.sa_handler = count};
    sigaction(SIGCHLD, &action, 0);
    pid_t child = fork();
    if (!child) {
        usleep(2000);
        _exit(3);
    }
    show("with a handler", waitpid(child, &status, 0) == child);
    usleep(1000);
    printf("status %d, handled %d\n", WEXITSTATUS(status), handled);

    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    long before = micros(&used);
    child = fork();
    if (!child) {
        work();
        _exit(0);
    }
    wait4(child, &status, 0, &used);
    printf("the child's time: %d\n", micros(&used) > 5000);
    getrusage(RUSAGE_CHILDREN, &used);
    printf("the children's time: %d\n", micros(&used) - before > 5000);
    struct tms ticks;
    times(&ticks);
    printf("ticks: %d\n", ticks.tms_cutime + ticks.tms_cstime > 0);

    child = fork();
    if (!child) {
        show("session", setsid() == getpid());
        show("group of a leader", setpgid(0, 0));
        _exit(0);
    }
    waitpid(child, &status, 0);
    return 0;
}
