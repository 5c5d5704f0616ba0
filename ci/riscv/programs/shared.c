/* A shared mapping of a file: writes to its pages, and writes to the file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
    char name[] = "/tmp/manycore-map-XXXXXX";
    int f = mkstemp(name);
    if (ftruncate(f, 10000))
        return 1;
    char *a = mmap(0, 10000, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
    if (a == MAP_FAILED) {
        perror("mmap");
        return 2;
    }
    strcpy(a + 5000, "through the map");
    char b[32] = {0};
    pread(f, b, 31, 5000);
    puts(b);
    if (pwrite(f, "by write", 9, 9000) != 9)
        return 3;
    puts(a + 9000);
    char *c = mmap(0, 4096, PROT_READ, MAP_SHARED, f, 4096);
    strcpy(a + 5000, "seen twice");
    puts(c + 904);
    msync(a, 10000, MS_SYNC);
    munmap(a, 10000);
    memset(b, 0, sizeof b);
    pread(f, b, 10, 5000);
    puts(b);
    struct stat st;
    fstat(f, &st);
    printf("%ld\n", (long)st.st_size);
    close(f);
    unlink(name);
    return 0;
}
