/* Code that is overwritten and flushed, and code that is written through another mapping of its file. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
static void put(uint32_t *at, uint32_t number) {
    at[0] = 0x00000513u | number << 20; /* li a0, number */
    at[1] = 0x00008067u;                /* ret */
}
static int run(uint32_t *at) {
    __builtin___clear_cache((char *)at, (char *)at + 8);
    return ((int (*)(void))at)();
}
int main(void) {
    int all = PROT_READ | PROT_WRITE | PROT_EXEC;
    uint32_t *own = mmap(NULL, 4096, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int sum = 0;
    for (uint32_t i = 1; i <= 1000; i++) {
        put(own, i);
        sum += run(own);
    }
    printf("%d\n", sum);
    int file = memfd_create("code", 0);
    if (ftruncate(file, 4096) != 0) return 1;
    uint32_t *write = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    uint32_t *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
    put(write, 42);
    printf("%d\n", run(code));
    return 0;
}
