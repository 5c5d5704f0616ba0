/* Loops, tasks and reductions of OpenMP around functions that run a range. A static loop hands each
 * thread one range, a dynamic one a block at a time: that is what a compiler makes of a loop whose
 * body is inlined into the range. */
#include <omp.h>
#include <stddef.h>
#include <stdint.h>

typedef void run_range(const void *body, size_t from, size_t to);
typedef uint64_t sum_range(const void *term, size_t from, size_t to);
typedef void run_once(void *job);

void guest_threads(int threads) {
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
}

static size_t part(size_t n, size_t of, size_t all) {
    return n / all * of + (of < n % all ? of : n % all);
}

void guest_static(size_t n, run_range *run, const void *body) {
#pragma omp parallel
    {
        size_t all = (size_t)omp_get_num_threads(), rank = (size_t)omp_get_thread_num();
        size_t from = part(n, rank, all), to = part(n, rank + 1, all);
        if (from < to)
            run(body, from, to);
    }
}

void guest_dynamic(size_t n, size_t block, run_range *run, const void *body) {
    size_t blocks = (n + block - 1) / block;
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t at = 0; at < blocks; at++)
        run(body, at * block, at + 1 == blocks ? n : (at + 1) * block);
}

uint64_t guest_sum_static(size_t n, sum_range *sum, const void *term) {
    uint64_t result = 0;
#pragma omp parallel reduction(+ : result)
    {
        size_t all = (size_t)omp_get_num_threads(), rank = (size_t)omp_get_thread_num();
        size_t from = part(n, rank, all), to = part(n, rank + 1, all);
        if (from < to)
            result += sum(term, from, to);
    }
    return result;
}

uint64_t guest_sum_dynamic(size_t n, size_t block, sum_range *sum, const void *term) {
    size_t blocks = (n + block - 1) / block;
    uint64_t result = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : result)
    for (size_t at = 0; at < blocks; at++)
        result += sum(term, at * block, at + 1 == blocks ? n : (at + 1) * block);
    return result;
}

/* Runs a job on one thread of a team, while the others run the tasks that it makes. */
void guest_fork(run_once *run, void *job) {
#pragma omp parallel
#pragma omp single
    run(job);
}

void guest_join(run_once *run_a, void *a, run_once *run_b, void *b) {
#pragma omp task default(none) firstprivate(run_b, b)
    run_b(b);
    run_a(a);
#pragma omp taskwait
}

void guest_spawn_each(size_t n, run_range *run, const void *body) {
    for (size_t at = 0; at < n; at++) {
#pragma omp task default(none) firstprivate(run, body, at)
        run(body, at, at + 1);
    }
#pragma omp taskwait
}
