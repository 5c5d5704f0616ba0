// A conditional store fails if another thread has written the word since the load, even if the word is as it was.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static struct {
    long word __attribute__((aligned(128)));
    long turn __attribute__((aligned(128)));
    long ready;
} shared;

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void *change_and_restore(void *cpu) {
    pin((int)(long)cpu);
    __atomic_store_n(&shared.ready, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&shared.turn, __ATOMIC_ACQUIRE) != 1)
        ;
    __atomic_store_n(&shared.word, 7, __ATOMIC_SEQ_CST);
    __atomic_store_n(&shared.word, 5, __ATOMIC_SEQ_CST);
    __atomic_store_n(&shared.turn, 2, __ATOMIC_RELEASE);
    return NULL;
}

/* Waits within the pair, loads the word again, and returns 1 if the store fails. */
static long pair(void) {
    long failed, loaded;
    __asm__ volatile("lr.d %1, (%2)\n"
                     "sd %4, (%3)\n"
                     "1: ld %1, (%3)\n"
                     "beq %1, %4, 1b\n"
                     "ld %1, (%2)\n"
                     "sc.d %0, %5, (%2)\n"
                     : "=&r"(failed), "=&r"(loaded)
                     : "r"(&shared.word), "r"(&shared.turn), "r"(1L), "r"(9L)
                     : "memory");
    return failed;
}

int main(void) {
    pin(0);
    for (int attempts = 0; attempts <= 100; attempts += 100) {
        for (long cpu = 1; cpu < 4; cpu++) {
            /* A store without a reservation fails. After many failures, the machine helps the next pair. */
            for (int i = 0; i < attempts; i++) {
                long failed;
                __asm__ volatile("sc.d %0, %1, (%2)" : "=&r"(failed) : "r"(9L), "r"(&shared.word) : "memory");
                if (!failed)
                    printf("stored without a reservation\n");
            }
            shared.word = 5;
            shared.turn = shared.ready = 0;
            pthread_t other;
            pthread_create(&other, NULL, change_and_restore, (void *)cpu);
            /* The pair begins when the other thread runs on its own core. */
            while (!__atomic_load_n(&shared.ready, __ATOMIC_ACQUIRE))
                sched_yield();
            long failed = pair();
            pthread_join(other, NULL);
            printf("%d %ld: failed %ld, word %ld\n", attempts, cpu, failed, shared.word);
        }
    }
    return 0;
}
