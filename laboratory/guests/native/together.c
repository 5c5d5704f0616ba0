/* What the members of an OpenMP team do together: regions, barriers, reductions. */
#include <omp.h>
#include <stddef.h>
#include <stdint.h>

enum { MEMBERS = 4096, LINE = 64 };

/* How often each member has been here, a line each. */
static struct {
    uint64_t times;
    char rest[LINE - sizeof(uint64_t)];
} visits[MEMBERS] __attribute__((aligned(LINE)));

/* An empty region, but for the visit. */
void guest_region(void) {
#pragma omp parallel
    visits[omp_get_thread_num()].times++;
}

void guest_barriers(int barriers) {
#pragma omp parallel
    for (int at = 0; at < barriers; at++) {
        visits[omp_get_thread_num()].times++;
#pragma omp barrier
    }
}

/* A reduction of three variables, which compilers do under the runtime's lock: the members'
 * numbers, their sum, the least and the greatest. Returns a mixture of the three. */
uint64_t guest_reduction(uint64_t call) {
    uint64_t sum = 0, least = UINT64_MAX, most = 0;
#pragma omp parallel reduction(+ : sum) reduction(min : least) reduction(max : most)
    {
        uint64_t number = call + (uint64_t)omp_get_thread_num();
        sum += number;
        least = number < least ? number : least;
        most = number > most ? number : most;
    }
    return sum + 3 * least + 5 * most;
}

uint64_t guest_visits(int member) {
    return visits[member].times;
}
