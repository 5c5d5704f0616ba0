// splice, tee and vmsplice between pipes, files, sockets and memory.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int one[2], two[2], file, pipes;
static void count(int signal) { pipes += signal == SIGPIPE; }
static long show(const char *what, long result) {
    printf("%s: %ld %d\n", what, result, result < 0 ? errno : 0);
    return result;
}
static void look(const char *what, int from) {
    char text[64] = "";
    long count = read(from, text, 63);
    printf("%s: %ld %s\n", what, count, text);
}
static void *later(void *data) {
    usleep(1000);
    write(one[1], "late", 4);
    return data;
}

int main(void) {
    char name[] = "/tmp/splicesXXXXXX", text[] = "some bytes of memory";
    loff_t at = 5;
    struct sigaction action = {.sa_handler = count};
    sigaction(SIGPIPE, &action, 0);
    file = mkstemp(name);
    pipe(one), pipe(two);
    write(file, "0123456789abcdefghij", 20);

    show("file to pipe", splice(file, &at, one[1], 0, 10, 0));
    printf("at %ld, position %ld\n", (long)at, (long)lseek(file, 0, SEEK_CUR));
    lseek(file, 2, SEEK_SET);
    show("from the position", splice(file, 0, one[1], 0, 3, 0));
    printf("position %ld\n", (long)lseek(file, 0, SEEK_CUR));
    show("tee", tee(one[0], two[1], 6, 0));
    look("copied", two[0]);
    show("pipe to pipe", splice(one[0], 0, two[1], 0, 8, 0));
    look("moved", two[0]);
    at = 30;
    show("pipe to file", splice(one[0], 0, file, &at, 100, 0));
    printf("at %ld, size %ld\n", (long)at, (long)lseek(file, 0, SEEK_END));
    show("file's end", splice(file, 0, one[1], 0, 10, 0));

    show("empty", splice(one[0], 0, two[1], 0, 8, SPLICE_F_NONBLOCK));
    show("tee of nothing", tee(one[0], two[1], 6, SPLICE_F_NONBLOCK));
    show("no bytes", splice(99, 0, 98, 0, 0, 0));
    show("no file", splice(99, 0, one[1], 0, 1, 0));
    show("no pipe", splice(file, 0, file, 0, 1, 0));
    show("the same pipe", splice(one[0], 0, one[1], 0, 1, 0));
    show("tee to the same pipe", tee(one[0], one[1], 1, 0));
    show("tee of a file", tee(file, one[1], 1, 0));
    show("place in a pipe", splice(one[0], &at, file, 0, 1, 0));
    show("the wrong end", splice(one[1], 0, file, 0, 1, 0));
    show("flags", splice(one[0], 0, file, 0, 1, 64));
    write(one[1], "x", 1);
    fcntl(file, F_SETFL, O_APPEND);
    show("append", splice(one[0], 0, file, 0, 1, 0));
    look("still there", one[0]);

    struct iovec parts[] = {{text, 5}, {text + 5, 6}};
    show("vmsplice", vmsplice(one[1], parts, 2, 0));
    look("from memory", one[0]);
    write(one[1], "to memory", 9);
    show("vmsplice back", vmsplice(one[0], parts, 2, 0));
    puts(text);
    show("vmsplice of a file", vmsplice(file, parts, 2, 0));
    show("vmsplice of nothing", vmsplice(one[0], parts, 2, SPLICE_F_NONBLOCK));

    pthread_t thread;
    pthread_create(&thread, 0, later, 0);
    show("waits", splice(one[0], 0, two[1], 0, 8, 0));
    pthread_join(thread, 0);
    look("later", two[0]);

    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    write(pair[0], "socket", 6);
    show("socket to pipe", splice(pair[1], 0, one[1], 0, 100, 0));
    show("pipe to socket", splice(one[0], 0, pair[1], 0, 100, 0));
    look("and back", pair[0]);

    // A full socket that does not wait, unlike the pipe.
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    char block[4096] = "";
    while (write(pair[0], block, sizeof block) > 0)
        ;
    while (write(pair[0], block, 1) > 0)
        ;
    write(one[1], "y", 1);
    show("full socket", splice(one[0], 0, pair[0], 0, 1, 0));
    look("kept", one[0]);

    // A full pipe.
    fcntl(two[1], F_SETFL, O_NONBLOCK);
    while (write(two[1], text, 20) > 0)
        ;
    char filler[4096] = "";
    while (write(two[1], filler, 1) > 0)
        ;
    write(one[1], "y", 1);
    show("full", splice(one[0], 0, two[1], 0, 1, SPLICE_F_NONBLOCK));
    show("full tee", tee(one[0], two[1], 1, SPLICE_F_NONBLOCK));
    look("kept", one[0]);
    write(one[1], "y", 1);
    close(two[0]);
    show("no reader", splice(one[0], 0, two[1], 0, 1, 0));
    printf("signals %d\n", pipes);
    look("kept", one[0]);
    close(one[1]);
    fcntl(file, F_SETFL, 0);
    show("no writer", splice(one[0], 0, file, 0, 1, 0));
    unlink(name);
}
