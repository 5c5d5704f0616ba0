/* Virtual channels: a barrier with a counting port, a broadcast, and a region of interest. */
#define _GNU_SOURCE
#include "../../../simulator/riscv/include/manycore.h"
#include <pthread.h>
#include <stdio.h>
enum { N = 4, ROUNDS = 50 };
static mc_channel arrivals, news;
static pthread_barrier_t opened;
static long value[N], wrong, heard[N];
static void *body(void *argument) {
    long me = (long)argument;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(me, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    mc_port barrier, listener;
    mc_open(&barrier, &arrivals, N - 1);
    mc_open(&listener, &news, 0);
    pthread_barrier_wait(&opened);
    for (int round = 0; round < ROUNDS; round++) {
        value[me] = round;
        mc_send(&arrivals, me);
        mc_receive(&barrier);
        for (int other = 0; other < N; other++)
            if (value[other] != round) __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
        mc_send(&arrivals, me);
        mc_receive(&barrier);
    }
    mc_send(&news, 1 << 4 * me);
    for (int i = 0; i < N - 1; i++) heard[me] += mc_receive(&listener);
    return NULL;
}
int main(void) {
    pthread_t thread[N];
    mc_create(&arrivals);
    mc_create(&news);
    pthread_barrier_init(&opened, NULL, N);
    mc_region_begin();
    for (long i = 0; i < N; i++) pthread_create(&thread[i], NULL, body, (void *)i);
    for (int i = 0; i < N; i++) pthread_join(thread[i], NULL);
    mc_region_end();
    printf("%ld %lx %lx %lx %lx\n", wrong, heard[0], heard[1], heard[2], heard[3]);
    return 0;
}
