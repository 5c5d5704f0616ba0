// Orphans go to an ancestor that takes them, and may ask for a signal at their parent's end.
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Begins a process that ends and leaves an ended child.
static pid_t leave_zombie(void) {
    pid_t middle = fork();
    if (!middle) {
        signal(SIGCHLD, SIG_DFL);
        pid_t child = fork();
        if (!child)
            _exit(4);
        siginfo_t info;
        waitid(P_PID, child, &info, WEXITED | WNOWAIT);
        _exit(2);
    }
    return middle;
}

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

    // The first signal is that of the ended orphan, the second is that of its parent.
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ends, 0);
    struct timespec no_time = {0, 0};
    while (sigtimedwait(&ends, 0, &no_time) > 0)
        ;
    middle = leave_zombie();
    siginfo_t info;
    sigwaitinfo(&ends, &info);
    printf("by the orphan: %d\n", info.si_pid != middle);
    sum = 0;
    while (wait(&status) > 0)
        sum += WEXITSTATUS(status);
    printf("sum %d\n", sum);

    // This process ignores its children, so the orphan goes.
    signal(SIGCHLD, SIG_IGN);
    leave_zombie();
    printf("no child: %d\n", wait(&status));
    return 0;
}
