// Private pages of a file show what other processes write to the file, until the program writes to the page.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 6 };
static char name[] = "/tmp/manycore-shown-XXXXXX";
static int file;

static char *map(void) {
    return mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
}
static void show(const char *who, const char *pages) {
    printf("%s:", who);
    for (int page = 0; page < PAGES; page++)
        printf(" %.8s", pages + page * PAGE);
    printf("\n");
    fflush(stdout);
}
// Writes to each page by another call, with its own open file.
static void write_all(const char *text) {
    int own = open(name, O_RDWR), copy = memfd_create("copy", 0);
    char bytes[9] = "";
    int pipe_ends[2];
    pipe(pipe_ends);
    write(copy, text, 8);
    for (int page = 0; page < PAGES; page++) {
        off_t at = page * PAGE, from = 0;
        snprintf(bytes, sizeof bytes, "%s", text);
        bytes[7] = (char)('0' + page);
        struct iovec parts[2] = {{bytes, 3}, {bytes + 3, 5}};
        lseek(own, at, SEEK_SET);
        switch (page) {
        case 0: write(own, bytes, 8); break;
        case 1: pwrite(own, bytes, 8, at); break;
        case 2: writev(own, parts, 2); break;
        case 3: pwritev(own, parts, 2, at); break;
        case 4: sendfile(own, copy, &from, 8); break;
        default: write(pipe_ends[1], bytes, 8), splice(pipe_ends[0], NULL, own, &at, 8, 0);
        }
    }
    close(own), close(copy), close(pipe_ends[0]), close(pipe_ends[1]);
}
static int in_child(void (*work)(const char *), const char *text) {
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        work(text);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return status;
}

int main(void) {
    file = mkstemp(name);
    char *zeros = calloc(PAGES, PAGE);
    write(file, zeros, PAGES * PAGE);
    write_all("at first");

    char *pages = map();
    show("mapped", pages);
    in_child(write_all, "by child");
    show("after a child's writes", pages);
    strcpy(pages + PAGE, "own page");
    strcpy(pages + 4 * PAGE, "own page");
    in_child(write_all, "by other");
    show("after own stores", pages);

    // A child has copies of the pages, which show the file too.
    int ready[2], asks[2];
    pipe(ready), pipe(asks);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        char byte;
        strcpy(pages + 2 * PAGE, "of child");
        char *more = map();
        show("a child's new mapping", more);
        write(ready[1], "", 1);
        read(asks[0], &byte, 1);
        show("a child's copies", pages);
        show("a child's new mapping", more);
        _exit(0);
    }
    char byte;
    read(ready[0], &byte, 1);
    write_all("by maker");
    write(asks[1], "", 1);
    waitpid(child, NULL, 0);
    show("of the parent", pages);

    // Protected pages, moved pages, and a part of a page.
    char *some = map();
    show("mapped again", some);
    mprotect(some, PAGES * PAGE, PROT_READ);
    some = mremap(some, PAGES * PAGE, 2 * PAGES * PAGE, MREMAP_MAYMOVE);
    in_child(write_all, "at last.");
    show("protected and moved", some);
    unlink(name);
}
