/* Loops that wait: for a flag, in a bounded spin, in a ticket lock, in a sense-reversing barrier. */
#include <pthread.h>
#include <stdatomic.h>
#include <sched.h>
#include <stdio.h>
enum { N = 6 };
static atomic_int next, serving, waiting = N, sense, flag;
static long sum;
static void barrier(int *mine) {
    *mine = !*mine;
    if (atomic_fetch_sub(&waiting, 1) == 1) {
        atomic_store(&waiting, N);
        atomic_store(&sense, *mine);
        return;
    }
    for (;;) {
        for (int spin = 0; spin < 300; spin++)
            if (atomic_load_explicit(&sense, memory_order_acquire) == *mine) return;
        sched_yield();
    }
}
static void *body(void *argument) {
    int mine = 0;
    long me = (long)argument;
    for (int round = 0; round < 40; round++) {
        int ticket = atomic_fetch_add(&next, 1);
        while (atomic_load(&serving) != ticket) sched_yield();
        sum += me;
        atomic_store(&serving, ticket + 1);
        barrier(&mine);
    }
    if (me == 0) atomic_store(&flag, 1);
    while (!atomic_load(&flag)) {}
    return NULL;
}
int main(void) {
    pthread_t thread[N];
    for (long i = 0; i < N; i++) pthread_create(&thread[i], NULL, body, (void *)i);
    for (int i = 0; i < N; i++) pthread_join(thread[i], NULL);
    printf("%ld %d\n", sum, atomic_load(&next));
    return 0;
}
