/* Barriers in a loop, as in chapter 6 of the ATAC thesis: loop THREADS WAITS. The region of interest
 * is the loop, after a wait by which all threads are there. */
#include "barrier.h"

static pthread_barrier_t meeting;
static long waits;

static void *body(void *argument) {
    int leads = argument == NULL;
    pthread_barrier_wait(&meeting);
    if (leads) mc_region_begin();
    for (long at = 0; at < waits; at++) pthread_barrier_wait(&meeting);
    if (leads) mc_region_end();
    return NULL;
}

int main(int count, char **argument) {
    long threads = count == 3 ? atol(argument[1]) : 0;
    waits = count == 3 ? atol(argument[2]) : 0;
    if (threads < 1 || threads > BARRIER_MEMBERS || waits < 1) {
        fprintf(stderr, "loop: expected THREADS (1 to %d) and WAITS (from 1)\n", BARRIER_MEMBERS);
        return 2;
    }
    pthread_t thread[BARRIER_MEMBERS];
    pthread_barrier_init(&meeting, NULL, threads);
    for (long at = 1; at < threads; at++) pthread_create(&thread[at], NULL, body, &meeting);
    body(NULL);
    for (long at = 1; at < threads; at++) pthread_join(thread[at], NULL);
    pthread_barrier_destroy(&meeting);
    printf("%ld threads, %ld waits\n", threads, waits);
    return 0;
}
