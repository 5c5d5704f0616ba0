// Processes: private memory, shared memory, pipes, signals, waits, groups, and errors.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int value = 1;
static volatile sig_atomic_t children;

static void on_child(int number, siginfo_t *info, void *context) {
    children++;
}

static int ended(pid_t child) {
    int status = -1;
    pid_t found = waitpid(child, &status, 0);
    return found == child ? status : -errno;
}

// A child that runs a function and exits with its result.
static pid_t child(int (*body)(void *), void *argument) {
    pid_t made = fork();
    if (made == 0)
        _exit(body(argument));
    return made;
}

static int change(void *argument) {
    value = 2;
    return value + 1;
}

static int add(void *argument) {
    int *shared = argument;
    for (int i = 0; i < 1000; i++)
        __atomic_fetch_add(shared, 1, __ATOMIC_RELAXED);
    return 0;
}

static int lock(void *argument) {
    pthread_mutex_t *mutex = argument;
    int *count = (int *)(mutex + 1);
    for (int i = 0; i < 300; i++) {
        pthread_mutex_lock(mutex);
        ++*count;
        if (i % 50 == 0)
            sched_yield();
        pthread_mutex_unlock(mutex);
    }
    return 0;
}

static int fault(void *argument) {
    *(volatile int *)8 = 1;
    return 0;
}

static int sleeps(void *argument) {
    for (;;)
        pause();
}

static int *piped;

static int pours(void *argument) {
    char block[4096];
    long sum = 0;
    close(piped[0]);
    for (int i = 0; i < 100; i++) {
        memset(block, i, sizeof block);
        ssize_t done = write(piped[1], block, sizeof block);
        if (done < 0)
            return 1;
        sum += done;
    }
    return sum == 409600 ? 0 : 2;
}

static void *thread_ends(void *argument) {
    for (;;)
        sched_yield();
}

static int threads(void *argument) {
    pthread_t made[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&made[i], NULL, thread_ends, NULL);
    return 4;
}

static int grandchildren(void *argument) {
    int sum = 0;
    for (int i = 0; i < 3; i++)
        child(change, NULL);
    int status;
    while (wait(&status) > 0)
        sum += WEXITSTATUS(status);
    return sum;
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    pid_t made = child(change, NULL);
    printf("status %x, value %d\n", ended(made), value);
    printf("no child %d\n", ended(made) == -ECHILD);
    printf("no child %d\n", waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);

    int *shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t several[4];
    for (int i = 0; i < 4; i++)
        several[i] = child(add, shared);
    for (int i = 0; i < 4; i++)
        printf("%x ", ended(several[i]));
    printf("sum %d\n", *shared);

    pthread_mutex_t *mutex = (pthread_mutex_t *)(shared + 1024);
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(mutex, &kind);
    for (int i = 0; i < 4; i++)
        several[i] = child(lock, mutex);
    for (int i = 0; i < 4; i++)
        ended(several[i]);
    printf("locked %d\n", *(int *)(mutex + 1));

    printf("fault %x\n", ended(child(fault, NULL)) & 0x7F);
    made = child(sleeps, NULL);
    printf("running %d\n", waitpid(made, NULL, WNOHANG));
    printf("sent %d\n", kill(made, 0) == 0 && kill(made, SIGTERM) == 0);
    siginfo_t info = {0};
    printf("waitid %d", waitid(P_PID, made, &info, WEXITED | WNOWAIT));
    printf(" %d %d %d\n", info.si_pid == made, info.si_code == CLD_KILLED, info.si_status);
    printf("again %x\n", ended(made));
    printf("gone %d\n", kill(made, 0) == -1 && errno == ESRCH);
    printf("waitid %d\n", waitid(P_ALL, 0, &info, 0) == -1 && errno == EINVAL);

    struct sigaction action = {.sa_sigaction = on_child, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGCHLD, &action, NULL);
    printf("grandchildren %x\n", ended(child(grandchildren, NULL)));
    printf("threads %x\n", ended(child(threads, NULL)));
    printf("told %d\n", children);
    signal(SIGCHLD, SIG_IGN);
    made = child(change, NULL);
    printf("ignored %d\n", ended(made) == -ECHILD);
    signal(SIGCHLD, SIG_DFL);

    int ends[2];
    piped = ends;
    pipe2(ends, O_CLOEXEC);
    made = child(pours, NULL);
    close(ends[1]);
    char block[1000];
    long sum = 0, bytes = 0;
    for (ssize_t got; (got = read(ends[0], block, sizeof block)) > 0; bytes += got)
        for (int i = 0; i < got; i++)
            sum += block[i];
    printf("poured %x, %ld bytes, sum %ld\n", ended(made), bytes, sum);
    close(ends[0]);

    // A writer without a reader.
    pipe(ends);
    made = fork();
    if (made == 0) {
        close(ends[0]);
        for (;;)
            if (write(ends[1], block, sizeof block) < 0)
                _exit(1);
    }
    close(ends[1]);
    read(ends[0], block, 10);
    close(ends[0]);
    printf("broken %x\n", ended(made));

    // A full pipe.
    pipe2(ends, O_NONBLOCK);
    long room = 0;
    for (ssize_t done; (done = write(ends[1], block, sizeof block)) > 0; room += done)
        ;
    struct pollfd poll_it = {ends[1], POLLOUT, 0};
    printf("room %d %d", room > 60000 && room <= 65536, errno == EAGAIN);
    printf(" %d", poll(&poll_it, 1, 0));
    for (int i = 0; i < 10; i++)
        read(ends[0], block, sizeof block);
    printf(" %d\n", poll(&poll_it, 1, 0));

    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    made = fork();
    if (made == 0) {
        close(pair[0]);
        ssize_t got = read(pair[1], block, sizeof block);
        write(pair[1], block, got);
        _exit(got);
    }
    close(pair[1]);
    write(pair[0], "echo", 4);
    ssize_t got = read(pair[0], block, sizeof block);
    printf("pair %.*s", (int)got, block);
    got = read(pair[0], block, sizeof block);
    printf(" %zd %x\n", got, ended(made));

    // The child uses the parent's memory until it exits.
    made = syscall(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
    if (made == 0) {
        value = 7;
        syscall(SYS_exit_group, 9);
    }
    printf("vfork %x\n", ended(made));

    // Groups.
    made = child(sleeps, NULL);
    printf("group %d", setpgid(made, 0));
    printf(" %d %d", getpgid(made) == made, getpgid(0) == getpgrp());
    printf(" %d", setpgid(made, 1) == -1 && errno == EPERM);
    printf(" %d\n", kill(-made, SIGKILL));
    printf("killed %x\n", ended(-made) == -1 ? 0 : 1);
    printf("clone %d\n", syscall(SYS_clone, CLONE_THREAD, 0, 0, 0, 0) == -1 && errno == EINVAL);

    // Many children at once.
    int started = 0;
    for (int i = 0; i < 60; i++)
        started += fork() == 0 ? (_exit(i), 0) : 1;
    int total = 0, status;
    while (wait(&status) > 0)
        total += WEXITSTATUS(status);
    printf("many %d %d\n", started, total);
    return 0;
}
