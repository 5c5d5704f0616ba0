/* Threads sweep over bytes of their own, meet at a barrier, and sweep as often again in a region of interest:
 *
 *   sweeps THREADS SWEEPS BYTES [first]
 *
 * BYTES is for each thread. The main thread touches all bytes first, or with `first` each thread touches its own. */
#include "../../simulator/riscv/include/manycore.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int threads, sweeps, touch_own;
static long bytes;
static char *data;
static pthread_barrier_t barrier;

static void sweep(long me) {
    volatile long *word = (volatile long *)(data + me * bytes);
    for (int lap = 0; lap < sweeps; lap++)
        for (long at = 0; at < bytes / 8; at += 8)
            word[at]++;
}
static void *body(void *number) {
    long me = (long)number;
    if (touch_own)
        memset(data + me * bytes, 1, bytes);
    sweep(me);
    pthread_barrier_wait(&barrier);
    mc_region_begin();
    sweep(me);
    mc_region_end();
    return NULL;
}
int main(int count, char **values) {
    if (count < 4)
        return 2;
    threads = atoi(values[1]), sweeps = atoi(values[2]), bytes = atol(values[3]);
    touch_own = count > 4;
    pthread_t *made = calloc(threads, sizeof *made);
    data = aligned_alloc(4096, threads * bytes);
    if (!touch_own)
        memset(data, 1, threads * bytes);
    pthread_barrier_init(&barrier, NULL, threads);
    for (long me = 1; me < threads; me++)
        pthread_create(&made[me], NULL, body, (void *)me);
    body(NULL);
    for (int me = 1; me < threads; me++)
        pthread_join(made[me], NULL);
    printf("%d %d\n", data[0], data[threads * bytes - 64]);
}
