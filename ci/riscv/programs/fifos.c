// FIFOs between processes and threads: both sides of an open, O_NONBLOCK, O_RDWR, poll, ends, and a name that is removed.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/fifosXXXXXX", path[64], other[64];
static int pipes, alarms;
static void count(int signal) { *(signal == SIGPIPE ? &pipes : &alarms) += 1; }
static long show(const char *what, long result) {
    printf("%s: %ld %d\n", what, result, result < 0 ? errno : 0);
    return result;
}
static void ask(const char *what, int file, int events) {
    struct pollfd one = {file, events, 0};
    int found = poll(&one, 1, 0);
    printf("%s: %d %#x\n", what, found, one.revents);
}
static void *reads(void *data) {
    char text[8] = "";
    int file = open(path, O_RDONLY);
    long count = read(file, text, 4);
    printf("thread read %ld: %s\n", count, text);
    close(file);
    return data;
}

static void sides(void) {
    char text[8] = "";
    show("writer without a reader", open(path, O_WRONLY | O_NONBLOCK));
    int in = open(path, O_RDONLY | O_NONBLOCK);
    show("empty, no writer", read(in, text, 4));
    ask("no writer yet", in, POLLIN);
    int out = open(path, O_WRONLY | O_NONBLOCK);
    show("empty", read(in, text, 4));
    ask("writer", out, POLLOUT);
    show("write", write(out, "abcd", 4));
    ask("bytes", in, POLLIN);
    int left = 0;
    ioctl(in, FIONREAD, &left);
    printf("left %d, flags %#x %#x\n", left, fcntl(in, F_GETFL) & (O_ACCMODE | O_NONBLOCK), fcntl(out, F_GETFL) & (O_ACCMODE | O_NONBLOCK));
    close(out);
    ask("bytes, no writer", in, POLLIN);
    show("read", read(in, text, 4));
    ask("no writer any more", in, POLLIN);
    show("end", read(in, text, 4));
    out = open(path, O_WRONLY);
    ask("new writer", in, POLLIN);
    close(in);
    ask("no reader", out, POLLOUT);
    show("write without a reader", write(out, "x", 1));
    printf("signals %d\n", pipes);
    in = open(path, O_RDONLY | O_NONBLOCK);
    show("write to a new reader", write(out, "y", 1));
    close(in);
    close(out);
    in = open(path, O_RDONLY | O_NONBLOCK);
    show("bytes are gone", read(in, text, 4));
    close(in);

    int both = open(path, O_RDWR);
    show("write to itself", write(both, "wxyz", 4));
    show("read from itself", read(both, text, 8));
    printf("%.4s, flags %#x\n", text, fcntl(both, F_GETFL) & O_ACCMODE);
    ask("both sides", both, POLLIN | POLLOUT);
    show("seek", lseek(both, 0, SEEK_CUR));
    close(both);
}

static void names(void) {
    struct stat data;
    char text[8] = "";
    stat(path, &data);
    printf("a fifo: %d, rights %o, size %ld\n", S_ISFIFO(data.st_mode), data.st_mode & 0777, (long)data.st_size);
    ino_t inode = data.st_ino;
    show("exists", mkfifo(path, 0600));
    show("exclusive", open(path, O_RDWR | O_CREAT | O_EXCL, 0600));
    show("folder", open(path, O_RDONLY | O_NONBLOCK | O_DIRECTORY));
    show("truncate", truncate(path, 0));
    show("times", utimensat(AT_FDCWD, path, 0, 0));
    int old = open(path, O_RDWR);
    fstat(old, &data);
    printf("the same: %d, a fifo: %d\n", data.st_ino == inode, S_ISFIFO(data.st_mode));
    show("rename", rename(path, other));
    int again = open(other, O_RDWR);
    show("unlink", unlink(other));
    show("mknod", mknod(path, S_IFIFO | 0600, 0));
    int new = open(path, O_RDWR | O_NONBLOCK);
    write(old, "old", 3);
    show("another fifo", read(new, text, 8));
    show("the old fifo", read(again, text, 8));
    puts(text);
    close(old), close(new), close(again);
}

static void *opens(void *data) {
    *(int *)data = open(path, O_RDONLY | O_CLOEXEC);
    return data;
}
static void numbers(void) {
    int place = open(path, O_PATH);
    char text[4];
    show("no side", read(place, text, 4));
    show("no reader", open(path, O_WRONLY | O_NONBLOCK));
    close(place);
    // A call that waits keeps its number.
    int number;
    pthread_t thread;
    pthread_create(&thread, 0, opens, &number);
    usleep(20000);
    int other = dup(0);
    show("close of a kept number", close(other - 1));
    int out = open(path, O_WRONLY);
    pthread_join(thread, 0);
    printf("kept number: %d %d\n", other - number, out - number);
    show("closed by exec", fcntl(number, F_GETFD));
    close(number), close(other), close(out);
}

static void waits(void) {
    char text[100];
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        usleep(1000);
        int out = open(path, O_WRONLY);
        for (int i = 0; i < 3; i++)
            dprintf(out, "line %d\n", i);
        _exit(close(out));
    }
    int in = open(path, O_RDONLY);
    long length = 0, got;
    while ((got = read(in, text + length, sizeof text - length)) > 0)
        length += got;
    printf("%.*s", (int)length, text);
    close(in);
    waitpid(child, 0, 0);

    pthread_t thread;
    pthread_create(&thread, 0, reads, 0);
    int out = open(path, O_WRONLY);
    write(out, "four", 4);
    pthread_join(thread, 0);
    close(out);

    // A handler ends the wait, or the call goes on.
    struct sigaction action = {.sa_handler = count};
    sigaction(SIGALRM, &action, 0);
    ualarm(1000, 0);
    show("interrupted", open(path, O_RDONLY));
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, 0);
    show("the side is gone", open(path, O_WRONLY | O_NONBLOCK));
    fflush(stdout);
    child = fork();
    if (!child) {
        usleep(20000);
        out = open(path, O_WRONLY);
        _exit(write(out, "late", 4) != 4);
    }
    ualarm(1000, 0);
    in = open(path, O_RDONLY);
    show("went on", read(in, text, 8));
    printf("alarms %d\n", alarms);
    close(in);
    int status;
    waitpid(child, &status, 0);
    printf("status %d\n", status);

    // A child that dies while it waits is no reader any more.
    child = fork();
    if (!child)
        _exit(open(path, O_RDONLY));
    usleep(20000);
    kill(child, SIGKILL);
    waitpid(child, 0, 0);
    show("dead reader", open(path, O_WRONLY | O_NONBLOCK));
}

int main(void) {
    struct sigaction action = {.sa_handler = count};
    sigaction(SIGPIPE, &action, 0);
    mkdtemp(folder);
    snprintf(path, sizeof path, "%s/fifo", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    show("mkfifo", mkfifo(path, 0640));
    sides();
    names();
    numbers();
    waits();
    unlink(path);
    rmdir(folder);
}
