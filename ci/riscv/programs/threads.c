/* Threads with mutex, condition, barrier, semaphore, read-write lock and thread-local storage. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 12 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t slots;
static long turn, sum, shared;
static _Atomic long count;
static __thread long mine;
static void *body(void *argument) {
    long me = (long)argument;
    for (int round = 0; round < 50; round++) {
        pthread_mutex_lock(&mutex);
        while (turn != me) pthread_cond_wait(&changed, &mutex);
        turn = (turn + 1) % N;
        sum = (sum * 7 + me) % 1000003;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&mutex);
        mine += me;
        count++;
        sem_wait(&slots);
        pthread_rwlock_wrlock(&lock);
        shared += 1;
        pthread_rwlock_unlock(&lock);
        sem_post(&slots);
        if (round % 10 == 0) pthread_barrier_wait(&barrier);
    }
    return (void *)mine;
}
int main(void) {
    pthread_t thread[N];
    pthread_barrier_init(&barrier, NULL, N);
    sem_init(&slots, 0, 3);
    long total = 0;
    for (long i = 0; i < N; i++) pthread_create(&thread[i], NULL, body, (void *)i);
    for (int i = 0; i < N; i++) {
        void *result;
        pthread_join(thread[i], &result);
        total += (long)result;
    }
    printf("%ld %ld %ld %ld\n", sum, (long)count, shared, total);
    return 0;
}
