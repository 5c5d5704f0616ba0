/* mmap: private and shared pages of a file, changes of rights, pages at a fixed address. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static sigjmp_buf back;
static void fault(int number) { siglongjmp(back, number); }
static int may(char *at, int write) {
    int number = sigsetjmp(back, 1);
    if (number) return -number;
    if (write) *(volatile char *)at = 1;
    else (void)*(volatile char *)at;
    return 1;
}
int main(void) {
    signal(SIGSEGV, fault);
    char name[] = "/tmp/manycore-mapping-XXXXXX";
    int file = mkstemp(name);
    for (int i = 0; i < 3000; i++) dprintf(file, "%05d\n", i);
    char *text = mmap(NULL, 18000, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    char *view = mmap(NULL, 18000, PROT_READ, MAP_SHARED, file, 0);
    char *later = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 8192);
    memcpy(text + 6, "HELLO", 5);
    printf("%.12s %.12s %.5s %d\n", text, view, later, memcmp(text + 4096, view + 4096, 13904));
    char word[6] = "";
    printf("%d %s\n", (int)pread(file, word, 5, 6), word);
    unlink(name);
    close(file);
    char *page = mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(page, 7, 5 * 4096);
    mprotect(page + 4096, 4096, PROT_READ);
    mprotect(page + 3 * 4096, 4096, PROT_NONE);
    for (int i = 0; i < 5; i++)
        printf("%d %d, ", may(page + 4096 * i + 5, 0), may(page + 4096 * i + 5, 1));
    munmap(page + 2 * 4096, 4096);
    printf("%d ", may(page + 2 * 4096, 0));
    char *fixed = mmap(page + 2 * 4096, 4096, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    printf("%d %d\n", fixed == page + 2 * 4096, *fixed);
    page[0] = 9;
    madvise(page, 4096, MADV_DONTNEED);
    char *grown = mremap(page + 4 * 4096, 4096, 64 * 4096, MREMAP_MAYMOVE);
    printf("%d %d %d\n", page[0], grown[9], grown[63 * 4096]);
    errno = 0;
    void *none = mmap((void *)1, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    printf("%d %d\n", none == MAP_FAILED, errno == EINVAL);
    uint32_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int sum = 0;
    for (int i = 1; i < 4; i++) {
        mprotect(code, 4096, PROT_READ | PROT_WRITE);
        code[0] = 0x00000513u | (uint32_t)i << 20; /* li a0, i */
        code[1] = 0x00008067u;                     /* ret */
        mprotect(code, 4096, PROT_READ | PROT_EXEC);
        __builtin___clear_cache((char *)code, (char *)code + 8);
        sum = sum * 10 + ((int (*)(void))code)();
    }
    printf("%d\n", sum);
    return 0;
}
