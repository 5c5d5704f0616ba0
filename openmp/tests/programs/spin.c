// Ranks spin on words of memory, in the ways of real programs. The library recognises such loops, and must
// never treat a loop that could continue as waiting.
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

#define MOST 64

struct Word {
    _Alignas(128) volatile uint64_t value;
};

// A token goes around. Its holder adds to a sum that nothing else protects.
#define RING(NAME, NUMBER, WAIT)                                                                   \
    static long NAME(int rounds)                                                                   \
    {                                                                                              \
        static struct Word words[MOST];                                                            \
        static long sum;                                                                           \
        sum = 0;                                                                                   \
        for (int i = 0; i < MOST; i++)                                                             \
            words[i].value = 0;                                                                    \
        _Pragma("omp parallel")                                                                    \
        {                                                                                          \
            int size = omp_get_num_threads(), id = omp_get_thread_num();                           \
            NUMBER *own = (NUMBER *)&words[id].value;                                              \
            NUMBER *next = (NUMBER *)&words[(id + 1) % size].value;                                \
            for (int round = 0; round < rounds; round++) {                                         \
                NUMBER turn = (NUMBER)(1 + round % 100);                                           \
                if (id > 0 || round > 0) {                                                         \
                    NUMBER expected = id > 0 ? turn : (NUMBER)(1 + (round - 1) % 100);             \
                    WAIT;                                                                          \
                }                                                                                  \
                sum = sum * 3 + id % 2 - id % 2 + 1;                                               \
                sum %= 1000003;                                                                    \
                __atomic_store_n(next, turn, __ATOMIC_RELEASE);                                    \
            }                                                                                      \
        }                                                                                          \
        /* It depends on how many there are: as if one had done all. */                            \
        long expected = 0;                                                                         \
        for (int i = 0; i < rounds * omp_get_max_threads(); i++)                                   \
            expected = (expected * 3 + 1) % 1000003;                                               \
        return sum - expected;                                                                     \
    }

RING(plain, volatile uint32_t, while (*own != expected))
RING(acquired, uint64_t, while (__atomic_load_n(own, __ATOMIC_ACQUIRE) != expected))
RING(paused, volatile uint8_t, while (*own != expected) __asm__ volatile("" ::: "memory"))
RING(fenced, volatile int16_t, while (*own != expected) __sync_synchronize())
RING(relaxed, int32_t, do {} while (__atomic_load_n(own, __ATOMIC_RELAXED) - expected != 0))
RING(counted, volatile uint64_t, uint64_t looks = 0; while (*own != expected) looks++; (void)looks)

static long exchanged(int rounds)
{
    static struct Word lock;
    static long sum;
    sum = 0;
#pragma omp parallel
    for (int i = 0; i < rounds; i++) {
        while (__sync_lock_test_and_set(&lock.value, 1))
            ;
        sum++;
        __sync_lock_release(&lock.value);
    }
    return sum - (long)rounds * omp_get_max_threads();
}

static long compared(int rounds)
{
    static struct Word lock;
    static long sum;
    sum = 0;
#pragma omp parallel
    for (int i = 0; i < rounds; i++) {
        while (!__sync_bool_compare_and_swap(&lock.value, 0, 1))
            ;
        sum++;
        __sync_lock_release(&lock.value);
    }
    return sum - (long)rounds * omp_get_max_threads();
}

// A program's own barrier: a count, and a word whose sense changes.
static long senses(int rounds)
{
    static struct Word count, sense;
    static long wrong;
    count.value = sense.value = 0;
    static struct Word at[MOST];
    wrong = 0;
    for (int i = 0; i < MOST; i++)
        at[i].value = 0;
#pragma omp parallel
    {
        int size = omp_get_num_threads(), id = omp_get_thread_num();
        uint64_t own = 0;
        for (int round = 1; round <= rounds; round++) {
            at[id].value = round;
            own = !own;
            if (__atomic_add_fetch(&count.value, 1, __ATOMIC_ACQ_REL) == (uint64_t)size) {
                count.value = 0;
                __atomic_store_n(&sense.value, own, __ATOMIC_RELEASE);
            } else {
                while (__atomic_load_n(&sense.value, __ATOMIC_ACQUIRE) != own)
                    ;
            }
            for (int i = 0; i < size; i++)
                if (at[i].value < (uint64_t)round) {
#pragma omp atomic
                    wrong++;
                }
        }
    }
    return wrong;
}

int main(void)
{
    printf("rings %ld %ld %ld %ld %ld %ld\n", plain(100), acquired(100), paused(100), fenced(100),
           relaxed(100), counted(30));
    printf("locks %ld %ld\n", exchanged(5000), compared(5000));
    printf("barrier %ld\n", senses(200));
    return 0;
}
