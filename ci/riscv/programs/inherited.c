// Processes share mutexes with inheritance and without: they wait for each other's, also if the owner is another process.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    pthread_mutex_t mutex;
    pthread_barrier_t barrier;
    int count;
    volatile unsigned word;
} *shared;

int main(void) {
    shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t of_barrier;
    pthread_barrierattr_init(&of_barrier);
    pthread_barrierattr_setpshared(&of_barrier, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &of_barrier, 4);
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&shared->mutex, &kind);
    for (int i = 0; i < 4; i++)
        if (!fork()) {
            pthread_barrier_wait(&shared->barrier);
            for (int k = 0; k < 200; k++) {
                if (pthread_mutex_lock(&shared->mutex))
                    _exit(1);
                shared->count++;
                pthread_mutex_unlock(&shared->mutex);
            }
            _exit(0);
        }
    int failed = 0, status;
    while (wait(&status) > 0)
        failed += status != 0;
    printf("count %d, failed %d\n", shared->count, failed);

    // The owner ends while another process waits.
    static const char *const ways[] = {"exit", "kill"};
    for (int i = 0; i < 2; i++) {
        shared->word = 0;
        pid_t owner = fork();
        if (!owner) {
            syscall(SYS_futex, &shared->word, FUTEX_LOCK_PI, 0, 0, 0, 0);
            while (!(shared->word & FUTEX_WAITERS))
                usleep(100);
            if (i)
                kill(getpid(), SIGKILL);
            _exit(0);
        }
        while (!shared->word)
            usleep(100);
        long taken = syscall(SYS_futex, &shared->word, FUTEX_LOCK_PI, 0, 0, 0, 0);
        int own = (shared->word & FUTEX_TID_MASK) == getpid(), died = (shared->word & FUTEX_OWNER_DIED) != 0;
        printf("%s: %ld, own %d, died %d\n", ways[i], taken, own, died);
        waitpid(owner, &status, 0);
    }
    return 0;
}
