/* The C library's barrier. */
#define _GNU_SOURCE
#include "barrier.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

struct one {
    pthread_t thread;
    pthread_barrier_t *barrier;
    barrier_member member;
    void *state;
    int rank;
};

const char *barrier_version(void) {
#ifdef __GLIBC__
    static char text[64];
    snprintf(text, sizeof text, "glibc %s", gnu_get_libc_version());
    return text;
#else
    return "the C library's";
#endif
}

/* The others may be waiting for the one that there is not. */
static void succeed(const char *call, int error) {
    if (error) {
        fprintf(stderr, "%s: %s\n", call, strerror(error));
        exit(1);
    }
}

static void *run(void *argument) {
    struct one *one = argument;
    one->member(one->state, one->rank, one->barrier);
    return NULL;
}

void barrier_team(int threads, barrier_member member, void *state) {
    pthread_barrier_t barrier;
    succeed("pthread_barrier_init", pthread_barrier_init(&barrier, NULL, (unsigned)threads));
    struct one *team = calloc((size_t)threads, sizeof *team);
    succeed("calloc", team ? 0 : ENOMEM);
    for (int rank = 0; rank < threads; ++rank) {
        struct one *one = &team[rank];
        one->barrier = &barrier;
        one->member = member;
        one->state = state;
        one->rank = rank;
        if (rank > 0)
            succeed("pthread_create", pthread_create(&one->thread, NULL, run, one));
    }
    run(&team[0]);
    for (int rank = 1; rank < threads; ++rank)
        succeed("pthread_join", pthread_join(team[rank].thread, NULL));
    free(team);
    succeed("pthread_barrier_destroy", pthread_barrier_destroy(&barrier));
}

void barrier_wait(void *barrier, uint32_t episodes) {
    for (uint32_t i = 0; i < episodes; ++i)
        pthread_barrier_wait(barrier);
}
