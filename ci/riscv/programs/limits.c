// Limits on open files, the capacity of pipes, the process at a socket's other end, and epoll of a file with two
// numbers.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(const char *what, long result) {
    printf("%s: %ld%s%s\n", what, result, result < 0 ? ", " : "", result < 0 ? strerror(errno) : "");
}

static void numbers(void) {
    struct rlimit limit = {10, 20};
    tell("set the limits", setrlimit(RLIMIT_NOFILE, &limit));
    int count = 0, ends[2] = {-1, -1}, last = 0;
    while ((last = dup(0)) >= 0)
        count++;
    tell("one more", dup(0));
    tell("open", open("/dev/null", O_RDONLY));
    tell("fcntl at the limit", fcntl(0, F_DUPFD, 10));
    tell("dup2 to the limit", dup2(0, 10));
    struct pollfd none[11] = {{-1, 0, 0}};
    tell("poll of more", poll(none, 11, 0));
    close(9);
    tell("a pipe with one number", pipe(ends));
    tell("the number is still free", dup(0));
    limit.rlim_cur = 20;
    tell("the soft limit up to the hard one", setrlimit(RLIMIT_NOFILE, &limit));
    tell("one more", dup(0) >= 10);
    limit.rlim_cur = 21;
    tell("above the hard limit", setrlimit(RLIMIT_NOFILE, &limit));
    fflush(stdout);
    if (fork() == 0) {
        getrlimit(RLIMIT_NOFILE, &limit);
        printf("a child has %ld and %ld\n", (long)limit.rlim_cur, (long)limit.rlim_max);
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
    for (int file = 3; file < 20; file++)
        close(file);
}

static void capacities(void) {
    static char bytes[1 << 17];
    int ends[2];
    pipe2(ends, O_NONBLOCK);
    tell("a pipe's capacity", fcntl(ends[0], F_GETPIPE_SZ));
    tell("as much as it takes", write(ends[1], bytes, sizeof bytes));
    tell("twice that", fcntl(ends[1], F_SETPIPE_SZ, 100000));
    tell("more fits", write(ends[1], bytes, sizeof bytes));
    tell("less than is in it", fcntl(ends[0], F_SETPIPE_SZ, 4096));
    tell("read it all", read(ends[0], bytes, sizeof bytes));
    tell("a page", fcntl(ends[0], F_SETPIPE_SZ, 1));
    tell("a page fits", write(ends[1], bytes, 5000));
    tell("too much", fcntl(ends[0], F_SETPIPE_SZ, 1u << 31 | 1));
    tell("of no pipe", fcntl(0, F_GETPIPE_SZ) < 0 ? -1 : 0);
    close(ends[0]);
    close(ends[1]);
}

static int peer(int socket) {
    struct ucred who;
    socklen_t length = sizeof who;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &length))
        return -1;
    return who.pid;
}

static void peers(void) {
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    printf("a pair is of this process: %d\n", peer(pair[0]) == getpid() && peer(pair[1]) == getpid());
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    printf("not connected: %d\n", peer(listener));
    struct sockaddr_un name = {AF_UNIX, ""};
    socklen_t length = sizeof(sa_family_t) + 1 + sprintf(name.sun_path + 1, "peers-%d", getpid());
    bind(listener, (struct sockaddr *)&name, length);
    listen(listener, 1);
    fflush(stdout);
    int parent = getpid(), child = fork();
    if (child == 0) {
        int caller = socket(AF_UNIX, SOCK_STREAM, 0);
        connect(caller, (struct sockaddr *)&name, length);
        printf("the listener is the parent: %d\n", peer(caller) == parent);
        fflush(stdout);
        _exit(0);
    }
    int other = accept(listener, NULL, NULL);
    wait(NULL);
    printf("the caller is the child: %d\n", peer(other) == child);
    close(pair[0]), close(pair[1]), close(listener), close(other);
}

// Which files are ready, in no order.
static void ready(const char *what, int group) {
    struct epoll_event found[4];
    int count = epoll_wait(group, found, 4, 0), all = 0;
    for (int at = 0; at < count; at++)
        all |= 1 << found[at].data.fd;
    printf("%s: %d, %x\n", what, count, all);
}

static void groups(void) {
    int group = epoll_create1(0), ends[2], others[2];
    pipe(ends);
    int copy = dup(ends[0]);
    struct epoll_event wanted = {.events = EPOLLIN, .data.fd = 1};
    tell("add", epoll_ctl(group, EPOLL_CTL_ADD, ends[0], &wanted));
    wanted.data.fd = 2;
    tell("add its copy", epoll_ctl(group, EPOLL_CTL_ADD, copy, &wanted));
    write(ends[1], "x", 1);
    ready("both numbers", group);
    tell("remove the copy", epoll_ctl(group, EPOLL_CTL_DEL, copy, NULL));
    close(ends[0]);
    ready("the number is closed, the copy is open", group);
    tell("change the closed number", epoll_ctl(group, EPOLL_CTL_MOD, ends[0], &wanted));
    pipe(others);
    printf("the number is used again: %d\n", others[0] == ends[0]);
    wanted.data.fd = 3;
    tell("change it", epoll_ctl(group, EPOLL_CTL_MOD, others[0], &wanted));
    tell("add it", epoll_ctl(group, EPOLL_CTL_ADD, others[0], &wanted));
    write(others[1], "x", 1);
    ready("both files of one number", group);
    close(copy);
    ready("one file is closed", group);
    dup2(ends[1], others[0]);
    ready("the other, too", group);
}

int main(void) {
    groups();
    capacities();
    peers();
    numbers();
    return 0;
}
