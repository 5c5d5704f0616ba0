/* Mutexes of each kind, read-write locks, spin locks, timed waits for conditions, once, keys. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
enum { N = 8, ROUNDS = 200 };
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, recursive, checked;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static pthread_cond_t room = PTHREAD_COND_INITIALIZER, item = PTHREAD_COND_INITIALIZER;
static int initialised, destroyed, list[16], head, tail, torn;
static long pair[2], spun, taken;
static __thread long local = 5;
static void initialise(void) { initialised++; }
static void destroy(void *value) { __atomic_add_fetch(&destroyed, (int)(long)value, 5); }
static void put(int value) {
    pthread_mutex_lock(&plain);
    while (head - tail == 16) pthread_cond_wait(&room, &plain);
    list[head++ % 16] = value;
    pthread_cond_signal(&item);
    pthread_mutex_unlock(&plain);
}
static int get(void) {
    pthread_mutex_lock(&plain);
    while (head == tail) pthread_cond_wait(&item, &plain);
    int value = list[tail++ % 16];
    pthread_cond_signal(&room);
    pthread_mutex_unlock(&plain);
    return value;
}
static void *body(void *argument) {
    long me = (long)argument;
    pthread_once(&once, initialise);
    pthread_setspecific(key, (void *)(me + 1));
    for (int i = 0; i < ROUNDS; i++) {
        if (me % 2) put(i);
        else __atomic_add_fetch(&taken, get(), __ATOMIC_RELAXED);
        if (i % 8 == me) {
            pthread_rwlock_wrlock(&table);
            pair[0]++, pair[1]--;
            pthread_rwlock_unlock(&table);
        } else {
            pthread_rwlock_rdlock(&table);
            if (pair[0] + pair[1]) __atomic_add_fetch(&torn, 1, __ATOMIC_RELAXED);
            pthread_rwlock_unlock(&table);
        }
        pthread_spin_lock(&spin);
        spun += local++;
        pthread_spin_unlock(&spin);
        pthread_mutex_lock(&recursive);
        pthread_mutex_lock(&recursive);
        pthread_mutex_unlock(&recursive);
        pthread_mutex_unlock(&recursive);
    }
    return NULL;
}
int main(void) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checked, &kind);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_key_create(&key, destroy);
    pthread_t thread[N];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    for (long i = 0; i < N; i++) pthread_create(&thread[i], &small, body, (void *)i);
    for (int i = 0; i < N; i++) pthread_join(thread[i], NULL);
    printf("%d %d %d %ld %ld %ld %ld\n", initialised, destroyed, torn, pair[0], spun, taken, local);
    pthread_mutex_lock(&checked);
    printf("%d %d\n", pthread_mutex_lock(&checked) == EDEADLK,
           pthread_mutex_trylock(&checked) == EBUSY);
    pthread_mutex_unlock(&checked);
    printf("%d\n", pthread_mutex_unlock(&checked) == EPERM);
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += 1000000;
    soon.tv_sec += soon.tv_nsec / 1000000000, soon.tv_nsec %= 1000000000;
    pthread_mutex_lock(&plain);
    int late = pthread_cond_timedwait(&item, &plain, &soon);
    pthread_mutex_unlock(&plain);
    pthread_rwlock_rdlock(&table);
    int busy = pthread_rwlock_timedwrlock(&table, &soon);
    printf("%d %d %d\n", late == ETIMEDOUT, busy == ETIMEDOUT, pthread_rwlock_tryrdlock(&table));
    pthread_exit((void *)0);
}
