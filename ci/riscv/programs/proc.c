// What a process reads about itself in /proc.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static char *target(const char *path) {
    static char text[512];
    ssize_t length = readlink(path, text, sizeof text - 1);
    text[length < 0 ? 0 : length] = 0;
    return text;
}
static char *of_number(int number) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", number);
    return target(path);
}
static char *content(const char *path) {
    static char text[65536];
    int file = open(path, O_RDONLY);
    ssize_t length = 0, count;
    while ((count = read(file, text + length, sizeof text - 1 - length)) > 0)
        length += count;
    close(file);
    text[length] = 0;
    return text;
}

int main(int count, char **words) {
    char path[64], here[512], line[256];
    printf("self: %d\n", atoi(target("/proc/self")) == getpid());
    printf("cwd: %d\n", !strcmp(target("/proc/self/cwd"), getcwd(here, sizeof here)));
    printf("root: %s\n", target("/proc/self/root"));
    snprintf(path, sizeof path, "/proc/%d/fd", getpid());
    printf("by number: %d\n", access(path, R_OK));

    char name[] = "/tmp/procXXXXXX";
    int file = mkstemp(name), ends[2], events = eventfd(0, 0);
    pipe(ends);
    printf("file: %d\n", !strcmp(of_number(file), name));
    printf("pipe: %.6s\n", of_number(ends[0]));
    printf("counter: %s\n", of_number(events));
    printf("closed: %d %d\n", *of_number(99), errno);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    struct stat data;
    lstat(path, &data);
    printf("a link: %d\n", S_ISLNK(data.st_mode));
    write(file, "bytes", 5);
    int again = open(path, O_RDONLY);
    lseek(again, 0, SEEK_SET);
    printf("opened again: %zd\n", read(again, line, 10));
    unlink(name);

    printf("real path: %d\n", !strcmp(realpath("/proc/self/exe", here), target("/proc/self/exe")));
    snprintf(path, sizeof path, "/proc/%d", getpid());
    lstat(path, &data);
    printf("a folder: %d\n", S_ISDIR(data.st_mode));
    printf("memory: %s\n", of_number(memfd_create("a name", 0)));
    chdir("/tmp");
    close(open("proc-below", O_CREAT | O_WRONLY, 0600));
    printf("below: %d %d\n", access("/proc/self/cwd/proc-below", F_OK), access("/proc/self/root/tmp/proc-below", F_OK));
    strcat(path, "/cwd/proc-below");
    printf("removed: %d\n", unlink(path));
    stat("/proc/self/cwd", &data);
    printf("a folder: %d %d\n", S_ISDIR(data.st_mode), chdir("/proc/self/root"));

    int found = 0;
    DIR *folder = opendir("/proc/self");
    for (struct dirent *entry; (entry = readdir(folder));)
        for (const char **wanted = (const char *[]){"cmdline", "comm", "exe", "fd", "maps", "stat", "status", 0}; *wanted; wanted++)
            found += !strcmp(entry->d_name, *wanted);
    closedir(folder);
    printf("names: %d\n", found);

    prctl(PR_SET_NAME, "a name");
    printf("comm: %s", content("/proc/self/comm"));
    char *text = content("/proc/self/cmdline");
    size_t at = strlen(text) + 1;
    printf("cmdline: %d %s\n", !strcmp(text, words[0]), count > 1 ? text + at : "");
    text = content("/proc/self/status");
    snprintf(line, sizeof line, "\nPid:\t%d\nPPid:\t%d\n", getpid(), getppid());
    printf("status: %d %d %d\n", !strncmp(text, "Name:\ta name\n", 13), !!strstr(text, line), !!strstr(text, "\nState:\tR (running)\n"));
    printf("more: %d %d %d %d\n", !!strstr(text, "\nUid:\t"), !!strstr(text, "\nVmSize:\t"), !!strstr(text, "\nThreads:\t"), !!strstr(text, "\nSigCgt:\t"));
    text = content("/proc/self/stat");
    printf("stat: %d %d\n", atoi(text) == getpid(), text[strlen(text) - 1] == '\n');

    void *shared = mmap(0, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FILE *maps = fopen("/proc/self/maps", "r");
    char rights[8], found_at[3][8];
    const void *places[] = {(void *)main, path, shared};
    for (unsigned long start, end; fscanf(maps, "%lx-%lx %7s%*[^\n]", &start, &end, rights) == 3;)
        for (int i = 0; i < 3; i++)
            if (start <= (unsigned long)places[i] && (unsigned long)places[i] < end)
                strcpy(found_at[i], rights);
    printf("code %s, stack %s, shared %s\n", found_at[0], found_at[1], found_at[2]);
    return 0;
}
