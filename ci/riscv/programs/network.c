// Loopback and Unix sockets: a server and its clients, polls, options, errors.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sockaddr_in at(int port) {
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = port};
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return name;
}

static int fails(int result, int number) {
    return result == -1 && errno == number;
}

// Sends lines of increasing length, and reads the answers.
static int client(int port, int number) {
    int own = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in name = at(port);
    if (connect(own, (struct sockaddr *)&name, sizeof name) != 0)
        return 1;
    char text[64], answer[64];
    for (int i = 0; i < 5; i++) {
        int length = snprintf(text, sizeof text, "client %d line %d\n", number, i);
        if (send(own, text, length, MSG_NOSIGNAL) != length)
            return 2;
        int got = 0;
        while (got < length) {
            int more = recv(own, answer + got, length - got, 0);
            if (more <= 0)
                return 3;
            got += more;
        }
        for (int k = 0; k < length; k++)
            if (answer[k] != (text[k] >= 'a' && text[k] <= 'z' ? text[k] - 32 : text[k]))
                return 4;
    }
    shutdown(own, SHUT_WR);
    return read(own, answer, 1) == 0 ? 0 : 5;
}

// Answers in capitals until all clients have closed their sockets.
static int serve(int listener, int clients) {
    int group = epoll_create1(0), open = 0, seen = 0, bytes = 0;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(group, EPOLL_CTL_ADD, listener, &event);
    while (seen < clients || open > 0) {
        struct epoll_event events[8];
        int count = epoll_wait(group, events, 8, -1);
        for (int i = 0; i < count; i++) {
            int file = events[i].data.fd;
            if (file == listener) {
                int own = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
                event = (struct epoll_event){.events = EPOLLIN, .data.fd = own};
                epoll_ctl(group, EPOLL_CTL_ADD, own, &event);
                open++, seen++;
                continue;
            }
            char text[256];
            int got = recv(file, text, sizeof text, 0);
            if (got <= 0) {
                close(file);
                open--;
                continue;
            }
            for (int k = 0; k < got; k++)
                if (text[k] >= 'a' && text[k] <= 'z')
                    text[k] -= 32;
            bytes += send(file, text, got, 0);
        }
    }
    close(group);
    return bytes;
}

static void unix_sockets(void) {
    char path[] = "socketXXXXXX";
    close(mkstemp(path));
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    strcpy(name.sun_path, path);
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    printf("there %d\n", fails(bind(server, (void *)&name, sizeof name), EADDRINUSE));
    unlink(path);
    int other = socket(AF_UNIX, SOCK_STREAM, 0);
    printf("none %d\n", fails(connect(other, (void *)&name, sizeof name), ENOENT));
    printf("bind %d listen %d\n", bind(server, (void *)&name, sizeof name), listen(server, 5));
    pid_t child = fork();
    if (child == 0) {
        char text[8] = "";
        int bad = connect(other, (void *)&name, sizeof name);
        struct iovec parts[2] = {{"me", 2}, {"ssage", 5}};
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
        bad |= sendmsg(other, &message, 0) != 7;
        bad |= recv(other, text, 8, MSG_WAITALL) != 3;
        _exit(bad);
    }
    struct sockaddr_un peer;
    socklen_t length = sizeof peer;
    int own = accept(server, (void *)&peer, &length);
    char text[5] = "", rest[5] = "";
    struct iovec parts[2] = {{text, 4}, {rest, 4}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    printf("got %zd", recvmsg(own, &message, 0));
    printf(" %s%s, family %d\n", text, rest, peer.sun_family);
    write(own, "bye", 3);
    close(own);
    int status;
    wait(&status);
    printf("status %x\n", status);
    length = sizeof peer;
    getsockname(server, (void *)&peer, &length);
    printf("name %d\n", strcmp(peer.sun_path, path));
    close(server);
    close(other);
    other = socket(AF_UNIX, SOCK_STREAM, 0);
    printf("left %d\n", fails(connect(other, (void *)&name, sizeof name), ECONNREFUSED));
    unlink(path);
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in name = at(0);
    printf("bind %d listen %d\n", bind(listener, (void *)&name, sizeof name), listen(listener, 9));
    socklen_t length = sizeof name;
    getsockname(listener, (void *)&name, &length);
    int port = name.sin_port;
    printf("port %d, length %d\n", port != 0, length);
    int own = socket(AF_INET, SOCK_STREAM, 0);
    printf("taken %d\n", fails(bind(own, (void *)&name, sizeof name), EADDRINUSE));
    printf("not %d", fails(listen(0, 1), ENOTSOCK));
    printf(" %d", fails(getpeername(own, (void *)&name, &length), ENOTCONN));
    printf(" %d", fails(recv(own, &on, 1, 0), ENOTCONN));
    printf(" %d\n", fails(connect(own, (void *)&name, 3), EINVAL));
    fcntl(listener, F_SETFL, O_NONBLOCK);
    printf("nobody %d\n", fails(accept(listener, NULL, NULL), EAGAIN));
    fcntl(listener, F_SETFL, 0);

    for (int i = 0; i < 6; i++)
        if (fork() == 0)
            _exit(client(port, i));
    printf("served %d\n", serve(listener, 6));
    int status, bad = 0;
    while (wait(&status) > 0)
        bad |= status;
    printf("clients %x\n", bad);

    // Fills a stream in both directions.
    name = at(port);
    printf("connect %d\n", connect(own, (void *)&name, sizeof name));
    printf("again %d\n", fails(connect(own, (void *)&name, sizeof name), EISCONN));
    struct sockaddr_in peer;
    length = sizeof peer;
    int other = accept(listener, (void *)&peer, &length);
    struct sockaddr_in ownname;
    length = sizeof ownname;
    getsockname(own, (void *)&ownname, &length);
    printf("names %d %d\n", ownname.sin_port == peer.sin_port, length);
    if (fork() == 0) {
        static char block[1 << 20];
        memset(block, 'x', sizeof block);
        close(own);
        _exit(write(other, block, sizeof block) != sizeof block);
    }
    close(other);
    static char block[10000];
    long bytes = 0;
    for (ssize_t got; (got = read(own, block, sizeof block)) > 0; bytes += got)
        ;
    wait(&status);
    printf("bytes %ld %x\n", bytes, status);
    signal(SIGPIPE, SIG_IGN);
    int kind = 0;
    length = sizeof kind;
    getsockopt(own, SOL_SOCKET, SO_TYPE, &kind, &length);
    printf("type %d %d", kind, length);
    getsockopt(listener, SOL_SOCKET, SO_ACCEPTCONN, &kind, &length);
    printf(" %d", kind);
    getsockopt(own, SOL_SOCKET, SO_ERROR, &kind, &length);
    printf(" %d\n", kind);
    close(own);
    close(listener);
    own = socket(AF_INET, SOCK_STREAM, 0);
    printf("refused %d\n", fails(connect(own, (void *)&name, sizeof name), ECONNREFUSED));
    unix_sockets();
    return 0;
}
