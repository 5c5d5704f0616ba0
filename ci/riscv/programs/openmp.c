/* OpenMP: loops with each schedule, reductions, tasks, sections, critical, ordered, nesting. */
#include <omp.h>
#include <stdio.h>
static long fibonacci(int n) {
    if (n < 2) return n;
    long a, b;
#pragma omp task shared(a) if (n > 8)
    a = fibonacci(n - 1);
#pragma omp task shared(b) if (n > 8)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}
int main(void) {
    long sum = 0, fib = 0, order = 0, locked = 0;
    double harmonic = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < 5000; i++) sum += i;
#pragma omp parallel for schedule(dynamic, 7) reduction(+ : sum)
    for (int i = 0; i < 5000; i++) sum += i * 2;
#pragma omp parallel for schedule(guided) reduction(max : harmonic)
    for (int i = 1; i < 5000; i++) harmonic = harmonic > 1.0 / i ? harmonic : 1.0 / i;
#pragma omp parallel
#pragma omp single
    fib = fibonacci(16);
#pragma omp parallel for ordered
    for (int i = 0; i < 60; i++) {
#pragma omp ordered
        order = (order * 3 + i) % 1009;
    }
#pragma omp parallel
    {
#pragma omp critical
        locked += 1;
#pragma omp barrier
#pragma omp sections reduction(+ : sum)
        {
#pragma omp section
            sum += 1;
#pragma omp section
            sum += 2;
        }
    }
    printf("%ld %ld %ld %g %d %d\n", sum, fib, order, harmonic, omp_get_max_threads(),
           locked == omp_get_max_threads());
    return 0;
}
