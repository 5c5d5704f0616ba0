/* What the loops do, for the peers written in C and C++. `src/tasks.rs` holds
 * the same two inline bodies, instruction for instruction, for those in Rust. */
#ifndef PEERS_TASKS_H
#define PEERS_TASKS_H

#include <stddef.h>
#include <stdint.h>

/* The body of a loop, called once an index. */
typedef void (*peers_body)(size_t index, const void *context);

/* Nothing, but the index must be in a register: about one cycle. */
static inline void peers_trivial_inline(size_t index) { __asm__ volatile("" : : "r"(index)); }

/* Sixteen multiplications, each waiting for the one before: about 5 ns. The
 * empty assembly keeps the compiler from folding or vectorising them. */
static inline void peers_tiny_inline(size_t index) {
    uint64_t x = index;
#define PEERS_STEP                                                                                 \
    x *= 0x5bd1e995;                                                                               \
    __asm__ volatile("" : "+r"(x));
#define PEERS_STEPS PEERS_STEP PEERS_STEP PEERS_STEP PEERS_STEP
    PEERS_STEPS PEERS_STEPS PEERS_STEPS PEERS_STEPS
#undef PEERS_STEPS
#undef PEERS_STEP
}

#endif
