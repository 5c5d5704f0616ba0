// Flags and arguments that Linux checks, with Linux's answers. qemu passes some of them on unchecked.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int handled;
static void count(int signal) { handled += signal > 0; }
static void show(const char *what, long result) { printf("%s: %ld %d\n", what, result, result < 0 ? errno : 0); }

static void flags(void) {
    sigset_t none;
    sigemptyset(&none);
    int ends[2];
    char bytes[16];
    show("eventfd", eventfd(0, 0x7000));
    show("timerfd", timerfd_create(CLOCK_MONOTONIC, 0x10));
    show("signalfd", signalfd(-1, &none, 0x10));
    show("epoll", epoll_create1(1));
    show("pipe2", pipe2(ends, 1));
    show("getrandom", getrandom(bytes, 16, 0x100));
    show("access", access("/", 99));
    show("mount", mount("a", "/", "b", 0, 0));
    struct timespec second = {1, 0};
    show("clock_settime", clock_settime(CLOCK_REALTIME, &second));
    int group = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
    show("pread of a timer", pread(timer, bytes, 8, 0));
    struct epoll_event event = {.events = EPOLLIN | EPOLLEXCLUSIVE};
    epoll_ctl(group, EPOLL_CTL_ADD, timer, &event);
    show("change of an exclusive file", epoll_ctl(group, EPOLL_CTL_MOD, timer, &event));
}

static void *read_later(void *file) {
    uint64_t value;
    usleep(2000);
    return (void *)(long)read((int)(long)file, &value, 8);
}

static void counts(void) {
    int counter = eventfd(0, EFD_NONBLOCK);
    uint64_t value = UINT64_MAX - 1;
    write(counter, &value, 8);
    struct pollfd file = {counter, POLLIN | POLLOUT, 0};
    poll(&file, 1, 0);
    printf("full count: %x\n", file.revents);
    fcntl(counter, F_SETFL, 0);
    pthread_t reader;
    pthread_create(&reader, 0, read_later, (void *)(long)counter);
    value = 7;
    show("write to a full count", write(counter, &value, 8));
    pthread_join(reader, 0);
    read(counter, &value, 8);
    printf("count %d\n", (int)value);
    value = 1;
    write(counter, &value, 8);
    pthread_create(&reader, 0, read_later, (void *)(long)counter);
    value = UINT64_MAX - 1;
    show("write of the largest count", write(counter, &value, 8));
    pthread_join(reader, 0);
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec seldom = {{INT64_MAX, 0}, {0, 1}};
    timerfd_settime(timer, 0, &seldom, 0);
    show("read of a timer", read(timer, &value, 8));
    file.fd = timer;
    printf("count %d, ready %d\n", (int)value, poll(&file, 1, 1));
}

static void *write_later(void *file) {
    usleep(2000);
    return (void *)(long)write((int)(long)file, "x", 1);
}

static void masks(void) {
    struct sigaction action = {.sa_handler = count};
    sigaction(SIGUSR1, &action, 0);
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    sigprocmask(SIG_BLOCK, &all, 0);
    struct timespec no_time = {0, 0};
    raise(SIGUSR1);
    show("ppoll", ppoll(0, 0, &no_time, &none));
    raise(SIGUSR1);
    show("pselect", pselect(0, 0, 0, 0, &no_time, &none));
    raise(SIGUSR1);
    struct epoll_event event;
    show("epoll_pwait", epoll_pwait(epoll_create1(0), &event, 1, 0, &none));
    printf("handled %d\n", handled);
    // A look with another mask, which lets an ignored signal through, lasts no longer after a wait that has ended early.
    int ends[2];
    pipe(ends);
    pthread_t writer;
    pthread_create(&writer, 0, write_later, (void *)(long)ends[1]);
    struct pollfd file = {ends[0], POLLIN, 0};
    printf("poll of a pipe: %d\n", poll(&file, 1, 5000));
    pthread_join(writer, 0);
    // SIGUSR1 is still pending.
    sigaddset(&none, SIGUSR1);
    raise(SIGURG);
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    show("no time", ppoll(0, 0, &no_time, &none));
    clock_gettime(CLOCK_MONOTONIC, &after);
    printf("waited %d\n", after.tv_sec - before.tv_sec > 1);
}

static void files(void) {
    int file = memfd_create("file", 0);
    char text[] = "0123456789";
    struct iovec part = {text, 10};
    show("write", write(file, text, 10));
    show("append", pwritev2(file, &part, 1, 0, RWF_APPEND));
    show("append at the position", pwritev2(file, &part, 1, -1, RWF_APPEND));
    show("position", lseek(file, 0, SEEK_CUR));
    show("read", preadv2(file, &part, 1, 0, RWF_DSYNC));
    show("unknown", preadv2(file, &part, 1, 0, 0x4000));
    int ends[2];
    pipe(ends);
    show("no wait", preadv2(ends[0], &part, 1, -1, RWF_NOWAIT));
    static char full[65536];
    write(ends[1], full, sizeof full);
    show("write without a wait", pwritev2(ends[1], &part, 1, -1, RWF_NOWAIT));
    show("fsync", fsync(ends[0]));
    show("sync_file_range", sync_file_range(ends[0], 0, 1, 0));
    show("fallocate", fallocate(file, 0, -1, 5));
    show("of nothing", fallocate(file, 0, 0, 0));
    show("too far", fallocate(file, 0, INT64_MAX, 5));
    fcntl(file, F_SETFL, O_APPEND);
    lseek(file, 0, SEEK_SET);
    write(file, text, 0);
    show("position after no bytes", lseek(file, 0, SEEK_CUR));
    ftruncate(file, 0);
    fcntl(file, F_SETFL, 0);
    char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    show("from behind the end", pwrite(file, page, 5, 6000));
}

