/* One file in several processes: some map it, others read it and write to it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static char name[] = "/tmp/manycore-sharing-XXXXXX";
static int file;
static char text[64];
static const char *at(off_t place) {
    memset(text, 0, sizeof text);
    pread(file, text, 20, place);
    return text;
}
static char *map(int rights) {
    return mmap(NULL, 3 * 4096, rights, MAP_SHARED, file, 0);
}
/* A process that was made before the first mapping starts the children. */
static int asks[2], answers[2];
static void serve(void) {
    void (*work)(int);
    close(asks[1]);
    while (read(asks[0], &work, sizeof work) == sizeof work) {
        pid_t number = fork();
        if (number == 0) {
            work(open(name, O_RDWR));
            fflush(stdout);
            _exit(0);
        }
        waitpid(number, NULL, 0);
        write(answers[1], "", 1);
    }
    _exit(0);
}
static void child(void (*work)(int)) {
    char answer;
    fflush(stdout);
    write(asks[1], &work, sizeof work);
    read(answers[0], &answer, 1);
}
static void writes(int own) { pwrite(own, "by a child", 10, 100); }
static void appends(int own) {
    lseek(own, 4096, SEEK_SET);
    write(own, "at a place", 10);
}
static void reads(int own) {
    char found[32] = "";
    pread(own, found, 20, 5000);
    printf("the child reads %s\n", found);
}
static void sends(int own) {
    int copy = memfd_create("copy", 0);
    off_t from = 5000;
    sendfile(copy, own, &from, 20);
    char found[32] = "";
    pread(copy, found, 20, 0);
    from = 0;
    sendfile(own, copy, &from, 8);
    printf("the child sends %s\n", found);
}
static void maps(int own) {
    char *here = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, own, 4096);
    printf("the child maps %s\n", here + 904);
    strcpy(here + 2000, "mapped by the child");
}
static void synchronises(int own) {
    char *here = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, own, 8192);
    strcpy(here, "synchronised");
    msync(here, 4096, MS_SYNC);
    kill(getpid(), 9);
}
static void empties(int own) {
    close(open(name, O_RDWR | O_TRUNC));
    ftruncate(own, 3 * 4096);
    pwrite(own, "after the end", 13, 10);
}
int main(void) {
    file = mkstemp(name);
    ftruncate(file, 3 * 4096);
    pipe(asks);
    pipe(answers);
    if (fork() == 0) serve();
    /* A mapping without the right to write sees writes too. */
    int reader = open(name, O_RDONLY);
    char *view = mmap(NULL, 3 * 4096, PROT_READ, MAP_SHARED, reader, 0);
    printf("%d, ", view[100]);
    pwrite(file, "by the reader's writer", 23, 100);
    printf("%s, ", view + 100);
    child(writes);
    printf("%s\n", view + 100);
    munmap(view, 3 * 4096);
    close(reader);
    char *here = map(PROT_READ | PROT_WRITE);
    strcpy(here + 200, "by the parent");
    memset(here + 100, 0, 30);
    child(writes);
    printf("%s, %s, ", here + 100, here + 200);
    printf("%s, ", at(100));
    printf("%s\n", at(200));
    child(appends);
    printf("%s\n", here + 4096);
    strcpy(here + 5000, "stored by a parent");
    child(reads);
    child(sends);
    child(maps);
    printf("%s, ", here + 6096);
    printf("%s\n", at(6096));
    child(synchronises);
    printf("%s\n", here + 8192);
    munmap(here, 3 * 4096);
    printf("%s, ", at(100));
    printf("%s, ", at(200));
    printf("%s, ", at(6096));
    printf("%s\n", at(8192));
    /* No mapping is left, so only the file counts. */
    pwrite(file, "between", 8, 300);
    here = map(PROT_READ | PROT_WRITE);
    printf("%s, ", here + 300);
    child(empties);
    printf("%d %d %s\n", here[100], here[8192], here + 10);
    munmap(here, 3 * 4096);
    close(file);
    unlink(name);
    /* Files that follow one another may get the same number. */
    int wrong = 0;
    for (int lap = 0; lap < 40; lap++) {
        file = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
        ftruncate(file, 512 * 4096);
        here = mmap(NULL, 512 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        for (int place = 0; place < 512 * 4096; place += 1024) wrong += here[place] != 0;
        memset(here, lap + 1, 512 * 4096);
        munmap(here, 512 * 4096);
        close(file);
        unlink(name);
    }
    close(asks[1]);
    wait(NULL);
    printf("%d wrong\n", wrong);
    return 0;
}
