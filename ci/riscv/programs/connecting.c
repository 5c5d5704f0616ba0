// Connections that do not wait: made, refused, and in a full queue. A Unix socket fails where TCP goes on.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int error_of(int socket) {
    int error = -1;
    socklen_t length = sizeof error;
    getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length);
    return error;
}

static void show(const char *what, long result) { printf("%s: %ld %d\n", what, result, result < 0 ? errno : 0); }

static void look(const char *what, int socket, int time) {
    struct pollfd file = {socket, POLLIN | POLLOUT, 0};
    int count = poll(&file, 1, time);
    printf("%s: %d %x\n", what, count, file.revents);
}

// A listener at a free port of the loopback interface, with the options of SO_LINGER if there are any.
static int listener_at(struct sockaddr_in *at, int backlog, const struct linger *linger) {
    socklen_t length = sizeof *at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (linger)
        setsockopt(listener, SOL_SOCKET, SO_LINGER, linger, sizeof *linger);
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bind(listener, (void *)at, sizeof *at);
    listen(listener, backlog);
    getsockname(listener, (void *)at, &length);
    return listener;
}

static int caller(void) { return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0); }

// A queue that grows, and connections that a close breaks.
static void grow(void) {
    struct sockaddr_in at;
    struct linger breaks = {1, 0};
    char byte;
    int listener = listener_at(&at, 0, &breaks), made = caller(), pending = caller();
    show("short linger", setsockopt(made, SOL_SOCKET, SO_LINGER, &breaks, 7));
    setsockopt(made, SOL_SOCKET, SO_LINGER, &breaks, sizeof breaks);
    connect(made, (void *)&at, sizeof at);
    look("made", made, 1000);
    show("pending", connect(pending, (void *)&at, sizeof at));
    look("pending", pending, 20);
    listen(listener, 4);
    fcntl(pending, F_SETFL, 0);
    look("grown", pending, 5000);
    show("grown: again", connect(pending, (void *)&at, sizeof at));
    show("grown: once more", connect(pending, (void *)&at, sizeof at));
    int one = accept(listener, 0, 0), other = accept(listener, 0, 0);
    close(made);
    show("broken by the caller", recv(one, &byte, 1, 0));
    close(other);
    show("broken by the listener", recv(pending, &byte, 1, 0));
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    char byte;
    struct sockaddr_in at;
    int listener = listener_at(&at, 1, NULL);
    int s[3];
    for (int i = 0; i < 3; i++) {
        s[i] = caller();
        show("connect", connect(s[i], (void *)&at, sizeof at));
        look("then", s[i], 20);
    }
    show("made: again", connect(s[0], (void *)&at, sizeof at));
    show("made: once more", connect(s[0], (void *)&at, sizeof at));
    show("full: again", connect(s[2], (void *)&at, sizeof at));
    show("full: send", send(s[2], "x", 1, 0));
    show("full: receive", recv(s[2], &byte, 1, 0));
    struct sockaddr_in name;
    socklen_t length = sizeof name;
    show("full: peer", getpeername(s[2], (void *)&name, &length));
    getsockname(s[2], (void *)&name, &length);
    printf("full: port %d, error %d\n", name.sin_port != 0, error_of(s[2]));
    close(accept(listener, 0, 0));
    look("room", s[2], 5000);
    printf("room: error %d\n", error_of(s[2]));
    show("room: again", connect(s[2], (void *)&at, sizeof at));
    show("room: once more", connect(s[2], (void *)&at, sizeof at));
    show("room: send", send(s[2], "hi", 2, 0));
    close(accept(listener, 0, 0));
    int last = accept(listener, 0, 0);
    show("room: receive", recv(last, &byte, 1, 0));
    close(listener);
    for (int i = 0; i < 2; i++) {
        int refused = caller();
        show("refused", connect(refused, (void *)&at, sizeof at));
        look("refused", refused, 1000);
        if (i) {
            show("refused: shutdown", shutdown(refused, SHUT_RD));
            show("refused: receive", recv(refused, &byte, 1, 0));
        } else
            for (int k = 0; k < 2; k++)
                printf("refused: error %d\n", error_of(refused));
    }
    grow();
    show("unconnected", send(caller(), "x", 1, 0));

    struct sockaddr_un path = {.sun_family = AF_UNIX};
    memcpy(path.sun_path, "\0connecting", 11);
    socklen_t size = offsetof(struct sockaddr_un, sun_path) + 11;
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(listener, (void *)&path, size);
    listen(listener, 0);
    for (int i = 0; i < 2; i++)
        show("unix", connect(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), (void *)&path, size));
    return 0;
}
