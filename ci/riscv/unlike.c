/* What Linux does, and qemu-riscv64 7.2 does not. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile int taken;
static void handler(int number) {
    (void)number;
    taken++;
}
/* A signal that only the mask of a wait blocks is taken when the wait is over. */
static void masked(const char *what, int which, int group) {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    taken = 0;
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        usleep(2000);
        kill(parent, SIGUSR1);
        for (;;) pause();
    }
    struct timespec time = {0, 50000000};
    struct epoll_event event;
    int files = which == 0   ? ppoll(NULL, 0, &time, &mask)
                : which == 1 ? pselect(0, NULL, NULL, NULL, &time, &mask)
                             : epoll_pwait(group, &event, 1, 50, &mask);
    printf("%s: %d %d\n", what, files, taken);
    fflush(stdout);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}
/* Writes this program through a mapping into a file that is also mapped for reading, and runs it. */
static void executes(void) {
    char path[] = "/tmp/manycore-unlike-XXXXXX";
    int file = mkstemp(path), self = open("/proc/self/exe", O_RDONLY);
    long length = lseek(self, 0, SEEK_END);
    ftruncate(file, length);
    fchmod(file, 0755);
    char *to = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    int reader = open(path, O_RDONLY);
    volatile char *seen = mmap(NULL, length, PROT_READ, MAP_SHARED, reader, 0);
    pread(self, to, length, 0);
    munmap(to, length);
    close(file);
    pid_t child = fork();
    if (child == 0) {
        execl(path, "again", NULL);
        printf("error %d, %d\n", errno, seen[0]);
        fflush(stdout);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    unlink(path);
}
static volatile int ends;
static void *computes(void *unused) {
    sigset_t mask;
    sigemptyset(&mask);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    ends = 1;
    while (ends == 1) continue;
    return unused;
}
/* A signal that another thread takes is nothing to read. Under Linux, the file is ready until that thread has taken it. */
static void beside(void) {
    pthread_t thread;
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    struct pollfd file = {signalfd(-1, &mask, 0), POLLIN};
    pthread_create(&thread, NULL, computes, NULL);
    while (!ends) usleep(100);
    taken = 0;
    kill(getpid(), SIGUSR1);
    int found = poll(&file, 1, 0);
    while (!taken) usleep(100);
    ends = 2;
    pthread_join(thread, NULL);
    printf("beside: %d %d\n", found, taken);
}
int main(int count, char **arguments) {
    if (strcmp(arguments[0], "again") == 0) {
        printf("again\n");
        return 0;
    }
    signal(SIGUSR1, handler);
    executes();
    masked("ppoll", 0, 0);
    masked("pselect", 1, 0);
    masked("epoll", 2, epoll_create1(0));
    /* An option of a socket, in too little room. */
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    struct timeval time = {7, 500000}, found = {9, 9};
    socklen_t length = 12;
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    int done = getsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &found, &length);
    printf("%d, %ld %ld, %d\n", done, (long)found.tv_sec, (long)found.tv_usec, length);
    length = -1;
    done = getsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &found, &length);
    printf("%d %d\n", done, errno);
    beside();
    return 0;
}
