/* Glue to OpenMP: compiled with gcc it is GNU's, with clang it is LLVM's. */
#include "glue.h"
#include <omp.h>

#define TEXT(x) #x
#define PRAGMA(x) _Pragma(TEXT(x))

const char *glue_version(void) {
#ifdef __clang__
    return "LLVM OpenMP, clang " __clang_version__;
#else
    return "GNU OpenMP, gcc " __VERSION__;
#endif
}

/* In a team. */
static int team;

void glue_open(int threads) {
    team = threads;
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
}

void glue_enter(void (*session)(void *), void *state) { session(state); }

#define LOOP(schedule_kind, statement)                                                             \
    PRAGMA(omp parallel for schedule(schedule_kind))                                               \
    for (size_t i = 0; i < n; ++i) {                                                               \
        statement;                                                                                 \
    }                                                                                              \
    break;

#define LOOPS(statement)                                                                           \
    switch (policy) {                                                                              \
    case 0: LOOP(static, statement)                                                                \
    case 1: LOOP(dynamic, statement)                                                               \
    case 2: LOOP(guided, statement)                                                                \
    case 3: LOOP(auto, statement)                                                                  \
    }

void glue_call(int policy, size_t n, peers_body body, const void *context) {
    LOOPS(body(i, context))
}

void glue_request(int policy, size_t n, peers_body body, const void *context) {
    /* Each thread has a number of threads of its own. */
    omp_set_num_threads(team);
    LOOPS(body(i, context))
}

void glue_trivial(int policy, size_t n) { LOOPS(peers_trivial_inline(i)) }

void glue_tiny(int policy, size_t n) { LOOPS(peers_tiny_inline(i)) }

void glue_enter_joins(void (*session)(void *), void *state) {
#pragma omp parallel
#pragma omp single
    session(state);
}

static void empty(uint32_t levels) {
    if (levels == 0) {
        peers_trivial_inline(0);
        return;
    }
#pragma omp task
    empty(levels - 1);
    empty(levels - 1);
#pragma omp taskwait
}

static uint64_t fib(uint32_t n) {
    if (n < 2)
        return n;
    uint64_t a, b;
#pragma omp task shared(a)
    a = fib(n - 1);
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static uint64_t sum(const struct peers_node *node) {
    if (!node->left)
        return node->value;
    uint64_t a, b;
#pragma omp task shared(a)
    a = sum(node->left);
    b = sum(node->right);
#pragma omp taskwait
    return node->value + a + b;
}

/* There is one kind of join. */
void glue_empty(int policy, uint32_t levels) {
    (void)policy;
    empty(levels);
}

uint64_t glue_fib(int policy, uint32_t n) {
    (void)policy;
    return fib(n);
}

uint64_t glue_sum(int policy, const struct peers_node *node) {
    (void)policy;
    return sum(node);
}
