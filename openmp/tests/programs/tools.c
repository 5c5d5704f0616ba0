// Work under a sanitizer or a debugger: each rank allocates memory, all meet, and each frees its neighbour's.
//
//   tools [leak]     leak: a rank loses memory, which a sanitizer is to report
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long *blocks[64];

__attribute__((noinline)) static unsigned compute(int rank, int round) {
    unsigned x = rank + 1;
    for (int i = 0; i < 40000 + 20000 * ((rank + round) % 3); i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    __asm__ volatile("" : "+r"(x));
    return x;
}

// One rank calls this once, when all have met often. A debugger stops here.
__attribute__((noinline)) static void halfway(int leaks) {
    for (int i = 0; i < 100 * leaks; i++)
        memset((void *volatile){malloc(1000)}, 1, 1000);
    __asm__ volatile("" ::: "memory");
}

int main(int count, char **arguments) {
    const int leaks = count > 1 && !strcmp(arguments[1], "leak");
    int wrong = 0;
    for (int round = 0; round < 24; round++) {
#pragma omp parallel reduction(+ : wrong)
        {
            const int rank = omp_get_thread_num(), ranks = omp_get_num_threads();
            for (int step = 0; step < 4; step++) {
                blocks[rank] = malloc(500 * sizeof(long));
                for (int at = 0; at < 500; at++)
                    blocks[rank][at] = rank * 1000 + at;
                const unsigned before = compute(rank, round);
#pragma omp barrier
                const int other = (rank + 1) % ranks;
                for (int at = 0; at < 500; at++)
                    wrong += blocks[other][at] != other * 1000 + at;
                wrong += compute(rank, round) != before;
                free(blocks[other]);
#pragma omp barrier
            }
#pragma omp single
            for (int made = 0; made < 20; made++) {
#pragma omp task
                {
                    char *text = malloc(made + 1);
                    memset(text, made, made + 1);
                    free(text);
                }
            }
            if (round == 12 && rank == ranks - 1)
                halfway(leaks);
        }
    }
    puts(wrong ? "WRONG" : "right");
    return wrong != 0;
}
