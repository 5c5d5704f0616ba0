// Files that are made shorter while they are mapped: by their number, by their name, and by opening them.

#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 4 };

static sigjmp_buf out;

static void on_bus(int signal, siginfo_t *info, void *context) {
    siglongjmp(out, info->si_code);
}

// What a page's first byte is, or that it is not there.
static void look(const char *what, volatile char *page) {
    int code = sigsetjmp(out, 1);
    if (code == 0)
        printf("%s: %d\n", what, *page);
    else
        printf("%s: bus error %d\n", what, code);
}

static char *map(int file, int flags) {
    char *at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, flags, file, 0);
    if (at == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return at;
}

static void fill(char *at) {
    for (int page = 0; page < PAGES; page++)
        memset(at + page * PAGE, 'a' + page, PAGE);
}

int main(void) {
    struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &action, NULL);

    int file = memfd_create("cut", 0);
    ftruncate(file, PAGES * PAGE);
    char *shared = map(file, MAP_SHARED), *other = map(file, MAP_SHARED), *private = map(file, MAP_PRIVATE);
    fill(shared);
    private[0] = 1;
    private[2 * PAGE] = 2;
    look("the other mapping before", other + 3 * PAGE);

    ftruncate(file, PAGE + 100);
    look("within the last page", shared + PAGE + 99);
    look("the rest of the last page", shared + PAGE + 100);
    look("behind it", shared + 2 * PAGE);
    look("behind it, in the other mapping", other + 3 * PAGE);
    look("behind it, in a private copy", private + 2 * PAGE);
    look("a private copy before it", private);

    ftruncate(file, PAGES * PAGE);
    look("within the old last page, longer again", shared + PAGE + 99);
    look("its rest", shared + PAGE + 100);
    look("behind it", shared + 2 * PAGE);
    look("behind it, in the other mapping", other + 3 * PAGE);
    shared[2 * PAGE] = 'x';
    look("written to again", other + 2 * PAGE);
    char byte = 0;
    pread(file, &byte, 1, 2 * PAGE);
    printf("read from the file: %d\n", byte);

    // Another process has the file.
    int there[2], back[2];
    if (pipe(there) || pipe(back))
        return 1;
    fflush(stdout);
    if (fork() == 0) {
        look("a child before", shared + 3 * PAGE);
        fflush(stdout);
        write(there[1], "", 1);
        read(back[0], &byte, 1);
        look("a child after", shared + 3 * PAGE);
        look("a child after, the first page", shared);
        fflush(stdout);
        _exit(0);
    }
    read(there[0], &byte, 1);
    ftruncate(file, PAGE);
    write(back[1], "", 1);
    wait(NULL);

    // By its name, and by opening it.
    char name[] = "/tmp/truncated-XXXXXX";
    int named = mkstemp(name);
    ftruncate(named, PAGES * PAGE);
    char *at = map(named, MAP_SHARED);
    fill(at);
    truncate(name, PAGE);
    look("by name, the first page", at);
    look("by name, the second page", at + PAGE);
    close(open(name, O_WRONLY | O_TRUNC));
    look("by opening", at);
    ftruncate(named, PAGE);
    look("longer again", at);
    unlink(name);
    return 0;
}
