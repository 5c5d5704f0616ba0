/* mremap of an old length of 0 maps shared memory a second time. qemu-riscv64 7.2 refuses it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static void try(const char *what, char *old, size_t length, int flags, void *to) {
    char *again = mremap(old, 0, length, flags, to);
    if (again == MAP_FAILED) {
        printf("%s: error %d\n", what, errno);
        return;
    }
    strcpy(old, "by the old address");
    strcpy(again + 4096 + 100, "by the new address");
    pid_t child = fork();
    if (child == 0) {
        strcpy(again + 200, "by a child");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    printf("%s: %s, %s, %s, %d\n", what, again, old + 4096 + 100, old + 200, to ? again == to : again != old);
    munmap(old, 2 * 4096);
    printf("%s\n", again);
    munmap(again, length);
}
static char *map(int flags, int file) {
    return mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, flags, file, 0);
}
int main(void) {
    int file = memfd_create("file", 0);
    ftruncate(file, 2 * 4096);
    try("file", map(MAP_SHARED, file), 2 * 4096, MREMAP_MAYMOVE, NULL);
    try("shared", map(MAP_SHARED | MAP_ANONYMOUS, -1), 2 * 4096, MREMAP_MAYMOVE, NULL);
    char *place = mmap(NULL, 4 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    try("fixed", map(MAP_SHARED | MAP_ANONYMOUS, -1), 2 * 4096, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    try("private", map(MAP_PRIVATE | MAP_ANONYMOUS, -1), 2 * 4096, MREMAP_MAYMOVE, NULL);
    try("private file", map(MAP_PRIVATE, file), 2 * 4096, MREMAP_MAYMOVE, NULL);
    try("may not move", map(MAP_SHARED | MAP_ANONYMOUS, -1), 2 * 4096, 0, NULL);
    place = map(MAP_SHARED | MAP_ANONYMOUS, -1);
    try("to itself", place, 2 * 4096, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    return 0;
}
