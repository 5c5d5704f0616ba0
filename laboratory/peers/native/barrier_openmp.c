/* The barrier of OpenMP: compiled with gcc it is GNU's, with clang it is LLVM's. */
#include "barrier.h"
#include <omp.h>
#include <stddef.h>

const char *barrier_version(void) {
#ifdef __clang__
    return "LLVM OpenMP, clang " __clang_version__;
#else
    return "GNU OpenMP, gcc " __VERSION__;
#endif
}

void barrier_team(int threads, barrier_member member, void *state) {
    omp_set_dynamic(0);
#pragma omp parallel num_threads(threads)
    member(state, omp_get_thread_num(), NULL);
}

/* Belongs to the team of the region in which it is called. */
void barrier_wait(void *barrier, uint32_t episodes) {
    (void)barrier;
    for (uint32_t i = 0; i < episodes; ++i) {
#pragma omp barrier
    }
}
