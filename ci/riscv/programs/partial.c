/* Calls that move only a part of what was asked: full pipes, and parts of memory that are not there. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
static char big[200000];
static char *const bad = (char *)8;
static void said(const char *what, long done) {
    printf("%s: %ld %d\n", what, done, done < 0 ? errno : 0);
}
static struct iovec part(void *at, size_t length) { return (struct iovec){at, length}; }
static long left(int end) {
    long all = 0, count;
    fcntl(end, F_SETFL, O_NONBLOCK);
    while ((count = read(end, big + 100000, 100000)) > 0) all += count;
    fcntl(end, F_SETFL, 0);
    return all;
}
/* Bad addresses in a pipe, a socket or a file. The parts of `recvmsg` are good, since qemu passes on the parts up to a bad
   part, and Linux fails. */
static void bad_parts(const char *what, int from, int to, int sockets) {
    printf("%s\n", what);
    struct iovec later[] = {part("hello ", 6), part("world", 5), part(bad, 7), part("lost", 4)};
    said("writev", writev(to, later, 4));
    struct iovec first[] = {part(bad, 7), part("lost", 4)};
    said("writev", writev(to, first, 2));
    char a[8] = "", b[8] = "";
    struct iovec into[] = {part(a, 4), part(bad, 8), part(b, 4)};
    if (!sockets && from == to) lseek(from, 0, SEEK_SET);
    said("readv", readv(from, into, 3));
    printf("%s %s\n", a, b);
    said("read", read(from, bad, 4));
    said("read", read(from, b, 7));
    printf("%.7s\n", b);
    if (!sockets) return;
    struct msghdr message = {.msg_iov = later, .msg_iovlen = 3};
    said("sendmsg", sendmsg(to, &message, 0));
    message = (struct msghdr){.msg_iov = into, .msg_iovlen = 1};
    said("recvmsg", recvmsg(from, &message, 0));
    printf("%s %s\n", a, b);
    struct iovec peeked[] = {part(a, 3), part(b, 3)};
    message = (struct msghdr){.msg_iov = peeked, .msg_iovlen = 2};
    said("peek", recvmsg(from, &message, MSG_PEEK));
    printf("%.3s %.3s\n", a, b);
    said("recv", recv(from, bad, 7, 0));
    said("recv", recv(from, b, 7, 0));
    printf("%.7s\n", b);
}
int main(void) {
    signal(SIGPIPE, SIG_IGN);
    int pipes[2], pair[2], file = memfd_create("file", 0);
    pipe(pipes);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    bad_parts("pipe", pipes[0], pipes[1], 0);
    bad_parts("socket", pair[0], pair[1], 1);
    bad_parts("file", file, file, 0);

    /* A pipe without room for all. */
    fcntl(pipes[1], F_SETFL, O_NONBLOCK);
    struct iovec two[] = {part(big, 40000), part(big, 40000)};
    said("fills", writev(pipes[1], two, 2));
    said("is full", writev(pipes[1], two, 2));
    said("held", left(pipes[0]));
    /* At most 4096 bytes are written whole or not at all, in however many parts they lie. */
    write(pipes[1], big, 61440);
    struct iovec small[] = {part(big, 2048), part(big, 2048), part(big, 1)};
    said("4097", writev(pipes[1], small, 3));
    said("held", left(pipes[0]));
    write(pipes[1], big, 65536);
    read(pipes[0], big, 4096);
    struct iovec whole[] = {part(big, 1000), part(big, 3096)};
    said("4096", writev(pipes[1], whole, 2));
    said("1", write(pipes[1], big, 1));
    said("held", left(pipes[0]));
    write(pipes[1], big, 61440);
    write(pipes[1], big, 1096);
    struct iovec none[] = {part(big, 2000), part(big, 2000)};
    said("4000", writev(pipes[1], none, 2));
    said("held", left(pipes[0]));

    /* A blocking writer of a part that is not there does not wait for a reader. */
    fcntl(pipes[1], F_SETFL, 0);
    struct iovec broken[] = {part(big, 65536), part(bad, 10)};
    said("blocking", writev(pipes[1], broken, 2));
    said("held", left(pipes[0]));
    /* A blocking writer waits until all is written. */
    if (fork() == 0) {
        close(pipes[1]);
        long all = 0, count;
        while ((count = read(pipes[0], big, 5000)) > 0) all += count;
        _exit(all == 150000 ? 7 : 8);
    }
    struct iovec three[] = {part(big, 50000), part(big, 50000), part(big, 50000)};
    said("waits", writev(pipes[1], three, 3));
    close(pipes[1]);
    int status;
    wait(&status);
    said("child", WEXITSTATUS(status));
    /* Lengths whose sum is more than a word holds. */
    pipe(pipes);
    struct iovec huge[] = {part(big, 2), part(bad, ~0ul >> 1), part(bad, ~0ul >> 1)};
    said("huge", writev(pipes[1], huge, 3));
    said("held", left(pipes[0]));
    /* The reader ends while the writer waits. */
    pipe(pipes);
    if (fork() == 0) {
        close(pipes[1]);
        for (long all = 0; all < 8192;) all += read(pipes[0], big, 4096);
        _exit(0);
    }
    close(pipes[0]);
    long done = writev(pipes[1], three, 3);
    printf("%d\n", done >= 65536 && done < 150000);
    said("alone", writev(pipes[1], three, 3));
    wait(&status);
    return 0;
}
