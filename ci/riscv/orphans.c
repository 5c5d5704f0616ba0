// Orphans go to an ancestor that takes them, and may ask for a signal at their parent's end.
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    int status;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t parent = getpid();
    if (!fork()) {
        if (!fork()) {
            while (getppid() != parent)
                usleep(100);
            _exit(9);
        }
        _exit(1);
    }
    int sum = 0;
    while (wait(&status) > 0)
        sum += WEXITSTATUS(status);
    printf("sum %d\n", sum);
    pid_t middle = fork();
    if (!middle) {
        if (!fork()) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                pause();
        }
        usleep(1000);
        _exit(1);
    }
    waitpid(middle, &status, 0);
    wait(&status);
    printf("killed by %d\n", WTERMSIG(status));
    return 0;
}
