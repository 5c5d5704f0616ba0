/* Waits of sockets: their limits, and MSG_WAITALL. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
static char big[1 << 20];
static int pair[2];
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}
static double began;
static void said(const char *what, long done) {
    double took = now() - began;
    printf("%s: %ld %d, after %s\n", what, done, done < 0 ? errno : 0, took > 0.075 ? "a wait" : "no wait");
    fflush(stdout);
    began = now();
}
static void limit(int end, int option, long micros) {
    struct timeval time = {micros / 1000000, micros % 1000000};
    if (setsockopt(end, SOL_SOCKET, option, &time, sizeof time)) perror("setsockopt");
}
static void *writes(void *arg) {
    for (int lap = 0; lap < 5; lap++) {
        usleep(20000);
        write(pair[1], "four", 4);
    }
    if (arg) {
        usleep(20000);
        shutdown(pair[1], SHUT_WR);
    }
    return NULL;
}
static void start(pthread_t *thread, void *(*work)(void *), void *arg) { pthread_create(thread, NULL, work, arg); }
static void handler(int number) { (void)number; }
static int listener;
static struct sockaddr_in name = {AF_INET};
/* A connection of TCP. */
static int call(void) {
    int caller = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(caller, (struct sockaddr *)&name, sizeof name)) perror("connect");
    return caller;
}
static void *later(void *arg) {
    int end = *(int *)arg;
    usleep(100000);
    write(end, "more", 4);
    return NULL;
}
static void *closes(void *arg) {
    usleep(100000);
    close(*(int *)arg);
    return NULL;
}
static pthread_t main_thread;
static void *interrupts(void *arg) {
    usleep(100000);
    write(pair[1], "part", arg ? 4 : 0);
    usleep(100000);
    pthread_kill(main_thread, SIGUSR1);
    return NULL;
}
int main(void) {
    pthread_t thread;
    char text[64] = "";
    main_thread = pthread_self();
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    began = now();
    struct timeval time = {9, 9};
    socklen_t length = sizeof time;
    printf("%d ", getsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, &length));
    printf("%ld %ld %d\n", (long)time.tv_sec, (long)time.tv_usec, length);
    limit(pair[0], SO_RCVTIMEO, 100000);
    limit(pair[0], SO_SNDTIMEO, 2200000);
    getsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, &length);
    printf("%ld %ld %d\n", (long)time.tv_sec, (long)time.tv_usec, length);
    getsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &time, &length);
    printf("%ld %ld %d\n", (long)time.tv_sec, (long)time.tv_usec, length);
    time.tv_usec = 1000000;
    printf("%d %d\n", setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time), errno);
    printf("%d %d\n", setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, 8), errno);
    began = now();
    said("recv", recv(pair[0], text, 8, 0));
    said("read", read(pair[0], text, 8));
    struct iovec parts[] = {{text, 8}, {text + 8, 8}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    said("recvmsg", recvmsg(pair[0], &message, 0));
    said("do not wait", recv(pair[0], text, 8, MSG_DONTWAIT));
    write(pair[1], "some", 4);
    said("some", recv(pair[0], text, 8, 0));
    /* The limit is of the socket, not of its number. */
    int copy = dup(pair[0]);
    said("copy", recv(copy, text, 8, 0));
    close(copy);
    /* A socket that nobody reads. */
    limit(pair[1], SO_SNDTIMEO, 100000);
    long sent = send(pair[1], big, sizeof big, 0);
    said("send", sent > 100000 && sent < (long)sizeof big ? 1 : sent);
    said("send", send(pair[1], big, sizeof big, 0));
    said("writev", writev(pair[1], parts, 2) >= 0 ? 0 : -1);
    while (recv(pair[0], big, sizeof big, MSG_DONTWAIT) > 0) continue;
    began = now();
    /* Between a socket and a pipe. */
    int ends[2];
    pipe(ends);
    said("splice from an empty socket", splice(pair[0], NULL, ends[1], NULL, 8, 0));
    while (send(pair[1], big, 4096, MSG_DONTWAIT) > 0) continue;
    while (send(pair[1], big, 1, MSG_DONTWAIT) > 0) continue;
    write(ends[1], "some", 4);
    began = now();
    said("splice to a full socket", splice(ends[0], NULL, pair[1], NULL, 4, 0));
    while (recv(pair[0], big, sizeof big, MSG_DONTWAIT) > 0) continue;
    said("splice", splice(ends[0], NULL, pair[1], NULL, 4, 0));
    said("some", recv(pair[0], text, 8, 0));
    /* All bytes, or those before the limit, or those before the end. */
    write(pair[1], "some", 4);
    said("all, too few", recv(pair[0], text, 8, MSG_WAITALL));
    write(pair[1], "some more", 9);
    said("all, do not wait", recv(pair[0], text, 16, MSG_WAITALL | MSG_DONTWAIT));
    limit(pair[0], SO_RCVTIMEO, 0);
    start(&thread, writes, NULL);
    said("all", recv(pair[0], text, 20, MSG_WAITALL));
    printf("%.20s\n", text);
    pthread_join(thread, NULL);
    memset(text, 0, sizeof text);
    start(&thread, writes, NULL);
    began = now();
    parts[1].iov_len = 12;
    said("all parts", recvmsg(pair[0], &message, MSG_WAITALL));
    printf("%.20s\n", text);
    pthread_join(thread, NULL);
    /* A signal ends the wait. */
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    start(&thread, interrupts, "");
    began = now();
    said("interrupted", recv(pair[0], text, 20, MSG_WAITALL));
    pthread_join(thread, NULL);
    parts[1].iov_len = 20;
    message.msg_flags = MSG_TRUNC;
    message.msg_namelen = 0, message.msg_controllen = 0;
    start(&thread, interrupts, "");
    began = now();
    said("interrupted parts", recvmsg(pair[0], &message, MSG_WAITALL));
    printf("flags %x\n", message.msg_flags);
    pthread_join(thread, NULL);
    limit(pair[0], SO_RCVTIMEO, 5000000);
    start(&thread, interrupts, NULL);
    began = now();
    said("interrupted before the limit", recv(pair[0], text, 20, 0));
    pthread_join(thread, NULL);
    start(&thread, writes, "");
    began = now();
    said("all before the end", recv(pair[0], text, 60, MSG_WAITALL));
    pthread_join(thread, NULL);
    said("the end", recv(pair[0], text, 60, MSG_WAITALL));
    /* A listener. */
    listener = socket(AF_INET, SOCK_STREAM, 0);
    int caller = socket(AF_INET, SOCK_STREAM, 0);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    length = sizeof name;
    bind(listener, (struct sockaddr *)&name, sizeof name);
    listen(listener, 4);
    getsockname(listener, (struct sockaddr *)&name, &length);
    limit(listener, SO_RCVTIMEO, 200000);
    began = now();
    said("accept", accept(listener, NULL, NULL));
    connect(caller, (struct sockaddr *)&name, sizeof name);
    began = now();
    int accepted = accept(listener, NULL, NULL);
    said("accept", accepted >= 0);
    said("recv", recv(accepted, text, 8, 0));
    limit(caller, SO_RCVTIMEO, 100000);
    said("recv", recv(caller, text, 8, MSG_PEEK));
    /* A connection that is reset after some bytes: before the call, and while it waits. */
    limit(listener, SO_RCVTIMEO, 0);
    for (int waits = 0; waits < 2; waits++) {
        int end = call(), other = accept(listener, NULL, NULL);
        write(end, "unread", 6);
        write(other, "four", 4);
        usleep(20000);
        if (waits)
            start(&thread, closes, &other);
        else
            close(other);
        began = now();
        usleep(20000);
        said("all before the reset", recv(end, text, 8, MSG_WAITALL));
        if (waits) pthread_join(thread, NULL);
        began = now();
        said("reset", recv(end, text, 8, 0));
        said("after the reset", recv(end, text, 8, 0));
        close(end);
    }
    /* A look at all bytes. */
    int end = call(), other = accept(listener, NULL, NULL);
    write(end, "some", 4);
    usleep(20000);
    start(&thread, later, &end);
    began = now();
    said("all, not now", recv(other, text, 8, MSG_PEEK | MSG_WAITALL | MSG_DONTWAIT));
    said("all, to look at", recv(other, text, 8, MSG_PEEK | MSG_WAITALL));
    pthread_join(thread, NULL);
    limit(other, SO_RCVTIMEO, 100000);
    began = now();
    said("too few to look at", recv(other, text, 12, MSG_PEEK | MSG_WAITALL));
    said("all", recv(other, text, 8, MSG_WAITALL));
    printf("%.8s\n", text);
    /* Callers of a listener that accepts none of them. */
    listen(listener, 1);
    for (int callers = 0; callers < 6; callers++) {
        end = socket(AF_INET, SOCK_STREAM, 0);
        limit(end, SO_SNDTIMEO, 100000);
        began = now();
        if (connect(end, (struct sockaddr *)&name, sizeof name)) {
            said("connect", -1);
            break;
        }
    }
    return 0;
}
