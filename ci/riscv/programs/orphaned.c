// A group of processes is orphaned by the end of the parent that could let it go on.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEP, HUNG_UP, CONTINUED, CODE, ALIVE, SECOND, WORDS };
static volatile int *words;

static void note(int number, siginfo_t *info, void *context) {
    (void)context;
    words[number == SIGHUP ? HUNG_UP : CONTINUED]++;
    if (number == SIGHUP)
        words[CODE] = info->si_code == SI_KERNEL && info->si_pid == 0;
}
static void await_step(int step) {
    while (words[STEP] < step)
        usleep(100);
}
static void handle(void) {
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
    sigaction(SIGHUP, &action, 0);
    sigaction(SIGCONT, &action, 0);
}

// What the members of the group do. The first of them stops, and then the parent ends.
enum { HANDLES, DIES, RUNS, KINDS };
static void member(int kind) {
    setpgid(0, 0);
    if (kind != DIES)
        handle();
    if (kind == HANDLES && !fork()) {
        // A second member, which runs, gets the signals too.
        words[SECOND] = 1;
        while (!words[CONTINUED] || !words[HUNG_UP])
            usleep(100);
        words[SECOND] = 2;
        _exit(0);
    }
    while (kind == HANDLES && !words[SECOND])
        usleep(100);
    if (kind != RUNS)
        raise(SIGTSTP);
    else
        words[STEP] = 1;
    await_step(2);
    // The group is orphaned now, so only SIGSTOP would stop it.
    raise(SIGTSTP), raise(SIGTTIN), raise(SIGTTOU);
    words[ALIVE] = 1;
    words[STEP] = 3;
    for (;;)
        pause();
}

// A session: its leader is in an orphaned group, and makes a group that is none.
static void session(int kind) {
    setsid();
    raise(SIGTSTP), raise(SIGTTIN), raise(SIGTTOU);
    pid_t child = fork();
    if (!child)
        member(kind);
    int status = 0;
    if (kind != RUNS) {
        waitpid(child, &status, WUNTRACED);
        printf("kind %d: stopped %d by SIGTSTP %d\n", kind, WIFSTOPPED(status),
               WSTOPSIG(status) == SIGTSTP);
    } else {
        await_step(1);
    }
    printf("before: SIGHUP %d, SIGCONT %d\n", words[HUNG_UP], words[CONTINUED]);
    fflush(stdout);
    words[WORDS] = child;
    _exit(0);
}

int main(void) {
    words = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int kind = 0; kind < KINDS; kind++) {
        for (int word = 0; word <= WORDS; word++)
            words[word] = 0;
        fflush(stdout);
        pid_t leader = fork();
        if (!leader)
            session(kind);
        waitpid(leader, 0, 0);
        pid_t child = words[WORDS];
        words[STEP] = 2;
        if (kind == DIES) {
            while (kill(child, 0) == 0)
                usleep(100);
        } else {
            await_step(3);
        }
        usleep(20000);
        printf("after: SIGHUP %d, SIGCONT %d, by the kernel %d, not stopped %d, second %d\n",
               words[HUNG_UP] > 0, words[CONTINUED] > 0, words[CODE], words[ALIVE], words[SECOND]);
        kill(child, SIGKILL);
    }

    // A group that is orphaned by a call, not by an end, gets no signals.
    words[STEP] = 0;
    handle();
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        setpgid(0, 0);
        signal(SIGHUP, SIG_DFL);
        words[STEP] = 1;
        await_step(2);
        raise(SIGTTIN);
        _exit(6);
    }
    await_step(1);
    words[STEP] = 2;
    int status;
    waitpid(child, &status, WUNTRACED);
    printf("with its parent: stopped %d by SIGTTIN %d\n", WIFSTOPPED(status),
           WSTOPSIG(status) == SIGTTIN);
    kill(child, SIGCONT);
    waitpid(child, &status, 0);
    printf("exited with %d\n", WEXITSTATUS(status));
}
