/* Barriers, spin locks, read-write locks, recursive mutexes, error-checking mutexes, semaphores,
   waits with a time limit, thread-specific values, cancellation. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#define N 6
static pthread_barrier_t bar;
static pthread_spinlock_t spin;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t rec, chk;
static sem_t sem;
static long a, b, c, serial;
static pthread_key_t key;
static int destroyed;
static void gone(void *v) {
    __atomic_fetch_add(&destroyed, (int)(long)v, __ATOMIC_RELAXED);
}
static void *work(void *arg) {
    long me = (long)arg;
    pthread_setspecific(key, (void *)(me + 1));
    for (int i = 0; i < 100; i++) {
        if (pthread_barrier_wait(&bar) == PTHREAD_BARRIER_SERIAL_THREAD)
            serial++;
        pthread_spin_lock(&spin);
        a++;
        pthread_spin_unlock(&spin);
        if (me < 2) {
            pthread_rwlock_wrlock(&rw);
            b++;
            pthread_rwlock_unlock(&rw);
        } else {
            pthread_rwlock_rdlock(&rw);
            long x = b;
            pthread_rwlock_unlock(&rw);
            (void)x;
        }
        pthread_mutex_lock(&rec);
        pthread_mutex_lock(&rec);
        c++;
        pthread_mutex_unlock(&rec);
        pthread_mutex_unlock(&rec);
        sem_wait(&sem);
        sem_post(&sem);
    }
    return (void *)(me * 2);
}
static void *canc(void *x) {
    pthread_cleanup_push(gone, (void *)100L);
    for (;;)
        pause();
    pthread_cleanup_pop(1);
    return x;
}
int main(void) {
    pthread_barrier_init(&bar, 0, N);
    pthread_spin_init(&spin, 0);
    sem_init(&sem, 0, 2);
    pthread_key_create(&key, gone);
    pthread_mutexattr_t at;
    pthread_mutexattr_init(&at);
    pthread_mutexattr_settype(&at, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&rec, &at);
    pthread_mutexattr_settype(&at, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&chk, &at);
    pthread_t t[N];
    long s = 0;
    for (long i = 0; i < N; i++)
        pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < N; i++) {
        void *r;
        pthread_join(t[i], &r);
        s += (long)r;
    }
    printf("%ld %ld %ld %ld %ld %d\n", a, b, c, serial, s, destroyed);
    pthread_mutex_lock(&chk);
    printf("%d %d\n", pthread_mutex_lock(&chk) == EDEADLK, pthread_mutex_trylock(&chk) == EBUSY);
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_nsec += 3000000;
    if (ts.tv_nsec >= 1000000000) {
        ts.tv_sec++;
        ts.tv_nsec -= 1000000000;
    }
    pthread_mutex_t norm = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&norm);
    printf("%d\n", pthread_mutex_timedlock(&norm, &ts) == ETIMEDOUT);
    sem_t z;
    sem_init(&z, 0, 0);
    clock_gettime(CLOCK_REALTIME, &ts);
    printf("%d\n", sem_timedwait(&z, &ts) == -1 && errno == ETIMEDOUT);
    pthread_rwlock_rdlock(&rw);
    clock_gettime(CLOCK_REALTIME, &ts);
    printf("%d %d\n", pthread_rwlock_timedwrlock(&rw, &ts) == ETIMEDOUT,
           pthread_rwlock_tryrdlock(&rw));
    pthread_t k;
    pthread_create(&k, 0, canc, 0);
    usleep(1000);
    pthread_cancel(k);
    void *r;
    pthread_join(k, &r);
    printf("%d %d\n", r == PTHREAD_CANCELED, destroyed);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    printf("%d\n", pthread_setaffinity_np(pthread_self(), sizeof set, &set));
    pthread_attr_t pa;
    pthread_getattr_np(pthread_self(), &pa);
    void *sa;
    size_t ss;
    pthread_attr_getstack(&pa, &sa, &ss);
    int here;
    printf("%d\n", (char *)&here >= (char *)sa && (char *)&here < (char *)sa + ss);
    clockid_t cl;
    printf("%d\n", pthread_getcpuclockid(pthread_self(), &cl) == 0 && clock_gettime(cl, &ts) == 0);
    return 0;
}
