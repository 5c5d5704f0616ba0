/* mremap: a mapping that grows in steps, shrinks and moves to a given address. realloc uses mremap. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static const int rights = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
static char *grow(char *at, size_t old, size_t new, int flags) {
    char *to = mremap(at, old, new, flags);
    printf("%zu to %zu: %s\n", old >> 10, new >> 10, to == MAP_FAILED ? strerror(errno) : "moved or not");
    return to;
}
int main(void) {
    char *room = mmap(NULL, 1 << 24, PROT_NONE, flags, -1, 0);
    munmap(room, 1 << 24);
    char *at = mmap(room, 8192, rights, flags, -1, 0);
    strcpy(at, "first"), strcpy(at + 4096, "second");
    for (size_t size = 8192; size < 1 << 20; size *= 2) at[size - 1] = 'x', at = grow(at, size, 2 * size, 0);
    printf("%s %s %d %c\n", at, at + 4096, at[1 << 19], at[(1 << 19) - 1]);
    at = grow(at, 1 << 20, 16384, 0);
    at = grow(at, 16384, 65536, 0);
    printf("%s %s %d\n", at, at + 4096, at[20000]);
    char *full = mmap(at + 65536, 4096, rights, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    printf("%d\n", full == at + 65536);
    grow(at, 65536, 131072, 0);
    at = grow(at, 65536, 131072, MREMAP_MAYMOVE);
    printf("%s %s\n", at, at + 4096);
    /* Different rights divide a mapping; equal rights join it again. */
    mprotect(at + 8192, 4096, PROT_READ);
    grow(at, 131072, 262144, MREMAP_MAYMOVE);
    mprotect(at + 8192, 4096, rights);
    at = grow(at, 131072, 262144, MREMAP_MAYMOVE);
    char *to = mmap(NULL, 8192, PROT_NONE, flags, -1, 0);
    at = mremap(at, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    printf("%d %s %s\n", at == to, at, at + 4096);
    at = mremap(at, 8192, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, to + 4096);
    printf("%d\n", errno == EINVAL);
    size_t size = 1 << 18;
    char *array = malloc(size);
    for (memset(array, 'a', size); size < 8 << 20; size += 1 << 18) {
        array = realloc(array, size + (1 << 18));
        array[size] = 'b';
    }
    printf("%c%c%c %zu\n", array[0], array[1 << 17], array[7 << 20], size);
    return 0;
}
