// Paths through /proc, links, modes of new files, and files that are opened by their place (O_PATH) or anew.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

static char top[] = "/tmp/pathsXXXXXX", text[4096];
static long show(const char *what, long result) {
    printf("%s: %ld %d\n", what, result > 0 ? 1 : result, result < 0 ? errno : 0);
    return result;
}
static void mode(const char *name) {
    struct stat data = {0};
    int found = lstat(name, &data);
    printf("%s: %d %o\n", name, found, data.st_mode);
}
static char *by_number(const char *folder, int number) {
    static char path[100];
    snprintf(path, sizeof path, "%s/fd/%d", folder, number);
    return path;
}
static void look(const char *what, int file) {
    memset(text, 0, sizeof text);
    long count = read(file, text, 100);
    printf("%s: %ld %d %s\n", what, count, count < 0 ? errno : 0, text);
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
    show("exclusive", open("dangling", O_CREAT | O_EXCL | O_WRONLY, 0600));
    show("exclusive folder", open("folder", O_CREAT | O_EXCL, 0600));
    show("created folder", open("folder", O_CREAT, 0600));
    show("through the link", close(open("dangling", O_CREAT | O_WRONLY, 0600)));
    unlink("dangling");
    show("made", unlink("nowhere"));
}

static void places(void) {
    struct stat data;
    int file = open("file", O_RDWR);
    write(file, "content", 7);
    int place = open("file", O_PATH | O_TRUNC | O_RDWR);
    show("create", open("new", O_PATH | O_CREAT, 0600));
    show("access", access("new", F_OK));
    printf("fstat: %d", fstat(place, &data));
    printf(" %ld\n", (long)data.st_size);
    look("read", place);
    show("write", write(place, "x", 1));
    show("seek", lseek(place, 0, SEEK_CUR));
    show("truncate", ftruncate(place, 1));
    show("mode", fchmod(place, 0600));
    show("map", (long)mmap(0, 4096, PROT_READ, MAP_PRIVATE, place, 0));
    show("flags", fcntl(place, F_SETFL, O_NONBLOCK));
    printf("flags %#x, %#x\n", fcntl(place, F_GETFL) & (O_PATH | O_ACCMODE | O_TRUNC), fcntl(place, F_GETFD));
    struct pollfd one = {place, POLLIN | POLLOUT, 0};
    printf("poll: %d", poll(&one, 1, 0));
    printf(" %#x\n", one.revents);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(place, &set);
    show("select", select(place + 1, &set, 0, 0, 0));
    int copy = dup(place);
    show("copy", fstat(copy, &data));
    look("copy", copy);
    show("volume", fstatfs(place, &(struct statfs){0}));
    int again = open(by_number("/proc/self", place), O_RDWR);
    look("again", again);
    show("append", write(again, "s", 1));
    look("position", file);

    int fifo = open("fifo", O_PATH);
    printf("fifo: %#x\n", fcntl(fifo, F_GETFL) & (O_PATH | O_ACCMODE));
    one.fd = fifo;
    printf("poll: %d", poll(&one, 1, 0));
    printf(" %#x\n", one.revents);
    int side = open(by_number("/proc/self", fifo), O_RDWR);
    write(side, "through", 7);
    look("fifo", open(by_number("/dev", side), O_RDONLY));
    printf("links in /dev: %d", lstat("/dev/stdin", &data));
    printf(" %d", stat("/dev/stdout", &data));
    printf(" %d\n", access("/dev/fd/2", F_OK));

    symlink("file", "link");
    int link = open("link", O_PATH | O_NOFOLLOW);
    fstat(link, &data);
    printf("link: %d\n", S_ISLNK(data.st_mode));
    show("opened", open("link", O_NOFOLLOW));
    int folder = open("folder", O_PATH | O_DIRECTORY);
    show("below", close(openat(folder, "below", O_CREAT | O_WRONLY, 0600)));
    show("removed", unlinkat(folder, "below", 0));
    show("folder", fchdir(folder));
    show("back", chdir(top));
    int entries = open(by_number("/proc/self", folder), O_RDONLY);
    char names[256];
    show("entries", getdents64(entries, names, sizeof names));
    show("entries of a place", getdents64(folder, names, sizeof names));

    int memory = memfd_create("memory", 0);
    write(memory, "bytes", 5);
    look("memory", open(by_number("/proc/self", memory), O_RDONLY));
    show("emptied", open(by_number("/proc/self", memory), O_RDWR | O_TRUNC) > 0);
    fstat(memory, &data);
    printf("length %ld\n", (long)data.st_size);
    show("a counter", open(by_number("/proc/self", eventfd(0, 0)), O_RDONLY));
    show("a socket", open(by_number("/proc/self", socket(AF_UNIX, SOCK_STREAM, 0)), O_RDONLY));
    show("closed", open(by_number("/proc/self", 99), O_RDONLY));
    show("linked", linkat(AT_FDCWD, by_number("/proc/self", file), AT_FDCWD, "other", AT_SYMLINK_FOLLOW));
    show("unlinked", unlink("other"));
    show("mode by number", chmod(by_number("/proc/self", place), 0640));
    mode("file");
}

