// Threads that are stopped while their loads are under way read the right values afterwards.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 1 << 20, LINE = 64 };
static char cold[BYTES];

static void *walks(void *data) {
    for (unsigned place = 1;; place = place * 1103515245 + 12345) {
        volatile char *byte = &cold[place >> 8 & (BYTES - LINE)];
        if (*byte != 7)
            _exit(9);
    }
    return data;
}

int main(void) {
    memset(cold, 7, BYTES);
    pid_t child = fork();
    if (!child) {
        pthread_t threads[3];
        for (int at = 0; at < 3; at++)
            pthread_create(&threads[at], 0, walks, 0);
        usleep(6000);
        _exit(5);
    }
    int status;
    for (int stop = 0; stop < 20; stop++) {
        usleep(200 + 7 * stop);
        kill(child, SIGSTOP);
        waitpid(child, &status, WUNTRACED);
        kill(child, SIGCONT);
    }
    waitpid(child, &status, 0);
    printf("status %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}
