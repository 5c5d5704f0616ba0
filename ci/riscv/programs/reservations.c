/* Loops with lr and sc for atomic values of 1 to 16 bytes. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
static _Atomic uint64_t c64;
static _Atomic uint32_t c32;
static _Atomic uint8_t c8[8];
static _Atomic uint16_t c16;
static atomic_flag f = ATOMIC_FLAG_INIT;
static long plain;
struct pair {
    uint64_t a, b;
};
static _Atomic struct pair pr;
static _Atomic double d;
static void *w(void *x) {
    long me = (long)x;
    for (int i = 0; i < 300; i++) {
        uint64_t v, t;
        do {
            __asm__ volatile("lr.d.aq %0,(%2)\naddi %0,%0,3\nsc.d.rl %1,%0,(%2)"
                             : "=&r"(v), "=&r"(t)
                             : "r"(&c64)
                             : "memory");
        } while (t);
        uint32_t o = c32;
        while (!atomic_compare_exchange_weak(&c32, &o, o * 3 + 1))
            ;
        atomic_fetch_add(&c8[me & 7], 1);
        atomic_fetch_xor(&c16, 1 << (i & 15));
        atomic_fetch_or(&c8[7], 1);
        while (atomic_flag_test_and_set_explicit(&f, memory_order_acquire))
            ;
        plain++;
        atomic_flag_clear_explicit(&f, memory_order_release);
        double e = d;
        while (!atomic_compare_exchange_strong(&d, &e, e + 0.5))
            ;
        struct pair p = pr, n;
        do {
            n.a = p.a + 1;
            n.b = p.b + 2;
        } while (!atomic_compare_exchange_weak(&pr, &p, n));
    }
    return 0;
}
int main(void) {
    pthread_t t[7];
    for (long i = 0; i < 7; i++)
        pthread_create(&t[i], 0, w, (void *)i);
    for (int i = 0; i < 7; i++)
        pthread_join(t[i], 0);
    struct pair p = pr;
    printf("%lu %u %d %d %ld %g %lu %lu %d\n", (unsigned long)c64, c32, c8[3], c16, plain, d,
           (unsigned long)p.a, (unsigned long)p.b, c8[7]);
    return 0;
}
