/* Jumps out of handlers, timers that interrupt a loop, contexts, a signal that kills the program. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>
static sigjmp_buf back;
static volatile int n;
static char *volatile wild = (char *)16;
static void segv(int s, siginfo_t *i, void *c) {
    (void)c;
    n++;
    siglongjmp(back, s + (i->si_addr == (void *)16));
}
static void tick(int s) {
    (void)s;
    n += 100;
}
static ucontext_t m, u;
static void co(void) {
    for (int i = 0; i < 3; i++) {
        printf("co %d\n", i);
        swapcontext(&u, &m);
    }
}
int main(void) {
    struct sigaction sa = {.sa_sigaction = segv, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &sa, 0);
    sigaction(SIGFPE, &sa, 0);
    for (int i = 0; i < 3; i++) {
        int r = sigsetjmp(back, 1);
        if (!r) {
            *(volatile int *)wild = 1;
        } else
            printf("%d %d\n", r, n);
    }
    volatile long ps = sysconf(_SC_PAGESIZE);
    char *volatile pg = mmap(0, 2 * ps, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset((char *)pg, 1, 2 * ps);
    mprotect(pg + ps, ps, PROT_READ);
    if (!sigsetjmp(back, 1))
        pg[ps] = 2;
    else
        printf("ro %d\n", pg[ps]);
    struct sigaction t = {.sa_handler = tick};
    sigaction(SIGALRM, &t, 0);
    struct itimerval it = {{0, 2000}, {0, 2000}};
    setitimer(ITIMER_REAL, &it, 0);
    while (n < 500)
        ;
    memset(&it, 0, sizeof it);
    setitimer(ITIMER_REAL, &it, 0);
    puts("ticks");
    static char st[65536];
    getcontext(&u);
    u.uc_stack.ss_sp = st;
    u.uc_stack.ss_size = sizeof st;
    u.uc_link = &m;
    makecontext(&u, co, 0);
    for (int i = 0; i < 4; i++)
        swapcontext(&m, &u);
    puts("end");
    raise(SIGUSR2);
    return 0;
}
