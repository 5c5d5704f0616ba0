/* Mutexes with priority inheritance, wake-ups by bits, and wake-ups that change another word. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t mutex;
static long sum;
static unsigned done, first, second;
static void *adder(void *unused) {
    for (int round = 0; round < 200; round++) {
        pthread_mutex_lock(&mutex);
        sum++;
        if (round % 50 == 0) sched_yield();
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}
static void *try_it(void *unused) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += (end.tv_nsec += 2000000) / 1000000000, end.tv_nsec %= 1000000000;
    int tried = pthread_mutex_trylock(&mutex), late = pthread_mutex_timedlock(&mutex, &end);
    printf("%d %d\n", tried == EBUSY, late == ETIMEDOUT);
    return unused;
}
static long futex(unsigned *word, int operation, unsigned value, long more, unsigned *other,
                  unsigned bits) {
    return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, more, other, bits);
}
static void *by_bit(void *bit) {
    unsigned own = (unsigned)(long)bit, now;
    while (!((now = __atomic_load_n(&done, __ATOMIC_SEQ_CST)) & own))
        futex(&done, FUTEX_WAIT_BITSET, now, 0, NULL, own);
    return NULL;
}
static void *sleeper(void *word) {
    while (!__atomic_load_n((unsigned *)word, __ATOMIC_SEQ_CST))
        futex(word, FUTEX_WAIT, 0, 0, NULL, 0);
    return NULL;
}
int main(void) {
    pthread_t thread[8];
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    printf("%d %d\n", pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT),
           pthread_mutex_init(&mutex, &kind));
    for (int at = 0; at < 8; at++) pthread_create(&thread[at], NULL, adder, NULL);
    for (int at = 0; at < 8; at++) pthread_join(thread[at], NULL);
    printf("%ld\n", sum);
    pthread_mutex_lock(&mutex), pthread_create(&thread[0], NULL, try_it, NULL);
    pthread_join(thread[0], NULL), pthread_mutex_unlock(&mutex);
    for (long at = 0; at < 4; at++)
        pthread_create(&thread[at], NULL, by_bit, (void *)(1L << at));
    usleep(3000);
    for (int at = 3; at >= 0; at--) {
        __atomic_or_fetch(&done, 1u << at, __ATOMIC_SEQ_CST);
        futex(&done, FUTEX_WAKE_BITSET, 1, 0, NULL, 1u << at);
        pthread_join(thread[at], NULL);
    }
    pthread_create(&thread[0], NULL, sleeper, &first);
    pthread_create(&thread[1], NULL, sleeper, &second), usleep(3000);
    __atomic_store_n(&first, 1, __ATOMIC_SEQ_CST);
    long woken = futex(&first, FUTEX_WAKE_OP, 1, 1, &second,
                       FUTEX_OP(FUTEX_OP_ADD, 7, FUTEX_OP_CMP_EQ, 0));
    pthread_join(thread[0], NULL), pthread_join(thread[1], NULL);
    /* The number of threads that already slept depends on the host. */
    printf("%d %u\n", woken >= 0, second);
    return 0;
}
