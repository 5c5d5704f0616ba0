/* Handlers of a sent signal, of a wild pointer, and with a mask; then a signal kills the program. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static volatile sig_atomic_t seen;
static sigjmp_buf back;
static void count(int number) { seen = seen * 100 + number; }
static void caught(int number, siginfo_t *info, void *context) {
    (void)info, (void)context;
    seen = seen * 100 + number;
    siglongjmp(back, 1);
}
int main(void) {
    signal(SIGUSR1, count);
    raise(SIGUSR1);
    struct sigaction action = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    for (int i = 0; i < 2; i++)
        if (sigsetjmp(back, 1) == 0) *(volatile int *)8 = 1;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1);
    int before = seen;
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    printf("%d %d\n", before, (int)seen);
    return 0;
}
