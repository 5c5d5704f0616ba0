/* Many threads use atomics of all widths: bytes, half words, a lock-free stack, a sequence lock. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 6, ROUNDS = 300 };
static _Atomic uint8_t byte[8];
static _Atomic uint16_t half[4];
static _Atomic uint32_t word;
static _Atomic uint64_t wide, mask, least = UINT64_MAX;
static _Atomic uint32_t sequence;
static _Atomic uint64_t first, second;
static _Atomic int torn;
struct node {
    struct node *next;
    long value;
};
static struct node *_Atomic top;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static long guarded;
static void push(long value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = atomic_load(&top);
    while (!atomic_compare_exchange_weak(&top, &node->next, node)) {}
}
static void *body(void *argument) {
    uintptr_t me = (uintptr_t)argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        atomic_fetch_add(&byte[me], 3);
        atomic_fetch_xor(&byte[7], (uint8_t)i);
        atomic_fetch_sub(&half[me % 4], 5);
        atomic_fetch_add_explicit(&word, i, memory_order_relaxed);
        uint64_t old = atomic_load(&wide);
        while (!atomic_compare_exchange_strong(&wide, &old, old * 3 + 1)) {}
        atomic_fetch_or(&mask, 1ull << (me * 8 + i % 8));
        for (uint64_t seen = atomic_load(&least), mine = me * 1000 + i + 17; mine < seen;)
            if (atomic_compare_exchange_weak(&least, &seen, mine)) break;
        push((long)(me + i));
        if (me == 0) {
            atomic_fetch_add(&sequence, 1);
            atomic_store(&first, i), atomic_store(&second, i * 2);
            atomic_fetch_add(&sequence, 1);
        } else {
            uint32_t before = atomic_load(&sequence);
            uint64_t a = atomic_load(&first), b = atomic_load(&second);
            if (before % 2 == 0 && atomic_load(&sequence) == before && b != 2 * a) torn++;
        }
        while (atomic_flag_test_and_set(&flag)) {}
        guarded++;
        atomic_flag_clear(&flag);
    }
    return NULL;
}
int main(void) {
    pthread_t thread[N];
    for (uintptr_t i = 0; i < N; i++) pthread_create(&thread[i], NULL, body, (void *)i);
    for (int i = 0; i < N; i++) pthread_join(thread[i], NULL);
    long count = 0, sum = 0;
    for (struct node *node = top; node; node = node->next) count++, sum += node->value;
    for (int i = 0; i < 8; i++) printf("%u ", byte[i]);
    printf("%u %u %u %u %u %llx %llx %llu\n", half[0], half[1], half[2], half[3], word,
           (unsigned long long)wide, (unsigned long long)mask, (unsigned long long)least);
    printf("%ld %ld %d %ld\n", count, sum, torn, guarded);
    return torn;
}
