// A handler that needs a megabyte of stack runs every 2 ms during regions.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile sig_atomic_t calls;

static void handle(int signal) {
    char report[1 << 20];
    memset(report, signal, sizeof report);
    __asm__ volatile("" ::"r"(report) : "memory");
    calls++;
}

int main(void) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    struct itimerval every = {{0, 2000}, {0, 2000}};
    sigaction(SIGALRM, &action, 0);
    setitimer(ITIMER_REAL, &every, 0);
    while (calls < 50) {
#pragma omp parallel
        {
            for (volatile int round = 0; round < 20000; round++)
                ;
#pragma omp barrier
            for (volatile int round = 0; round < 5000; round++)
                ;
        }
    }
    puts("handled");
    return 0;
}
