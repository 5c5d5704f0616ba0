/* The task functions. They are compiled once and every peer calls them through
 * the same pointer, aligned so that no peer gets a luckier address. */
#include "tasks.h"

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <time.h>
#endif

#define TASK __attribute__((aligned(64)))

/* The clock that measures and that the spinning tasks read, in ticks. */
uint64_t peers_now(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

TASK void peers_empty(size_t index, const void *context) {
    (void)index;
    (void)context;
}

TASK void peers_tiny(size_t index, const void *context) {
    (void)context;
    peers_tiny_inline(index);
}

/* Busy until `*ticks` ticks have passed. */
TASK void peers_spin(size_t index, const uint64_t *ticks) {
    (void)index;
    uint64_t start = peers_now();
    while (peers_now() - start < *ticks) {
    }
}

/* A chain of `steps[index]` dependent multiplications. */
TASK void peers_steps(size_t index, const uint32_t *steps) {
    uint64_t x = index;
    for (uint32_t left = steps[index]; left != 0; --left) {
        x *= 0x5bd1e995;
        __asm__ volatile("" : "+r"(x));
    }
}

/* The unit task of the block-size paper. */
struct peers_unit {
    const uint8_t *source;
    size_t read, write, computations;
};

/* Each thread writes to its own buffer. It starts half a page and a line after
 * a page boundary while the source starts on one, so that a store never looks
 * like the next load's address in its low 12 bits at equal offsets. */
#define LARGEST (1u << 16)
#define OFFSET 2112
static _Thread_local struct {
    uint8_t bytes[OFFSET + LARGEST];
} __attribute__((aligned(4096))) target;

/* `folded`: the additions of a byte are a loop as in the paper, which every
 * compiler turns into one addition. */
TASK void peers_unit(size_t index, const struct peers_unit *unit) {
    (void)index;
    uint8_t *to = target.bytes + OFFSET;
    size_t per_byte = unit->computations / unit->read;
    size_t written = 0;
    uint8_t value = 0;
    for (size_t at = 0; at < unit->read; ++at) {
        value = unit->source[at];
        for (size_t k = 0; k < per_byte; ++k)
            value += 1;
        if (written < unit->write)
            to[written++] = value;
    }
    while (written < unit->write)
        to[written++] = value;
    /* The bytes count as used: nothing above may be dropped. */
    __asm__ volatile("" : : "r"(to) : "memory");
}
