/* Intervals of equal work that end at a barrier: what one takes, over the work of all ranks
   divided by the cores. `ci/openmp.sh intervals` runs it.

   intervals MICROSECONDS [SECONDS] [CORES]: prints ranks, the mean, the 10th and the 50th
   percentile of pairs of intervals over the ideal, and whether all ranks did all of them. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

__attribute__((noinline)) static uint64_t spend(long steps, uint64_t value)
{
    for (long i = 0; i < steps; i++) {
        value = value * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}

static uint64_t done;
#pragma omp threadprivate(done)

int main(int count, char **words)
{
    double wanted = (count > 1 ? atof(words[1]) : 100) * 1e-6;
    double seconds = count > 2 ? atof(words[2]) : 0.5;
    int cores = count > 3 ? atoi(words[3]) : 2;
    double per_step = 1;
    uint64_t value = 1;
    for (int i = 0; i < 20; i++) {
        double from = omp_get_wtime();
        value = spend(500000, value);
        double step = (omp_get_wtime() - from) / 500000;
        per_step = step < per_step ? step : per_step;
    }
    long steps = (long)(wanted / per_step);
    int ranks = omp_get_max_threads(), intervals = (int)(seconds * cores / (wanted * ranks));
    double *ends = malloc((intervals + 1) * sizeof *ends);
    uint64_t all = 0;
#pragma omp parallel reduction(+ : all)
    {
        uint64_t mine = value;
        done = 0;
        for (int i = 0; i <= intervals; i++) {
            mine = spend(steps, mine);
            done++;
#pragma omp barrier
#pragma omp master
            ends[i] = omp_get_wtime();
        }
        all += done + (mine == 0);
    }
    int skipped = intervals / 10, pairs = (intervals - skipped) / 2;
    double ideal = wanted * ranks / cores;
    double mean = (ends[intervals] - ends[skipped]) / (intervals - skipped);
    for (int i = 0; i < pairs; i++)
        ends[i] = (ends[skipped + 2 * i + 2] - ends[skipped + 2 * i]) / 2;
    qsort(ends, pairs, sizeof *ends, ascending);
    printf("%d %.0f %.3f %.3f %.3f %s\n", ranks, wanted * 1e6, mean / ideal, ends[pairs / 10] / ideal,
           ends[pairs / 2] / ideal, all == (uint64_t)ranks * (intervals + 1) ? "all" : "WRONG");
    return all != (uint64_t)ranks * (intervals + 1);
}
