/* OpenMP tasks with dependences, in groups and in loops; nested teams; locks; private copies. */
#include <omp.h>
#include <stdio.h>
enum { N = 64 };
static int copy = 3;
#pragma omp threadprivate(copy)
static long sorted(int *list, int n) {
    if (n < 2) return 0;
    int pivot = list[n / 2], i = 0, j = n - 1;
    while (i <= j) {
        while (list[i] < pivot) i++;
        while (list[j] > pivot) j--;
        if (i <= j) {
            int t = list[i];
            list[i++] = list[j], list[j--] = t;
        }
    }
    long a = 0, b = 0;
#pragma omp task shared(a) if (j > 40)
    a = sorted(list, j + 1);
#pragma omp task shared(b) if (n - i > 40)
    b = sorted(list + i, n - i);
#pragma omp taskwait
    return a + b + 1;
}
int main(void) {
    static int list[3000];
    unsigned seed = 7;
    for (int i = 0; i < 3000; i++) list[i] = (int)((seed = seed * 1103515245 + 12345) >> 8 & 0xFFFF);
    long wrong = 0, grid[N][N] = {{0}}, nested = 0, looped = 0, updates = 0;
    int chain = 1;
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel
#pragma omp single
    {
        sorted(list, 3000);
        for (int i = 0; i < 10; i++) {
#pragma omp task depend(inout : chain)
            chain = chain * 2 + i;
        }
#pragma omp taskgroup
        for (int i = 1; i < N; i++)
            for (int j = 1; j < N; j++) {
#pragma omp task depend(in : grid[i - 1][j], grid[i][j - 1]) depend(out : grid[i][j])
                grid[i][j] = (grid[i - 1][j] + grid[i][j - 1] + i * j) % 10007;
            }
#pragma omp taskloop grainsize(10) reduction(+ : looped)
        for (int i = 0; i < 500; i++) looped += i;
    }
    for (int i = 1; i < 3000; i++) wrong += list[i - 1] > list[i];
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3) reduction(+ : nested)
    {
#pragma omp parallel num_threads(2) reduction(+ : nested)
        nested += omp_get_level() * 10 + omp_get_ancestor_thread_num(1) + omp_get_num_threads();
    }
#pragma omp parallel copyin(copy)
    {
        copy += omp_get_thread_num();
#pragma omp for collapse(2) schedule(dynamic, 3)
        for (int i = 0; i < 30; i++)
            for (int j = 0; j < 30; j++) {
#pragma omp atomic
                updates += i ^ j;
            }
        omp_set_lock(&lock);
        updates += copy;
        omp_unset_lock(&lock);
    }
    printf("%ld %d %ld %ld %ld %ld\n", wrong, chain, grid[N - 1][N - 1], looped, nested, updates);
    return (int)wrong;
}
