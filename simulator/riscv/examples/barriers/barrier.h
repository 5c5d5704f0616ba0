/* Four barriers under the names of POSIX's: its own (BARRIER_PTHREAD), the sense-reversing one
 * (BARRIER_SENSE), the one by broadcast of the ATAC thesis (BARRIER_CHANNEL), and that one with a
 * port that counts (BARRIER_COUNTING). A program that includes this first has that barrier:
 * g++ -DBARRIER_CHANNEL -include barrier.h program.cpp
 *
 * Each member gets a core of its own at its first wait. The last to come gets core 0, where the main
 * thread is: members that wait awake would keep it from making the others.
 *
 * At its end the program tells the median of the exit latencies: the cycles from the last member's
 * entry to the last one's exit, of the waits 2 to 257 at each barrier. Programs in C and C++ have all
 * waits in one file. */
#ifndef BARRIER_H
#define BARRIER_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "manycore.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BARRIER_MEMBERS = 1024 };
#ifndef BARRIER_KEPT
#define BARRIER_KEPT 256 /* waits of a member whose times are kept */
#endif

/* When a member came and went, for its waits from the second on. */
typedef struct {
    uint64_t entry, exit;
} barrier_visit;

typedef struct {
    unsigned count, joined;
    uint64_t number; /* tells barriers apart that have one address after each other */
    barrier_visit *visits[BARRIER_MEMBERS];
    uint64_t waits;
    unsigned left __attribute__((aligned(64)));
    unsigned sense __attribute__((aligned(64)));
#if defined(BARRIER_PTHREAD)
    pthread_barrier_t posix;
#elif defined(BARRIER_CHANNEL) || defined(BARRIER_COUNTING)
    mc_channel arrivals;
#elif !defined(BARRIER_SENSE)
#error "expected BARRIER_PTHREAD, BARRIER_SENSE, BARRIER_CHANNEL or BARRIER_COUNTING"
#endif
} barrier_type;

/* A thread as the member of one barrier. */
static __thread struct {
    uint64_t number, waits;
    unsigned sense;
    barrier_visit *visits;
    mc_port port;
} barrier_self;

static struct {
    uint64_t made, count;
    uint64_t *values;
} barrier_latencies;

static inline uint64_t barrier_clock(void) {
#if defined(__riscv)
    uint64_t cycles;
    __asm__ volatile("rdcycle %0" : "=r"(cycles)::"memory");
    return cycles;
#else
    return 0;
#endif
}

static int barrier_compare(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static void barrier_tell(void) {
    uint64_t count = barrier_latencies.count;
    if (count == 0) return;
    qsort(barrier_latencies.values, count, sizeof(uint64_t), barrier_compare);
    printf("exit latency %lu\n", (unsigned long)barrier_latencies.values[count / 2]);
}

static inline int barrier_init(barrier_type *self, unsigned count) {
    memset(self, 0, sizeof *self);
    self->count = self->left = count;
    self->number = ++barrier_latencies.made;
    if (self->number == 1) atexit(barrier_tell);
#if defined(BARRIER_PTHREAD)
    return pthread_barrier_init(&self->posix, NULL, count);
#elif !defined(BARRIER_SENSE)
    mc_create(&self->arrivals);
#endif
    return 0;
}

static inline void barrier_join(barrier_type *self) {
    unsigned member = __atomic_fetch_add(&self->joined, 1, __ATOMIC_RELAXED);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(self->count - 1 - member, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    barrier_self.number = self->number;
    barrier_self.sense = 0;
    barrier_self.waits = 0;
    if (mc_simulated() && member < BARRIER_MEMBERS) {
        barrier_self.visits = (barrier_visit *)malloc(BARRIER_KEPT * sizeof(barrier_visit));
        memset(barrier_self.visits, 0, BARRIER_KEPT * sizeof(barrier_visit));
        self->visits[member] = barrier_self.visits;
    }
#if defined(BARRIER_CHANNEL)
    mc_open(&barrier_self.port, &self->arrivals, 0);
#elif defined(BARRIER_COUNTING)
    mc_open(&barrier_self.port, &self->arrivals, self->count - 1);
#endif
}

static inline int barrier_wait_for_sense(barrier_type *self) {
    unsigned sense = barrier_self.sense = !barrier_self.sense;
    if (__atomic_sub_fetch(&self->left, 1, __ATOMIC_ACQ_REL) == 0) {
        __atomic_store_n(&self->left, self->count, __ATOMIC_RELAXED);
        __atomic_store_n(&self->sense, sense, __ATOMIC_RELEASE);
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    while (__atomic_load_n(&self->sense, __ATOMIC_ACQUIRE) != sense) {
    }
    return 0;
}

static inline int barrier_meet(barrier_type *self) {
#if defined(BARRIER_PTHREAD)
    return pthread_barrier_wait(&self->posix);
#elif defined(BARRIER_SENSE)
    return barrier_wait_for_sense(self);
#else
    /* Nobody sends before all ports are open. */
    if (barrier_self.waits == 0) return barrier_wait_for_sense(self);
    unsigned messages = self->count - 1;
    if (messages > 0) mc_send(&self->arrivals, 0);
#if defined(BARRIER_COUNTING)
    messages = messages > 0;
#endif
    for (; messages > 0; messages--) mc_receive(&barrier_self.port);
    return 0;
#endif
}

static inline int barrier_wait(barrier_type *self) {
    if (barrier_self.number != self->number) barrier_join(self);
    uint64_t at = barrier_self.waits;
    if (at == 0 || at > BARRIER_KEPT || barrier_self.visits == NULL) {
        int result = barrier_meet(self);
        barrier_self.waits = at + 1;
        return result;
    }
    barrier_visit *visit = &barrier_self.visits[at - 1];
    visit->entry = barrier_clock();
    int result = barrier_meet(self);
    visit->exit = barrier_clock();
    barrier_self.waits = at + 1;
    return result;
}

/* All members are done with it. */
static inline int barrier_destroy(barrier_type *self) {
    for (uint64_t at = 0; self->visits[0] != NULL && at < BARRIER_KEPT; at++) {
        uint64_t entry = 0, exit = 0;
        for (unsigned member = 0; member < self->count && member < BARRIER_MEMBERS; member++) {
            barrier_visit visit = self->visits[member][at];
            if (visit.entry > entry) entry = visit.entry;
            if (visit.exit > exit) exit = visit.exit;
        }
        if (exit == 0) break;
        uint64_t count = ++barrier_latencies.count;
        barrier_latencies.values =
            (uint64_t *)realloc(barrier_latencies.values, count * sizeof(uint64_t));
        barrier_latencies.values[count - 1] = exit - entry;
    }
    for (unsigned member = 0; member < self->count && member < BARRIER_MEMBERS; member++)
        free(self->visits[member]);
#if defined(BARRIER_PTHREAD)
    return pthread_barrier_destroy(&self->posix);
#endif
    return 0;
}

#define pthread_barrier_t barrier_type
#define pthread_barrier_init(self, attributes, count) barrier_init(self, count)
#define pthread_barrier_wait(self) barrier_wait(self)
#define pthread_barrier_destroy(self) barrier_destroy(self)

#endif
