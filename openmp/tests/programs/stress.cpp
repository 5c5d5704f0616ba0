// Ranks that are cut at any instruction keep what is theirs.
//
//   stress [SECONDS]
//
// Each episode begins with ranks that wait for each other by spinning on words of memory. So the library
// gives them turns of some 40 us for the whole episode, and each is cut again and again wherever it is.
// Meanwhile ranks check thread-locals, errno, allocations, the modes of the floating-point
// unit, registers of vectors, exceptions and locks. Writes "ok", and to standard error how often a
// rank found itself on another kernel thread.
#include <cerrno>
#include <cfenv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <omp.h>
#include <pthread.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

static long own[16];
#pragma omp threadprivate(own)

static const int MOST = 64;
struct alignas(128) Word { uint64_t value; };
static Word ring[MOST];
static long moves, failures, criticals, atomics;

static void check(bool holds, const char *what)
{
    if (holds)
        return;
#pragma omp critical(report)
    std::fprintf(stderr, "stress: %s is wrong\n", what);
#pragma omp atomic
    failures++;
}

struct Random {
    uint64_t state;
    uint64_t next()
    {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        return state;
    }
};

__attribute__((noinline)) static uint64_t spend(long steps, uint64_t value)
{
    for (long i = 0; i < steps; i++) {
        value = value * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}

// A leaf keeps what it has below its stack pointer.
static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static void thread_locals(Random &random, long *counts)
{
    int at = random.next() % 16;
    for (int i = 0; i < 2000; i++) {
        own[at]++;
        __asm__ volatile("" ::: "memory");
    }
    counts[at] += 2000;
    for (int i = 0; i < 16; i++)
        check(own[i] == counts[i], "a thread-local");
}

static void error_number(Random &random)
{
    int mine = 1000 + int(random.next() % 1000);
    errno = mine;
    spend(random.next() % 20000, 1);
    check(errno == mine, "errno");
}

static void allocations(Random &random)
{
    unsigned char *blocks[16];
    size_t sizes[16];
    for (int i = 0; i < 16; i++) {
        sizes[i] = 1 + random.next() % (i % 4 ? 500 : 200000);
        blocks[i] = static_cast<unsigned char *>(std::malloc(sizes[i]));
        std::memset(blocks[i], i + 1, sizes[i]);
    }
    for (int i = 0; i < 16; i++) {
        check(blocks[i][0] == i + 1 && blocks[i][sizes[i] - 1] == i + 1, "an allocation");
        std::free(blocks[i]);
    }
}

static void rounding(int rank, Random &random)
{
    static const int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    std::fesetround(modes[rank % 4]);
    volatile double one = 1, three = 3;
    volatile long double long_one = 1, long_three = 3;
    double first = one / three;
    long double long_first = long_one / long_three;
    for (int i = 0; i < 20; i++) {
        spend(random.next() % 2000, 1);
        check(one / three == first, "the rounding of SSE");
        check(long_one / long_three == long_first, "the rounding of x87");
    }
    check(std::fegetround() == modes[rank % 4], "the rounding mode");
    std::fesetround(FE_TONEAREST);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void vectors(Random &random)
{
    if (!__builtin_cpu_supports("avx2"))
        return;
    long steps = 1000 + long(random.next() % 20000);
    __m256i sums[8];
    for (int i = 0; i < 8; i++)
        sums[i] = _mm256_set_epi64x(i, i + 1, i + 2, i + 3);
    __m256i a = sums[0], b = sums[1], c = sums[2], d = sums[3], one = _mm256_set1_epi64x(1);
    for (long i = 0; i < steps; i++) {
        a = _mm256_add_epi64(a, one), b = _mm256_add_epi64(b, one);
        c = _mm256_add_epi64(c, one), d = _mm256_add_epi64(d, one);
        __asm__ volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d));
    }
    __m256i ends[4] = {a, b, c, d};
    for (int i = 0; i < 4; i++) {
        long lanes[4];
        std::memcpy(lanes, &ends[i], sizeof lanes);
        for (int lane = 0; lane < 4; lane++)
            check(lanes[lane] == steps + i + 3 - lane, "a register of vectors");
    }
    long double sum = 0;
    for (long i = 1; i <= 1000; i++)
        sum += i;
    check(sum == 500500, "a register of x87");
}
#else
static void vectors(Random &) {}
#endif

struct Counted {
    int &count;
    explicit Counted(int &count) : count(count) { ++count; }
    ~Counted() { --count; }
};

static int dive(int depth, int &count)
{
    Counted here(count);
    if (depth == 0)
        throw std::string("bottom");
    return dive(depth - 1, count) + 1;
}

static void exceptions(Random &random)
{
    int count = 0, caught = 0;
    for (int i = 0; i < 20; i++) {
        try {
            dive(int(random.next() % 30), count);
        } catch (const std::string &text) {
            caught += text == "bottom";
        }
    }
    check(caught == 20 && count == 0, "an exception");
}

static void text(Random &random)
{
    double value = double(random.next() % 1000000) / 1024;
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.10f", value);
    check(std::strtod(buffer, nullptr) == value, "text");
}

static void locks(Random &random)
{
    spend(random.next() % 1000, 1);
#pragma omp critical
    {
        long before = criticals;
        spend(random.next() % 500, 1);
        criticals = before + 1;
    }
#pragma omp atomic
    atomics++;
}

int main(int count, char **words)
{
    double seconds = count > 1 ? std::atof(words[1]) : 1;
    double until = omp_get_wtime() + seconds;
    int go_on = 1;
    long locked = 0;
#pragma omp parallel reduction(+ : locked)
    {
        int rank = omp_get_thread_num(), ranks = omp_get_num_threads();
        Random random = {0x9e3779b97f4a7c15u * (rank + 1)};
        long counts[16];
        std::memcpy(counts, own, sizeof counts);
        pthread_t self = pthread_self();
        int thread = int(syscall(SYS_gettid));
        for (uint64_t episode = 1;; episode++) {
            // Twice round: each waits for the one before.
            for (uint64_t turn = 1; turn <= 2; turn++) {
                uint64_t want = 2 * episode + turn - (rank == 0);
                if (rank == 0 && turn == 1)
                    want = 0;
                Word &before = ring[(rank + ranks - 1) % ranks];
                while (ranks > 1 && __atomic_load_n(&before.value, __ATOMIC_ACQUIRE) < want)
                    ;
                __atomic_store_n(&ring[rank].value, 2 * episode + turn, __ATOMIC_RELEASE);
            }
            for (int i = 0; i < 20; i++) {
                switch (random.next() % 8) {
                case 0: thread_locals(random, counts); break;
                case 1: error_number(random); break;
                case 2: allocations(random); break;
                case 3: rounding(rank, random); break;
                case 4: vectors(random); break;
                case 5: exceptions(random); break;
                case 6: text(random); check(fib(15) == 610, "a leaf's stack"); break;
                case 7: locks(random); locked++; break;
                }
                check(pthread_equal(self, pthread_self()), "pthread_self");
                int now = int(syscall(SYS_gettid));
                if (now != thread) {
                    thread = now;
#pragma omp atomic
                    moves++;
                }
            }
#pragma omp master
            go_on = omp_get_wtime() < until;
#pragma omp barrier
            int goes_on;
#pragma omp atomic read
            goes_on = go_on;
            if (!goes_on)
                break;
#pragma omp barrier
        }
    }
    check(criticals == locked && atomics == locked, "a sum behind a lock");
    std::fprintf(stderr, "moves %ld\n", moves);
    std::puts(failures ? "WRONG" : "ok");
    return failures != 0;
}
