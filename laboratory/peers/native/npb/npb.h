/* Programs of the NAS parallel benchmarks in plain C, by one thread. */
#ifndef PEERS_NPB_H
#define PEERS_NPB_H

#include <stdint.h>

/* A program, as the Rust side sees it. */
struct npb {
    /* The data of a class, `S`, `W` or `A`; null if it knows no such class, or there is
     * no memory. */
    void *(*make)(char class);
    /* Runs it; once. */
    void (*run)(void *data);
    /* How far the answer is off, in units of what it may be. */
    double (*error)(const void *data);
    void (*drop)(void *data);
};

/* The next random number between 0 and 1. Begins with 314159265. */
static inline double npb_random(uint64_t *state)
{
    *state = *state * 1220703125u & ((UINT64_C(1) << 46) - 1);
    return (double)*state * (1.0 / (double)(UINT64_C(1) << 46));
}

#endif
