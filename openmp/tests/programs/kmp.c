// LLVM's functions, called by name. Clang itself calls them rarely or never; Intel's compilers and Fortran's
// do. The output does not depend on the number of threads.
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *Place;
extern int __kmpc_global_thread_num(Place);

static uint64_t sum;

static void add(uint64_t value)
{
    sum = (sum ^ value) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 29;
}

static uint64_t state = 1;

// Returns one of a few values, among them the edges of the type.
static int64_t some(void)
{
    static const int64_t values[] = {1, 2, 3, 5, 7, -1, -2, -100, 100, 0x7f, 0x7fff, 0x7fffffff};
    state = state * 6364136223846793005u + 1442695040888963407u;
    return values[(state >> 40) % (sizeof values / sizeof *values)];
}

#define CHANGE(NAME, NUMBER, OPERATION, IS_SHIFT)                                               \
    {                                                                                              \
        extern void __kmpc_atomic_##NAME##_##OPERATION(Place, int, NUMBER *, NUMBER);              \
        extern NUMBER __kmpc_atomic_##NAME##_##OPERATION##_cpt(Place, int, NUMBER *, NUMBER, int); \
        for (int i = 0; i < 50; i++) {                                                             \
            NUMBER at = (NUMBER)some(), by = (NUMBER)some();                                       \
            if (IS_SHIFT)                                                                           \
                by = (NUMBER)((by & 7));                                                           \
            __kmpc_atomic_##NAME##_##OPERATION(0, 0, &at, by);                                     \
            add((uint64_t)at);                                                                     \
            add((uint64_t)__kmpc_atomic_##NAME##_##OPERATION##_cpt(0, 0, &at, by, i & 1));         \
            add((uint64_t)at);                                                                     \
        }                                                                                          \
        printf("%s %016lx\n", #NAME "_" #OPERATION, (unsigned long)sum);                           \
    }

#define ALL_CHANGES(NAME, NUMBER)                                                                  \
    CHANGE(NAME, NUMBER, add, 0)                                                                 \
    CHANGE(NAME, NUMBER, sub, 0)                                                                 \
    CHANGE(NAME, NUMBER, mul, 0)                                                                 \
    CHANGE(NAME, NUMBER, div, 0)                                                                 \
    CHANGE(NAME, NUMBER, min, 0)                                                                 \
    CHANGE(NAME, NUMBER, max, 0)

#define INTEGER_CHANGES(NAME, NUMBER)                                                              \
    ALL_CHANGES(NAME, NUMBER)                                                                      \
    CHANGE(NAME, NUMBER, andb, 0)                                                                \
    CHANGE(NAME, NUMBER, orb, 0)                                                                 \
    CHANGE(NAME, NUMBER, xor, 0)                                                                 \
    CHANGE(NAME, NUMBER, andl, 0)                                                                \
    CHANGE(NAME, NUMBER, orl, 0)                                                                 \
    CHANGE(NAME, NUMBER, eqv, 0)                                                                 \
    CHANGE(NAME, NUMBER, neqv, 0)                                                                \
    CHANGE(NAME, NUMBER, shl, 1)                                                                 \
    CHANGE(NAME, NUMBER, shr, 1)

extern int __kmpc_atomic_fixed4_rd(Place, int, int *);
extern void __kmpc_atomic_fixed4_wr(Place, int, int *, int);
extern int __kmpc_atomic_fixed4_swp(Place, int, int *, int);
extern void __kmpc_atomic_fixed4_sub_rev(Place, int, int *, int);
extern void __kmpc_atomic_fixed4u_div(Place, int, unsigned *, unsigned);
extern void __kmpc_atomic_fixed8_mul_float8(Place, int, int64_t *, double);
extern void __kmpc_atomic_4(Place, int, void *, void *, void (*)(void *, void *, void *));
extern void __kmpc_atomic_16(Place, int, void *, void *, void (*)(void *, void *, void *));

static void larger(void *result, void *one, void *other)
{
    int a = *(int *)one, b = *(int *)other;
    *(int *)result = a > b ? a : b;
}

struct Pair { int64_t first, second; };

static void add_pairs(void *result, void *one, void *other)
{
    struct Pair *to = result, a = *(struct Pair *)one, b = *(struct Pair *)other;
    to->first = a.first + b.first;
    to->second = a.second + b.second;
}

static void atomics(void)
{
    INTEGER_CHANGES(fixed1, int8_t)
    INTEGER_CHANGES(fixed2, int16_t)
    INTEGER_CHANGES(fixed4, int32_t)
    INTEGER_CHANGES(fixed8, int64_t)
    ALL_CHANGES(float4, float)
    ALL_CHANGES(float8, double)
    int value = 5;
    __kmpc_atomic_fixed4_wr(0, 0, &value, 9);
    int before = __kmpc_atomic_fixed4_swp(0, 0, &value, 4);
    __kmpc_atomic_fixed4_sub_rev(0, 0, &value, 100);
    unsigned natural = 4000000000u;
    __kmpc_atomic_fixed4u_div(0, 0, &natural, 7);
    int64_t scaled = 1000;
    __kmpc_atomic_fixed8_mul_float8(0, 0, &scaled, 2.5);
    printf("accesses %d %d %d %u %ld\n", before, value, __kmpc_atomic_fixed4_rd(0, 0, &value), natural,
           (long)scaled);
    int most = 0;
    struct Pair pair = {0, 0};
    int32_t count = 0;
#pragma omp parallel for
    for (int i = 0; i < 3000; i++) {
        extern void __kmpc_atomic_fixed4_add(Place, int, int32_t *, int32_t);
        __kmpc_atomic_fixed4_add(0, 0, &count, 1);
        struct Pair one = {1, i};
        __kmpc_atomic_4(0, 0, &most, &i, larger);
        __kmpc_atomic_16(0, 0, &pair, &one, add_pairs);
    }
    printf("together %d %d %ld %ld\n", (int)count, most, (long)pair.first, (long)pair.second);
}

extern void __kmpc_init_lock(Place, int, void **);
extern void __kmpc_set_lock(Place, int, void **);
extern void __kmpc_unset_lock(Place, int, void **);
extern int __kmpc_test_lock(Place, int, void **);
extern void __kmpc_destroy_lock(Place, int, void **);
extern void __kmpc_init_nest_lock(Place, int, void **);
extern void __kmpc_set_nest_lock(Place, int, void **);
extern void __kmpc_unset_nest_lock(Place, int, void **);
extern int __kmpc_test_nest_lock(Place, int, void **);
extern void __kmpc_destroy_nest_lock(Place, int, void **);

static void locks(void)
{
    void *lock = 0, *nest = 0;
    long count = 0, nested = 0;
    __kmpc_init_lock(0, 0, &lock);
    __kmpc_init_nest_lock(0, 0, &nest);
#pragma omp parallel for
    for (int i = 0; i < 2000; i++) {
        int number = __kmpc_global_thread_num(0);
        if (i % 3 || !__kmpc_test_lock(0, number, &lock))
            __kmpc_set_lock(0, number, &lock);
        count++;
        __kmpc_unset_lock(0, number, &lock);
        __kmpc_set_nest_lock(0, number, &nest);
        nested += __kmpc_test_nest_lock(0, number, &nest);
        __kmpc_unset_nest_lock(0, number, &nest);
        __kmpc_unset_nest_lock(0, number, &nest);
    }
    __kmpc_destroy_lock(0, 0, &lock);
    __kmpc_destroy_nest_lock(0, 0, &nest);
    printf("locks %ld %ld\n", count, nested);
}

extern int __kmpc_barrier_master(Place, int);
extern void __kmpc_end_barrier_master(Place, int);
extern void *kmp_malloc(size_t);
extern void *kmp_calloc(size_t, size_t);
extern void *kmp_realloc(void *, size_t);
extern void *kmp_aligned_malloc(size_t, size_t);
extern void kmp_free(void *);

static void others(void)
{
    int masters = 0, wrong = 0;
    for (int round = 0; round < 20; round++) {
        int seen = 0;
#pragma omp parallel
        {
            int number = __kmpc_global_thread_num(0);
            if (__kmpc_barrier_master(0, number)) {
                seen = 1;
                masters++;
                __kmpc_end_barrier_master(0, number);
            }
            if (!seen) {
#pragma omp atomic
                wrong++;
            }
        }
    }
    char *memory = kmp_malloc(100);
    memset(memory, 7, 100);
    memory = kmp_realloc(memory, 5000);
    char *zeros = kmp_calloc(3, 50), *aligned = kmp_aligned_malloc(10, 256);
    int good = memory[99] == 7 && !zeros[149] && (uintptr_t)aligned % 256 == 0;
    kmp_free(memory);
    kmp_free(zeros);
    kmp_free(aligned);
    printf("others %d %d %d\n", masters, wrong, good);
}

extern void __kmpc_dist_for_static_init_4(Place, int, int, int *, int *, int *, int *, int *, int, int);
extern void __kmpc_dist_for_static_init_8u(Place, int, int, int *, uint64_t *, uint64_t *, uint64_t *,
                                           int64_t *, int64_t, int64_t);
extern void __kmpc_team_static_init_8(Place, int, int *, int64_t *, int64_t *, int64_t *, int64_t, int64_t);
extern void __kmpc_dist_dispatch_init_4(Place, int, int, int *, int, int, int, int);
extern int __kmpc_dispatch_next_4(Place, int, int *, int *, int *, int *);
extern void __kmpc_for_static_fini(Place, int);

#define MOST 1000
static int hits[MOST];

static void count_hits(const char *name, int from, int to, int step, int lasts)
{
    int wrong = 0;
    for (int i = 0; i < MOST; i++) {
        int expected = i >= from && i <= to && (i - from) % step == 0;
        wrong += hits[i] != expected;
        hits[i] = 0;
    }
    printf("%s %d, %d\n", name, wrong, lasts);
}

static void distribute(void)
{
    int lasts = 0;
#pragma omp teams num_teams(3)
#pragma omp parallel
    {
        int lower = 5, upper = 901, team = 0, stride = 0, last = 0, number = __kmpc_global_thread_num(0);
        __kmpc_dist_for_static_init_4(0, number, 34, &last, &lower, &upper, &team, &stride, 7, 1);
        for (int i = lower; i <= upper; i += 7) {
#pragma omp atomic
            hits[i]++;
        }
        __kmpc_for_static_fini(0, number);
#pragma omp atomic
        lasts += last;
    }
    count_hits("blocks", 5, 901, 7, lasts);
    lasts = 0;
#pragma omp teams num_teams(2)
#pragma omp parallel
    {
        uint64_t lower = 3, upper = 802, team = 0;
        int64_t stride = 0;
        int last = 0, number = __kmpc_global_thread_num(0);
        __kmpc_dist_for_static_init_8u(0, number, 33, &last, &lower, &upper, &team, &stride, 1, 6);
        for (; lower <= team; lower += stride, upper += stride)
            for (uint64_t i = lower; i <= upper && i <= team; i++) {
#pragma omp atomic
                hits[i]++;
            }
        __kmpc_for_static_fini(0, number);
#pragma omp atomic
        lasts += last;
    }
    count_hits("chunks", 3, 802, 1, lasts);
    lasts = 0;
#pragma omp teams num_teams(3)
    {
        int64_t lower = 0, upper = 500, stride = 0;
        int last = 0;
        __kmpc_team_static_init_8(0, __kmpc_global_thread_num(0), &last, &lower, &upper, &stride, 1, 8);
        for (; lower <= 500; lower += stride, upper += stride)
            for (int64_t i = lower; i <= upper && i <= 500; i++) {
#pragma omp atomic
                hits[i]++;
            }
#pragma omp atomic
        lasts += last;
    }
    count_hits("of teams", 0, 500, 1, lasts);
    int calls = 0;
#pragma omp teams num_teams(2)
#pragma omp parallel
    {
        int lower, upper, stride, last = 0, number = __kmpc_global_thread_num(0);
        __kmpc_dist_dispatch_init_4(0, number, 35, &last, 10, 700, 1, 9);
        while (__kmpc_dispatch_next_4(0, number, &last, &lower, &upper, &stride))
            for (int i = lower; i <= upper; i += stride) {
#pragma omp atomic
                hits[i]++;
            }
#pragma omp atomic
        calls++;
    }
    count_hits("dynamic", 10, 700, 1, calls > 0);
}

struct task {
    void *shareds;
    int (*entry)(int, struct task *);
    int part;
    void *destructors;
    int64_t priority;
    int number;
};
struct dependence {
    size_t address, bytes;
    unsigned char flags;
};
extern struct task *__kmpc_omp_task_alloc(Place, int, int, size_t, size_t, int (*)(int, struct task *));
extern int __kmpc_omp_task_with_deps(Place, int, struct task *, int, struct dependence *, int, void *);

static int order[64], ordered, beside;

static int note(int number, struct task *task)
{
    order[__atomic_fetch_add(&ordered, 1, __ATOMIC_SEQ_CST)] = task->number;
    return 0;
}

// A task during which no other task may run.
static int alone(int number, struct task *task)
{
    if (__atomic_fetch_add(&beside, 1, __ATOMIC_SEQ_CST))
        order[0] = -1;
    for (volatile int i = 0; i < 20000; i++)
        ;
    __atomic_fetch_sub(&beside, 1, __ATOMIC_SEQ_CST);
    return note(number, task);
}

static void make(int (*entry)(int, struct task *), int what, int count, struct dependence *on)
{
    int number = __kmpc_global_thread_num(0);
    struct task *task = __kmpc_omp_task_alloc(0, number, 1, sizeof *task, 0, entry);
    task->number = what;
    __kmpc_omp_task_with_deps(0, number, task, count, on, 0, 0);
}

// Dependences on all memory, by a flag and by an address, and tasks without work.
static void all_memory(void)
{
    long a = 0, b = 0, c = 0;
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < 9; round++) {
        struct dependence both[] = {{(size_t)&a, 8, 1}, {(size_t)&b, 8, 3}}, flag = {0, 0, 0x80},
                          address = {(size_t)-1, 0, 3}, third = {(size_t)&c, 8, 3};
        make(alone, 1, 2, both);
        make(alone, 2, 1, &flag);
        make(alone, 3, 1, &address);
        make(0, 0, 1, &third);
        make(alone, 4, 1, &third);
        make(alone, 5, 1, &address);
    }
    int wrong = ordered != 45;
    for (int i = 0; i < 45; i++)
        wrong += order[i] != i % 5 + 1;
    printf("all memory %d\n", wrong);
}

struct reduced {
    void *variable;
    size_t bytes;
    void (*begin)(void *), (*end)(void *), (*combine)(void *, void *);
    unsigned flags;
};
extern void *__kmpc_task_reduction_init(int, int, struct reduced *);
extern void *__kmpc_task_reduction_get_th_data(int, void *, void *);
extern void __kmpc_taskgroup(Place, int), __kmpc_end_taskgroup(Place, int);

static void zero(void *part) { *(long *)part = 0; }
static void sum_up(void *to, void *from) { *(long *)to += *(long *)from; }

// Reductions in the format of older compilers.
static void reductions(void)
{
    long total = 7;
#pragma omp parallel
#pragma omp single
    {
        int number = __kmpc_global_thread_num(0);
        __kmpc_taskgroup(0, number);
        struct reduced what = {&total, sizeof total, zero, 0, sum_up, 0};
        void *group = __kmpc_task_reduction_init(number, 1, &what);
        for (int i = 0; i < 100; i++) {
#pragma omp task firstprivate(group) shared(total)
            *(long *)__kmpc_task_reduction_get_th_data(__kmpc_global_thread_num(0), group, &total) += i;
        }
        __kmpc_end_taskgroup(0, number);
    }
    printf("reductions %ld\n", total);
}

int main(void)
{
    all_memory();
    reductions();
    atomics();
    locks();
    others();
    distribute();
    return 0;
}
