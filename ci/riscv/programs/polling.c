/* Waits for files that other threads make ready: poll, select and epoll of pipes, event counters
   and pairs of sockets. Signal masks hold during a wait. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
static int p[2], q[2], ev, sv[2];
static void *writer(void *x) {
    for (int i = 0; i < 5; i++) {
        usleep(2000);
        char c = 'a' + i;
        if (write(p[1], &c, 1) != 1)
            return 0;
        uint64_t one = i + 1;
        if (write(ev, &one, 8) != 8)
            return 0;
    }
    usleep(2000);
    close(p[1]);
    return x;
}
static void *echo(void *x) {
    char b[64];
    ssize_t n;
    while ((n = read(sv[1], b, sizeof b)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            b[i] ^= 0x20;
        if (write(sv[1], b, n) != n)
            break;
    }
    shutdown(sv[1], SHUT_WR);
    return x;
}
static volatile int got;
static void on(int s) {
    got = s;
}
static void *kicker(void *t) {
    usleep(3000);
    pthread_kill(*(pthread_t *)t, SIGUSR1);
    return 0;
}
int main(void) {
    signal(SIGPIPE, SIG_IGN);
    if (pipe(p) || pipe2(q, O_NONBLOCK))
        return 1;
    ev = eventfd(0, 0);
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    char c;
    int n = 0;
    uint64_t sum = 0, v;
    for (;;) {
        struct pollfd f[3] = {{p[0], POLLIN, 0}, {ev, POLLIN, 0}, {-1, POLLIN, 7}};
        int r = poll(f, 3, 1000);
        if (r <= 0) {
            printf("poll %d\n", r);
            break;
        }
        if (f[1].revents & POLLIN) {
            if (read(ev, &v, 8) != 8)
                return 2;
            sum += v;
        }
        if (f[0].revents & POLLIN) {
            if (read(p[0], &c, 1) == 1) {
                putchar(c);
                n++;
            }
        } else if (f[0].revents & POLLHUP)
            break;
        if (f[2].revents)
            return 3;
    }
    pthread_join(t, 0);
    struct pollfd last = {ev, POLLIN, 0};
    if (poll(&last, 1, 0) == 1 && read(ev, &v, 8) == 8)
        sum += v;
    printf(" %d %lu\n", n, (unsigned long)sum);
    errno = 0;
    printf("%zd %d\n", read(q[0], &c, 1), errno == EAGAIN);
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    struct timeval tv = {0, 5000};
    fd_set rs, ws;
    FD_ZERO(&rs);
    FD_ZERO(&ws);
    FD_SET(q[0], &rs);
    int r = select(q[0] + 1, &rs, 0, 0, &tv);
    clock_gettime(CLOCK_MONOTONIC, &b);
    long us = (b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000;
    printf("%d %d %d\n", r, FD_ISSET(q[0], &rs), us >= 5000);
    FD_SET(q[0], &rs);
    FD_SET(q[1], &ws);
    if (write(q[1], "xyz", 3) != 3)
        return 4;
    int avail = 0;
    ioctl(q[0], FIONREAD, &avail);
    r = select(20, &rs, &ws, 0, 0);
    printf("%d %d %d %d\n", r, !!FD_ISSET(q[0], &rs), !!FD_ISSET(q[1], &ws), avail);
    FD_SET(77, &rs);
    errno = 0;
    printf("%d %d\n", select(100, &rs, 0, 0, 0), errno == EBADF);
    int e = epoll_create1(0);
    struct epoll_event x = {.events = EPOLLIN | EPOLLET, .data.u64 = 42}, out[4];
    epoll_ctl(e, EPOLL_CTL_ADD, q[0], &x);
    printf("%d\n", epoll_ctl(e, EPOLL_CTL_ADD, q[0], &x) == -1 && errno == EEXIST);
    r = epoll_wait(e, out, 4, 0);
    printf("%d %lu %d\n", r, (unsigned long)out[0].data.u64, epoll_wait(e, out, 4, 0));
    if (write(q[1], "more", 4) != 4)
        return 5;
    printf("%d ", epoll_wait(e, out, 4, 1000));
    x.events = EPOLLIN | EPOLLONESHOT;
    epoll_ctl(e, EPOLL_CTL_MOD, q[0], &x);
    printf("%d ", epoll_wait(e, out, 4, 0));
    printf("%d ", epoll_wait(e, out, 4, 0));
    x.events = EPOLLIN;
    epoll_ctl(e, EPOLL_CTL_MOD, q[0], &x);
    printf("%d ", epoll_wait(e, out, 4, 0));
    printf("%d ", epoll_wait(e, out, 4, 0));
    epoll_ctl(e, EPOLL_CTL_DEL, q[0], 0);
    printf("%d\n", epoll_wait(e, out, 4, 2));
    errno = 0;
    int file = open("/dev/null", O_RDONLY), plain = open("ci/riscv.sh", O_RDONLY);
    if (plain >= 0)
        printf("%d\n", epoll_ctl(e, EPOLL_CTL_ADD, plain, &x) == -1 && errno == EPERM);
    else
        puts("1");
    close(file);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
        return 6;
    pthread_create(&t, 0, echo, 0);
    char buf[64] = {0};
    if (send(sv[0], "hello", 5, 0) != 5)
        return 7;
    int k = 0;
    while (k < 5) {
        ssize_t m = recv(sv[0], buf + k, sizeof buf - k, 0);
        if (m <= 0)
            break;
        k += m;
    }
    printf("%s\n", buf);
    errno = 0;
    printf("%zd %d\n", recv(sv[0], buf, 1, MSG_DONTWAIT), errno == EAGAIN);
    shutdown(sv[0], SHUT_WR);
    printf("%zd\n", recv(sv[0], buf, 1, 0));
    pthread_join(t, 0);
    close(sv[1]);
    struct pollfd hung = {sv[0], POLLIN | POLLOUT, 0};
    printf("%d %d\n", poll(&hung, 1, 0), !!(hung.revents & POLLHUP));
    errno = 0;
    printf("%zd %d\n", send(sv[0], "x", 1, MSG_NOSIGNAL), errno == EPIPE);
    struct sigaction sa = {.sa_handler = on, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &sa, 0);
    sigset_t block, none;
    sigemptyset(&block);
    sigaddset(&block, SIGUSR1);
    sigemptyset(&none);
    pthread_sigmask(SIG_BLOCK, &block, 0);
    pthread_t self = pthread_self();
    pthread_create(&t, 0, kicker, &self);
    struct pollfd never = {q[0], 0, 0};
    errno = 0;
    r = ppoll(&never, 1, 0, &none);
    printf("%d %d %d\n", r, errno == EINTR, got == SIGUSR1);
    pthread_join(t, 0);
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, 0, &now);
    printf("%d\n", sigismember(&now, SIGUSR1));
    got = 0;
    pthread_create(&t, 0, kicker, &self);
    FD_ZERO(&rs);
    errno = 0;
    r = pselect(0, &rs, 0, 0, 0, &none);
    printf("%d %d %d\n", r, errno == EINTR, got == SIGUSR1);
    pthread_join(t, 0);
    int sem = eventfd(3, EFD_SEMAPHORE | EFD_NONBLOCK);
    for (int i = 0; i < 4; i++)
        printf("%zd ", read(sem, &v, 8));
    puts("");
    return 0;
}
