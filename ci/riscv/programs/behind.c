/* Accesses behind the end of a mapped file: zeros in its last page, then SIGBUS until the file grows. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static sigjmp_buf back;
static volatile int code;
static void fault(int number, siginfo_t *info, void *context) {
    (void)context;
    code = info->si_code;
    siglongjmp(back, number);
}
static int look(char *at, int write) {
    int number = sigsetjmp(back, 1);
    if (number) return -(10 * number + code);
    if (write) *(volatile char *)at = 7;
    return *(volatile char *)at;
}
int main(void) {
    struct sigaction action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGSEGV, &action, NULL);
    int file = memfd_create("short", 0);
    if (ftruncate(file, 100) != 0 || pwrite(file, "text", 4, 96) != 4) return 1;
    for (int kind = MAP_SHARED; kind <= MAP_PRIVATE; kind++) {
        char *at = mmap(NULL, 16384, PROT_READ | PROT_WRITE, kind, file, 0);
        printf("%d %d %d %d %d\n", look(at + 96, 0), look(at + 100, 0), look(at + 4095, 1),
               look(at + 4096, 0), look(at + 12288, 1));
        if (ftruncate(file, 8192) != 0 || pwrite(file, "more", 4, 5000) != 4) return 1;
        printf("%d %d %d\n", look(at + 5000, 0), look(at + 8191, 1), look(at + 8192, 1));
        char *none = mmap(NULL, 4096, PROT_READ | PROT_WRITE, kind, file, 8192);
        printf("%d %d %zd\n", none != MAP_FAILED, look(none, 0), write(1, none, 4));
        munmap(at, 16384);
        if (ftruncate(file, 100) != 0) return 1;
    }
    char *own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (pwrite(file, "TEXT", 4, 96) != 4) return 1;
    printf("%.4s\n", own + 96);
    return 0;
}
