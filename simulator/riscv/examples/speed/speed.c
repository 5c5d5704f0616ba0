/* Loops by which the speed of a simulator is measured: speed LOOP THREADS ROUNDS. The first three
 * compute, each thread over 8 KB of its own; in the others all threads fight over a line.
 * `ci/riscv.sh speed` runs them. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1024, WORDS = 1024, HALF = WORDS / 2, STRETCH = 4096 };

static long threads, rounds;

/* Each shared variable has a line of its own. */
#define LINE __attribute__((aligned(64)))
static LINE pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static LINE uint64_t counter;
static LINE uint64_t lock;
static LINE uint64_t arrived;
static LINE uint64_t sense;

static void wait_for_all(uint64_t *own) {
    uint64_t next = *own = !*own;
    if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == (uint64_t)threads) {
        __atomic_store_n(&arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&sense, next, __ATOMIC_RELEASE);
        return;
    }
    while (__atomic_load_n(&sense, __ATOMIC_ACQUIRE) != next) {
    }
}

/* Arithmetic, a branch that is hard to foresee, and a store at every second word. */
static uint64_t integers(uint64_t number) {
    uint64_t word[WORDS], value = number;
    for (long at = 0; at < WORDS; at++) word[at] = number + at;
    for (long round = 0; round < rounds; round++)
        for (long at = 0; at < WORDS; at++) {
            value = value * 6364136223846793005u + word[at];
            if (value >> 63) word[at] = value;
        }
    return value;
}

/* Words at places that other words tell, and a barrier after each 4,096. */
static uint64_t gathers(uint64_t number) {
    uint64_t word[HALF], value = 0, own = 0;
    uint32_t place[WORDS];
    for (long at = 0; at < HALF; at++) word[at] = number + at;
    for (long at = 0; at < WORDS; at++) place[at] = (at * 181 + number) % HALF;
    for (long round = 0; round < rounds; round++) {
        for (long at = 0; at < WORDS; at++) value += word[place[at]];
        if ((round + 1) % (STRETCH / WORDS) == 0) wait_for_all(&own);
    }
    return value;
}

/* Sums of products of small integers: no result is ever rounded. */
static uint64_t products(uint64_t number) {
    double left[HALF], right[HALF], least = 0;
    for (long at = 0; at < HALF; at++) left[at] = at + number, right[at] = at % 7;
    for (long round = 0; round < 2 * rounds; round++) {
        double sum = least;
        for (long at = 0; at < HALF; at++) sum += left[at] * right[at];
        least = sum > least ? 0 : 1;
        __asm__ volatile("" ::: "memory");
    }
    return (uint64_t)least;
}

static uint64_t locks(uint64_t number) {
    (void)number;
    for (long round = 0; round < rounds; round++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return 0;
}

static uint64_t barriers(uint64_t number) {
    uint64_t own = 0;
    (void)number;
    for (long round = 0; round < rounds; round++) wait_for_all(&own);
    return 0;
}

static uint64_t adds(uint64_t number) {
    (void)number;
    for (long round = 0; round < rounds; round++) __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
    return 0;
}

static uint64_t swaps(uint64_t number) {
    (void)number;
    for (long round = 0; round < rounds; round++) {
        uint64_t seen = __atomic_load_n(&counter, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&counter, &seen, seen + 1, 0, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED)) {
        }
    }
    return 0;
}

static uint64_t spins(uint64_t number) {
    (void)number;
    for (long round = 0; round < rounds; round++) {
        while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0)
            while (__atomic_load_n(&lock, __ATOMIC_RELAXED) != 0) {
            }
        counter++;
        __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    }
    return 0;
}

static const struct {
    const char *name;
    uint64_t (*body)(uint64_t);
    int counts; /* each round adds one to the counter */
} loops[] = {
    {"integers", integers, 0}, {"gathers", gathers, 0}, {"products", products, 0},
    {"mutex", locks, 1},       {"barrier", barriers, 0}, {"add", adds, 1},
    {"swap", swaps, 1},        {"spin", spins, 1},
};
enum { LOOPS = sizeof loops / sizeof *loops };

static int chosen;

static void *body(void *number) { return (void *)loops[chosen].body((uint64_t)number); }

int main(int count, char **argument) {
    const char *name = count == 4 ? argument[1] : "";
    threads = count == 4 ? atol(argument[2]) : 0;
    rounds = count == 4 ? atol(argument[3]) : 0;
    while (chosen < LOOPS && strcmp(loops[chosen].name, name) != 0) chosen++;
    if (chosen == LOOPS || threads < 1 || threads > MOST || rounds < 1) {
        fprintf(stderr, "speed: expected a loop, THREADS (1 to %d) and ROUNDS; loops are", MOST);
        for (int at = 0; at < LOOPS; at++) fprintf(stderr, " %s", loops[at].name);
        fputc('\n', stderr);
        return 2;
    }
    pthread_t thread[MOST];
    uint64_t sum = 0;
    for (long at = 1; at < threads; at++) pthread_create(&thread[at], NULL, body, (void *)at);
    sum += (uint64_t)body(NULL);
    for (long at = 1; at < threads; at++) {
        void *result;
        pthread_join(thread[at], &result);
        sum += (uint64_t)result;
    }
    if (loops[chosen].counts && counter != (uint64_t)(threads * rounds)) {
        fprintf(stderr, "speed: %lu rounds were counted, expected %ld\n", counter, threads * rounds);
        return 1;
    }
    printf("%s: %ld threads, %ld rounds, %016lx\n", name, threads, rounds, sum);
    return 0;
}