static void scheduling(void) {
    struct sched_param param = {0};
    show("nice", nice(5));
    show("nice value", getpriority(PRIO_PROCESS, 0));
    show("less", setpriority(PRIO_PROCESS, 0, -5));
    show("kind", setpriority(7, 0, 0));
    show("batch", sched_setscheduler(0, SCHED_BATCH, &param));
    show("policy", sched_getscheduler(0));
    show("of -1", sched_getscheduler(-1));
    show("unknown policy", sched_get_priority_min(99));
    param.sched_priority = 5;
    show("no parameter", sched_getparam(0, 0));
    struct timespec slice;
    show("slice", sched_rr_get_interval(0, &slice));
    show("slice of -1", sched_rr_get_interval(-1, &slice));
    show("fifo", sched_setscheduler(0, SCHED_FIFO, &param));
    show("with priority", sched_setscheduler(0, SCHED_OTHER, &param));
    struct rlimit limit = {100, 200};
    setrlimit(RLIMIT_CORE, &limit);
    getrlimit(RLIMIT_CORE, &limit);
    printf("limit %d %d\n", (int)limit.rlim_cur, (int)limit.rlim_max);
}

// A renamed link leaves the working directory where it is, also if the link then leads elsewhere.
static void links(void) {
    char name[] = "/tmp/manycore-XXXXXX", here[4096];
    chdir(mkdtemp(name));
    mkdir("folder", 0700);
    mkdir("beside", 0700);
    mkdir("beside/folder", 0700);
    symlink("folder", "link");
    symlink("folder", "broken");
    chdir("folder");
    show("rename of a link", rename("../link", "../beside/link"));
    printf("in %s\n", getcwd(here, sizeof here) + strlen(name));
    rmdir("../beside/folder");
    show("rename that breaks a link", rename("../broken", "../beside/broken"));
    show("rename of the folder", rename("../folder", "../other"));
    printf("in %s\n", getcwd(here, sizeof here) + strlen(name));
    chdir(name);
    unlink("beside/link");
    unlink("beside/broken");
    rmdir("beside");
    rmdir("other");
    show("empty", rmdir(name));
}

// The process number in a file of /proc, to tell the simulated system's from the host's.
static int own(const char *path) {
    FILE *file = fopen(path, "r");
    int number = -1;
    if (file && fscanf(file, "%d", &number))
        fclose(file);
    return number == getpid();
}

// No path leads to the host's own files.
static void hidden(void) {
    char name[] = "/tmp/manycore-XXXXXX", target[64] = "";
    chdir(mkdtemp(name));
    symlink("/proc", "system");
    symlink("/etc/passwd", "users");
    symlink("/dev/urandom", "random");
    show("users", open("../../etc/passwd", O_RDONLY));
    show("users by a link", open("users", O_RDONLY));
    show("users by the folder", open("/proc/self/cwd/../../etc/passwd", O_RDONLY));
    show("new file", open("../../etc/manycore-new", O_CREAT | O_WRONLY, 0600));
    show("host's devices", open("../../dev/tty", O_RDONLY));
    show("host's version", open("../../proc/version", O_RDONLY));
    show("host's first process", open("system/1/stat", O_RDONLY));
    printf("own: %d %d %d\n", own("../../proc/self/stat"), own("system/self/stat"), own("system/../proc/self/stat"));
    char path[64];
    for (const char **one = (const char *[]){"random", "../../dev/urandom", 0}; *one; one++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", open(*one, O_RDONLY));
        readlink(path, target, sizeof target - 1);
        struct stat data;
        fstat(atoi(path + 14), &data);
        printf("random: %s %o\n", target, data.st_mode);
    }
    show("mode of the program", chmod("/proc/self/exe", 0755));
    show("link of the program", linkat(AT_FDCWD, "/proc/self/exe", AT_FDCWD, "program", AT_SYMLINK_FOLLOW));
    show("run", access("program", X_OK));
    show("memory", syscall(SYS_memfd_create, 0, 0x8000));
    show("memory without a name", syscall(SYS_memfd_create, 0, 0));
    show("run or not", memfd_create("both", 0x18));
    unlink("program"), unlink("system"), unlink("users"), unlink("random");
    show("empty", rmdir(name));
}

int main(int count, char **arguments) {
    if (count > 1) {
        char file[64] = "";
        readlink("/proc/self/exe", file, sizeof file - 1);
        printf("%s, %s, %s\n", arguments[1], file, (char *)getauxval(AT_EXECFN));
        return 0;
    }
    flags();
    counts();
    masks();
    files();
    scheduling();
    links();
    hidden();
    char *const list[] = {"again", "run by its file", 0};
    fflush(stdout);
    int program = open("/proc/self/exe", O_RDONLY), copy = memfd_create("copy", 0);
    while (sendfile(copy, program, 0, 1 << 20) > 0)
        ;
    fexecve(copy, list, environ);
    show("fexecve", -1);
    return 1;
}