static void through(void) {
    struct statfs volume;
    struct stat data, root;
    char path[4096], here[4096];
    symlink("/etc/passwd", "p");
    struct timespec times[2] = {{1000, 5}, {2000, 7}};
    show("times of a link", utimensat(AT_FDCWD, "p", times, AT_SYMLINK_NOFOLLOW));
    lstat("p", &data);
    printf("%ld %ld\n", (long)data.st_atim.tv_sec, (long)data.st_mtim.tv_sec);
    unlink("p");
    show("truncate", truncate("/proc/self/cwd/file", 3));
    show("volume", statfs("/proc/self/cwd/file", &volume));
    show("volume of a missing file", statfs("/proc/none", &volume));
    show("volume of the system", statfs("/proc/self", &volume));
    show("mode", chmod("/proc/self/cwd", 0700));
    show("times", utimensat(AT_FDCWD, "/proc/self/cwd", 0, 0));
    show("folder", open("/proc/self/cwd", O_RDONLY | O_DIRECTORY));
    show("not followed", open("/proc/self/cwd", O_RDONLY | O_NOFOLLOW));
    show("bind", bind_to("/proc/self/cwd/socket"));
    int end = socket(AF_UNIX, SOCK_STREAM, 0);
    show("connect", connect(end, (struct sockaddr *)&name, sizeof name));
    show("unlink", unlink("socket"));
    int file = open("file", O_RDONLY);
    snprintf(path, sizeof path, "/proc/self/root/proc/%d", getpid());
    look("by number", open(by_number(path, file), O_RDONLY));
    show("twice", access("/proc/self/root/proc/self/cwd/file", F_OK));
    snprintf(path, sizeof path, "/proc/self/cwd/../%s/file", strrchr(top, '/') + 1);
    show("above", access(path, F_OK));
    show("by a folder's number", access(strcat(by_number("/proc/self", open(".", O_PATH)), "/file"), F_OK));
    show("by a file's number", access(strcat(by_number("/proc/self", file), "/file"), F_OK));

    symlink("/proc", "p");
    show("system by a link", access("p/self/stat", F_OK));
    show("folder by a link", access("p/self/cwd/file", F_OK));
    lstat("p", &data);
    printf("link: %d", S_ISLNK(data.st_mode));
    lstat("p/.", &data);
    printf(" %d\n", S_ISLNK(data.st_mode));
    show("unlink", unlink("p"));
    symlink("/etc/passwd", "p");
    show("unlink of another", unlink("p"));

    chdir("/proc");
    show("out of the system", chdir(".."));
    stat(".", &root);
    int system = open("/proc", O_RDONLY | O_DIRECTORY);
    int above = openat(system, "..", O_RDONLY | O_DIRECTORY);
    printf("above: %d", fstat(above, &data));
    printf(" %d\n", data.st_ino == root.st_ino);
    snprintf(path, sizeof path, "../..%s/file", top);
    show("from the system", faccessat(system, path, F_OK, 0));
    show("up and down", access("/proc/self/../../tmp/../proc", F_OK));

    chdir(top);
    mkdir("\xff\xfe", 0700);
    chdir("\xff\xfe");
    long length = readlink("/proc/self/cwd", path, sizeof path - 1);
    path[length] = 0;
    printf("bytes: %d\n", !strcmp(path, getcwd(here, sizeof here)));
    close(open("x", O_CREAT | O_WRONLY, 0600));
    show("in it", access("/proc/self/cwd/x", F_OK));
    show("unlink", unlink("/proc/self/cwd/x"));
    chdir(top);
    rmdir("\xff\xfe");
}

int main(void) {
    setvbuf(stdout, 0, _IONBF, 0);
    chdir(mkdtemp(top));
    modes();
    places();
    through();
    unlink("file"), unlink("fifo"), unlink("link"), rmdir("folder");
    show("empty", rmdir(top));
    return 0;
}
