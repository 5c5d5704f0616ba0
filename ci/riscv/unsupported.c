/* What ends a run with an error: `ci/riscv.sh errors` looks for the lines that say "here". */
#include <stdlib.h>
#include <unistd.h>
static __attribute__((noinline)) void call(void) {
    syscall(180, "", 0, 0, 0); /* here: mq_open */
}
static __attribute__((noinline)) void bits(void) {
    __asm__ volatile("unimp"); /* here */
}
static __attribute__((noinline)) void wild(void (*volatile where)(void)) {
    where(); /* here */
}
int main(int argc, char **argv) {
    switch (argc > 1 ? atoi(argv[1]) : 0) {
    case 0: call(); break;
    case 1: bits(); break;
    default: wild((void (*)(void))(unsigned long)argv[1][0]);
    }
    return 0;
}
