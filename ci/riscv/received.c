// A receive moves the bytes of a write whole, or not at all, if the buffer is only partly mapped. Looking at bytes
// (MSG_PEEK) follows the same rule.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static char rest[64];

static void show(const char *what, int socket, long got) {
    int error = got < 0 ? errno : 0;
    long left = recv(socket, rest, sizeof rest, MSG_DONTWAIT);
    printf(" %s %ld/%d, left %ld;", what, got, error, left);
    while (recv(socket, rest, sizeof rest, MSG_DONTWAIT) > 0)
        ;
}

static void pair_of_tcp(int ends[2]) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    bind(listener, (void *)&at, sizeof at);
    listen(listener, 1);
    getsockname(listener, (void *)&at, &length);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    connect(ends[0], (void *)&at, length);
    ends[1] = accept(listener, 0, 0);
}

int main(void) {
    char *end = (char *)mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 4096;
    munmap(end, 4096);
    for (int tcp = 0; tcp < 2; tcp++) {
        int s[2];
        if (tcp)
            pair_of_tcp(s);
        else
            socketpair(AF_UNIX, SOCK_STREAM, 0, s);
        for (int flags = 0; flags <= MSG_PEEK; flags += MSG_PEEK) {
            printf("%s%s:", tcp ? "tcp" : "unix", flags ? " peek" : "");
            send(s[1], "abcdefgh", 8, 0);
            show("half", s[0], recv(s[0], end - 4, 8, flags));
            send(s[1], "abcdefgh", 8, 0);
            if (!tcp)
                send(s[1], "ijklmnop", 8, 0);
            show("after a write", s[0], recv(s[0], end - 12, 16, flags));
            send(s[1], "abcdefgh", 8, 0);
            show("enough", s[0], recv(s[0], end - 8, 16, flags));
            send(s[1], "abcdefgh", 8, 0);
            struct iovec parts[] = {{end - 2, 4}, {rest, 4}};
            struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
            show("parts", s[0], recvmsg(s[0], &message, flags));
            printf("\n");
        }
    }
    return 0;
}
