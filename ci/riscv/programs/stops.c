// Children that signals stop and continue: what their parent learns, and what they do meanwhile.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile long *counter;
static volatile int handled[65];
static siginfo_t last;
static void count(int signal, siginfo_t *info, void *context) {
    (void)context;
    handled[signal]++;
    last = *info;
}
static void *counts(void *data) {
    for (;;)
        __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
    return data;
}
static void *crowd(void *data) {
    pthread_t threads[8];
    for (int at = 0; at < 8; at++)
        pthread_create(&threads[at], 0, counts, 0);
    pthread_join(threads[0], 0);
    return data;
}
static pid_t begin(void *(*body)(void *)) {
    fflush(stdout);
    *counter = 0;
    pid_t child = fork();
    if (!child) {
        // SIGTSTP does not stop the group of a shell that has ended.
        setpgid(0, 0);
        pthread_t thread;
        pthread_create(&thread, 0, body, 0);
        pthread_join(thread, 0);
        _exit(0);
    }
    while (!*counter)
        usleep(100);
    return child;
}
static void await(pid_t child, int options) {
    int status = 0;
    int found = waitpid(child, &status, options) == child;
    printf("found %d: stopped %d by %d, continued %d, killed %d by %d\n", found, WIFSTOPPED(status),
           WIFSTOPPED(status) ? WSTOPSIG(status) : 0, WIFCONTINUED(status), WIFSIGNALED(status),
           WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}
static int stands_still(void) {
    long before = *counter;
    usleep(3000);
    return *counter == before;
}
static void *waits(void *data) {
    struct timespec time = {0, 20000000}, from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    *counter = 1;
    int result = nanosleep(&time, 0);
    clock_gettime(CLOCK_MONOTONIC, &to);
    long took = (to.tv_sec - from.tv_sec) * 1000000 + (to.tv_nsec - from.tv_nsec) / 1000;
    _exit(result == 0 && took >= 20000 ? 7 : 8);
    return data;
}

static void handle(int signal) {
    (void)signal;
    *counter = 2;
}
static void *holds(void *data) {
    sigset_t both, none;
    sigemptyset(&none), sigemptyset(&both), sigaddset(&both, SIGTSTP), sigaddset(&both, SIGURG);
    pthread_sigmask(SIG_BLOCK, &both, 0);
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGURG, &action, 0);
    pthread_kill(pthread_self(), SIGURG), pthread_kill(pthread_self(), SIGTSTP);
    *counter = 1;
    sigsuspend(&none);
    _exit(0);
    return data;
}

int main(void) {
    counter = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct sigaction action = {.sa_sigaction = count, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGCHLD, &action, 0);

    pid_t child = begin(counts);
    kill(child, SIGSTOP);
    await(child, WUNTRACED);
    printf("notices %d, code %d, status %d\n", handled[SIGCHLD], last.si_code, last.si_status);
    printf("stands still: %d\n", stands_still());
    printf("nothing new: %d\n", waitpid(child, 0, WUNTRACED | WNOHANG));
    kill(child, SIGUSR1);
    usleep(1000);
    printf("signals wait: %d\n", waitpid(child, 0, WNOHANG));
    kill(child, SIGCONT);
    await(child, 0);

    // Another stop, and SIGKILL.
    child = begin(counts);
    siginfo_t info = {0};
    kill(child, SIGTSTP);
    printf("waitid: %d", waitid(P_PID, child, &info, WSTOPPED | WNOWAIT));
    printf(", code %d, status %d\n", info.si_code, info.si_status);
    printf("again: %d", waitid(P_PID, child, &info, WSTOPPED));
    printf(", code %d, status %d\n", info.si_code, info.si_status);
    kill(child, SIGCONT);
    printf("continued: %d", waitid(P_PID, child, &info, WCONTINUED));
    printf(", code %d, status %d\n", info.si_code, info.si_status);
    while (stands_still())
        ;
    kill(child, SIGSTOP);
    await(child, WUNTRACED);
    kill(child, SIGKILL);
    await(child, 0);

    // SIGKILL right after a stop, and in place of the news of a stop.
    child = begin(counts);
    kill(child, SIGSTOP);
    kill(child, SIGKILL);
    await(child, 0);
    child = begin(counts);
    kill(child, SIGSTOP);
    while (!stands_still())
        ;
    kill(child, SIGKILL);
    await(child, WUNTRACED);

    // No thread of a stopped process runs on once SIGKILL ends it.
    child = begin(crowd);
    kill(child, SIGSTOP);
    while (!stands_still())
        ;
    long seen = *counter;
    kill(child, SIGKILL);
    await(child, 0);
    printf("ran on: %d\n", *counter != seen);

    // A stop holds back the signals after it.
    child = begin(holds);
    await(child, WUNTRACED);
    printf("held back: %d\n", *counter == 1);
    kill(child, SIGCONT);
    await(child, 0);
    printf("handled: %d\n", *counter == 2);

    // A stop during a sleep does not shorten it.
    child = begin(waits);
    kill(child, SIGSTOP);
    await(child, WUNTRACED);
    kill(child, SIGCONT);
    int status;
    waitpid(child, &status, 0);
    printf("the sleeper's status: %d\n", WEXITSTATUS(status));

    // A handler, an ignored signal, and opposites that drop each other.
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTSTP, &action, 0);
    sigaction(SIGCONT, &action, 0);
    signal(SIGTTIN, SIG_IGN);
    raise(SIGTSTP), raise(SIGTTIN), raise(SIGCONT);
    printf("handled %d %d\n", handled[SIGTSTP], handled[SIGCONT]);
    sigset_t both, pending;
    sigemptyset(&both), sigaddset(&both, SIGTSTP), sigaddset(&both, SIGCONT);
    sigprocmask(SIG_BLOCK, &both, 0);
    raise(SIGTSTP), raise(SIGCONT);
    sigpending(&pending);
    printf("pending %d %d\n", sigismember(&pending, SIGTSTP), sigismember(&pending, SIGCONT));
    raise(SIGTSTP);
    sigpending(&pending);
    printf("pending %d %d\n", sigismember(&pending, SIGTSTP), sigismember(&pending, SIGCONT));
    int refused = sigaction(SIGSTOP, &action, 0);
    printf("refused %d %d\n", refused, errno);
}
