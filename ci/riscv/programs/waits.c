/* Signals end waits in the kernel: handlers that return to the call or do not, cancellation,
   waits for signals, timers, pipes; mutexes of threads that have ended. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;
static pthread_t first;
static sem_t begun;

static void count(int signal) {
    (void)signal;
    handled++;
}

static void handle(int flags) {
    struct sigaction action = {.sa_handler = count, .sa_flags = flags};
    sigaction(SIGUSR1, &action, 0);
}

/* Sends the first thread signals until it has handled one. */
static void *disturb(void *argument) {
    int before = handled;
    while (handled == before) {
        usleep(2000);
        pthread_kill(first, SIGUSR1);
        usleep(2000);
    }
    return argument;
}

static pthread_t disturber(void) {
    pthread_t thread;
    pthread_create(&thread, 0, disturb, 0);
    return thread;
}

static void interrupted(void) {
    handle(0);
    pthread_t thread = disturber();
    struct timespec time = {5, 0}, rest = {0, 0};
    int result = nanosleep(&time, &rest);
    printf("nap: %d, %d, rest %d\n", result, errno == EINTR, rest.tv_sec == 4);
    pthread_join(thread, 0);

    sem_t never;
    sem_init(&never, 0, 0);
    thread = disturber();
    result = sem_wait(&never);
    printf("semaphore: %d, %d\n", result, errno == EINTR);
    pthread_join(thread, 0);

    thread = disturber();
    result = pause();
    printf("pause: %d, %d\n", result, errno == EINTR);
    pthread_join(thread, 0);

    sigset_t usual, closed;
    sigemptyset(&closed);
    sigaddset(&closed, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &closed, &usual);
    int before = handled;
    pthread_kill(first, SIGUSR1);
    sigset_t pending;
    sigpending(&pending);
    printf("pending: %d, %d\n", sigismember(&pending, SIGUSR1), handled - before);
    result = sigsuspend(&usual);
    printf("suspend: %d, %d, %d\n", result, errno == EINTR, handled - before);
    pthread_sigmask(SIG_SETMASK, 0, &closed);
    printf("closed again: %d\n", sigismember(&closed, SIGUSR1));
    pthread_sigmask(SIG_SETMASK, &usual, 0);
}

static int ends[2];

static void *write_late(void *argument) {
    disturb(0);
    for (int at = 0; at < 1000; at++) {
        char line[16];
        write(ends[1], line, snprintf(line, sizeof line, "line %d\n", at));
    }
    close(ends[1]);
    return argument;
}

static void pipes(void) {
    handle(SA_RESTART);
    pipe(ends);
    pthread_t thread;
    pthread_create(&thread, 0, write_late, 0);
    char bytes[100];
    long total = 0, got;
    unsigned sum = 0;
    while ((got = read(ends[0], bytes, sizeof bytes)) > 0) {
        total += got;
        for (long at = 0; at < got; at++)
            sum = sum * 31 + bytes[at];
    }
    pthread_join(thread, 0);
    printf("pipe: %ld, %ld bytes, %u\n", got, total, sum);
    close(ends[0]);
    pipe2(ends, O_NONBLOCK);
    got = read(ends[0], bytes, 1);
    printf("empty: %ld, %d\n", got, errno == EAGAIN);
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    got = write(ends[1], bytes, 1);
    printf("broken: %ld, %d\n", got, errno == EPIPE);
}

static void *take(void *set) {
    for (int at = 0; at < 4; at++) {
        siginfo_t info;
        int number = sigwaitinfo(set, &info);
        printf("taken: %d, %d\n", number - SIGRTMIN, info.si_value.sival_int);
    }
    return 0;
}

static void taken(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 2);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_t thread;
    pthread_create(&thread, 0, take, &set);
    for (int at = 0; at < 4; at++)
        pthread_sigqueue(thread, SIGRTMIN + 2, (union sigval){at});
    pthread_join(thread, 0);
    struct timespec time = {0, 1000000};
    int result = sigtimedwait(&set, 0, &time);
    printf("nothing: %d, %d\n", result, errno == EAGAIN);
    int number = 0;
    raise(SIGUSR2);
    sigwait(&set, &number);
    printf("raised: %d\n", number == SIGUSR2);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void cleaned(void *name) {
    printf("cancelled: %s\n", (char *)name);
}

static void *waits(void *name) {
    pthread_cleanup_push(cleaned, name);
    switch (*(char *)name) {
    case 'c':
        pthread_mutex_lock(&lock);
        pthread_cleanup_push((void (*)(void *))pthread_mutex_unlock, &lock);
        sem_post(&begun);
        for (;;)
            pthread_cond_wait(&never, &lock);
        pthread_cleanup_pop(0);
    case 'n':
        sem_post(&begun);
        sleep(1000);
        break;
    case 's': {
        sem_t semaphore;
        sem_init(&semaphore, 0, 0);
        sem_post(&begun);
        sem_wait(&semaphore);
    }
    }
    pthread_cleanup_pop(0);
    return 0;
}

static void cancelled(void) {
    char *names[] = {"condition", "nap", "semaphore"};
    for (int at = 0; at < 3; at++) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, 0, waits, names[at]);
        sem_wait(&begun);
        usleep(3000);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        printf("%d\n", result == PTHREAD_CANCELED);
    }
}

static pthread_mutex_t robust;

static void *leave_locked(void *argument) {
    pthread_mutex_lock(&robust);
    return argument;
}

static void died(void) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &kind);
    pthread_t thread;
    pthread_create(&thread, 0, leave_locked, 0);
    pthread_join(thread, 0);
    printf("owner died: %d\n", pthread_mutex_lock(&robust) == EOWNERDEAD);
    pthread_mutex_consistent(&robust);
    pthread_mutex_unlock(&robust);
    printf("again: %d\n", pthread_mutex_lock(&robust));
}

int main(void) {
    setvbuf(stdout, 0, _IONBF, 0);
    first = pthread_self();
    sem_init(&begun, 0, 0);
    interrupted();
    pipes();
    taken();
    cancelled();
    died();
    signal(SIGALRM, count);
    int before = handled;
    struct itimerval every = {{0, 2000}, {0, 2000}};
    setitimer(ITIMER_REAL, &every, 0);
    while (handled < before + 3)
        pause();
    printf("alarms\n");
    return 0;
}
