/* Handlers that run once, signals that cannot be handled or blocked, and then a fault in the
 * handler of faults. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile int count;
static void once(int number) { (void)number, count++; }
static void fault(int number) {
    if (++count > 9) _exit(9);
    if (write(1, "in its handler\n", 15) == 15) *(volatile int *)(long)number = 1;
}
int main(void) {
    struct sigaction action = {.sa_handler = once, .sa_flags = SA_RESETHAND}, now;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    sigaction(SIGUSR1, NULL, &now);
    printf("%d %d\n", count, now.sa_handler == SIG_DFL);
    action.sa_flags = 0;
    for (int number = 1; number < 33; number++)
        if (sigaction(number, &action, NULL) != 0) printf("%d: %d\n", number, errno == EINVAL);
    printf("%d\n", sigaction(SIGKILL, NULL, &now));
    sigset_t set;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigprocmask(SIG_BLOCK, NULL, &set);
    printf("%d %d %d\n", sigismember(&set, SIGKILL), sigismember(&set, SIGSTOP),
           sigismember(&set, SIGSEGV));
    signal(SIGSEGV, SIG_IGN);
    sigdelset(&set, SIGSEGV);
    sigprocmask(SIG_SETMASK, &set, NULL);
    raise(SIGSEGV);
    printf("an ignored signal\n");
    fflush(stdout);
    count = 0;
    signal(SIGSEGV, fault);
    *(volatile int *)(long)count = 1;
    return 0;
}
