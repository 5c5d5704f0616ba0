// Modes of new files.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char top[] = "/tmp/pathsXXXXXX";
static long show(const char *what, long result) {
    printf("%s: %ld %d\n", what, result > 0 ? 1 : result, result < 0 ? errno : 0);
    return result;
}
static void mode(const char *name) {
    struct stat data = {0};
    int found = lstat(name, &data);
    printf("%s: %d %o\n", name, found, data.st_mode);
}
static struct sockaddr_un name = {AF_UNIX};
static long bind_to(const char *path) {
    int end = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(name.sun_path, path);
    long done = bind(end, (struct sockaddr *)&name, sizeof name);
    return done ? done : listen(end, 1) ? -1 : end;
}

static void modes(void) {
    umask(0);
    close(open("file", O_WRONLY | O_CREAT, 0666));
    close(open("only read", O_RDONLY | O_CREAT, 0666));
    close(open("sticky", O_WRONLY | O_CREAT | O_EXCL, 01646));
    show("without rights", close(open("none", O_RDONLY | O_CREAT, 0)));
    mkdir("folder", 01777);
    mkfifo("fifo", 0666);
    mknod("node", S_IFREG | 0666, 0);
    bind_to("socket");
    umask(077);
    close(open("own", O_WRONLY | O_CREAT, 0666));
    close(open("file", O_WRONLY | O_CREAT, 0600));
    for (const char **one = (const char *[]){"file", "only read", "sticky", "none", "folder", "fifo", "node", "socket", "own", 0}; *one; one++) {
        mode(*one);
        if (strcmp(*one, "file") && strcmp(*one, "folder") && strcmp(*one, "fifo"))
            unlink(*one);
    }
    struct stat data;
    fstat(memfd_create("memory", 0), &data);
    printf("in memory: %o\n", data.st_mode);
    show("unknown flag", memfd_create("memory", 0x8000));
    symlink("nowhere", "dangling");
    show("through the link", close(open("dangling", O_CREAT | O_WRONLY, 0600)));
    unlink("dangling");
    show("made", unlink("nowhere"));
}

int main(void) {
    setvbuf(stdout, 0, _IONBF, 0);
    chdir(mkdtemp(top));
    modes();
    unlink("file"), unlink("fifo"), rmdir("folder");
    show("empty", rmdir(top));
    return 0;
}
