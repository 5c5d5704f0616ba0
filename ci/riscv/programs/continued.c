// A timer's SIGCONT or SIGKILL in a stopped process, and calls that a stop ends.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int *ready;
static int stream[2];

static void await(pid_t child, int options) {
    int status = 0;
    int found = waitpid(child, &status, options) == child;
    printf("found %d: stopped %d, continued %d, exited %d with %d, killed %d by %d\n", found,
           WIFSTOPPED(status), WIFCONTINUED(status), WIFEXITED(status),
           WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status),
           WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

// Sets a timer that sends a signal after some milliseconds.
static void set_timer(int number, long milliseconds) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    struct itimerspec time = {.it_value = {0, milliseconds * 1000000}};
    timer_t timer;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &time, 0);
}
static void *sleeps(void *data) {
    for (;;)
        usleep(1000);
    return data;
}
static void handle(int number) { *ready = number; }

// A child stops itself after it has set a timer. `kind` says which signals it blocks and which threads it has.
static void stopped_with_timer(int number, int kind) {
    fflush(stdout);
    ready[1] = 0;
    pid_t child = fork();
    if (!child) {
        sigset_t set;
        sigemptyset(&set), sigaddset(&set, SIGCONT);
        if (kind == 1)
            sigprocmask(SIG_BLOCK, &set, 0);
        struct sigaction action = {.sa_handler = handle};
        if (kind == 2)
            sigaction(SIGCONT, &action, 0);
        pthread_t thread;
        if (kind == 3)
            pthread_create(&thread, 0, sleeps, 0);
        // A stop that a later SIGCONT drops.
        if (kind == 4)
            set_timer(SIGTSTP, 10);
        set_timer(number, 20);
        raise(SIGSTOP);
        while (!ready[1])
            usleep(100);
        if (kind == 1) {
            sigset_t pending;
            sigpending(&pending);
            _exit(sigismember(&pending, SIGCONT) ? 3 : 4);
        }
        _exit(kind == 2 ? *ready : 5);
    }
    await(child, WUNTRACED);
    await(child, WCONTINUED);
    ready[1] = 1;
    if (number == SIGCONT)
        await(child, 0);
}

// The calls in which a child is stopped. Each returns -1 with EINTR, or goes on.
enum { EPOLL, RECEIVES, RECEIVES_LIMITED, READS_LIMITED, SENDS_LIMITED, WAITS, POLLS, SLEEPS, CALLS };
static const char *names[] = {"epoll_wait",   "recv",        "recv with a limit", "read with a limit",
                              "send with a limit", "sigtimedwait", "poll", "nanosleep"};

static int make(int call) {
    struct timeval limit = {20, 0};
    char byte, many[1 << 10];
    memset(many, 0, sizeof many);
    int most = 4096, group = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(group, EPOLL_CTL_ADD, stream[0], &event);
    if (call == RECEIVES_LIMITED || call == READS_LIMITED)
        setsockopt(stream[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (call == SENDS_LIMITED) {
        setsockopt(stream[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        setsockopt(stream[0], SOL_SOCKET, SO_SNDBUF, &most, sizeof most);
        while (send(stream[0], many, sizeof many, MSG_DONTWAIT) > 0)
            ;
    }
    sigset_t set;
    sigemptyset(&set), sigaddset(&set, SIGUSR1);
    struct timespec short_time = {0, 60000000}, long_time = {20, 0};
    struct pollfd file = {stream[0], POLLIN, 0};
    *ready = 1;
    switch (call) {
    case EPOLL: return epoll_wait(group, &event, 1, 20000);
    case RECEIVES:
    case RECEIVES_LIMITED: return recv(stream[0], &byte, 1, 0);
    case READS_LIMITED: return read(stream[0], &byte, 1);
    case SENDS_LIMITED: return send(stream[0], many, sizeof many, 0);
    case WAITS: return sigtimedwait(&set, 0, &long_time);
    case POLLS: return poll(&file, 1, 20000);
    default: return nanosleep(&short_time, 0);
    }
}
static void *makes(void *call) {
    errno = 0;
    int result = make((int)(long)call);
    printf("%s: %d, interrupted %d\n", names[(long)call], result, errno == EINTR);
    fflush(stdout);
    _exit(0);
}
// The call is made by the thread that takes the signal, or by another thread.
static void stopped_in(int call, int by_other) {
    socketpair(AF_UNIX, SOCK_STREAM, 0, stream);
    fflush(stdout);
    *ready = 0;
    pid_t child = fork();
    if (!child) {
        pthread_t thread;
        if (by_other)
            pthread_create(&thread, 0, makes, (void *)(long)call);
        else
            makes((void *)(long)call);
        for (;;)
            pause();
    }
    while (!*ready)
        usleep(100);
    usleep(20000);
    kill(child, SIGSTOP);
    waitpid(child, 0, WUNTRACED);
    kill(child, SIGCONT);
    usleep(20000);
    if (call == RECEIVES || call == POLLS)
        write(stream[1], "x", 1);
    waitpid(child, 0, 0);
    close(stream[0]), close(stream[1]);
}

int main(void) {
    ready = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int kind = 0; kind < 5; kind++)
        stopped_with_timer(SIGCONT, kind);
    stopped_with_timer(SIGKILL, 0);
    for (int call = 0; call < CALLS; call++)
        for (int by_other = 0; by_other < 2; by_other++)
            stopped_in(call, by_other);
}
