/* What canneal asks of a processor, in the compiler's own words: its sources have it for other
 * processors only. Included before them, it takes the place of their "atomic/atomic.h". */
#ifndef _ATOMIC_H_
#define _ATOMIC_H_

static inline int atomic_cmpset_ptr(volatile unsigned long *word, unsigned long expected,
                                    unsigned long value) {
    return __atomic_compare_exchange_n(word, &expected, value, 0, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

static inline unsigned long atomic_load_acq_ptr(volatile unsigned long *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void atomic_store_rel_ptr(volatile unsigned long *word, unsigned long value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

#endif
