// What a program does beside OpenMP, mixed at random: each step's result is known.
//
//   mixtures SEED LIBRARY     a library with regions, loaded and closed while it runs
//
// Ends by `exit` in a region, with a rank that is blocked in the kernel: status 3.
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <dlfcn.h>
#include <omp.h>
#include <sched.h>
#include <stdexcept>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static uint64_t state;
static int own;
#pragma omp threadprivate(own)

static unsigned random_below(unsigned most)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % most;
}

static void expect(const char *what, long found, long expected)
{
    if (found == expected)
        return;
    std::fprintf(stderr, "%s: %ld, expected %ld\n", what, found, expected);
    _exit(1);
}

static long region(int threads, int intervals)
{
    long sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    for (int i = 0; i < intervals; i++) {
#pragma omp for schedule(dynamic, 7) nowait
        for (int k = 0; k < 100; k++)
            sum += k;
#pragma omp barrier
    }
    return sum;
}

static long nested(int outer, int inner)
{
    long sum = 0;
#pragma omp parallel num_threads(outer) reduction(+ : sum)
    {
#pragma omp single nowait
        sum += region(inner, 2);
        sum += region(2, 1);
    }
    return sum;
}

// Thrown and caught in the same task, some while others wait for it.
static long exceptions(int threads, int tasks)
{
    long caught = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < tasks; i++) {
#pragma omp task firstprivate(i) shared(caught)
        try {
            if (i % 3)
                throw std::runtime_error("thrown");
#pragma omp task shared(caught)
            try {
                throw i;
            } catch (int) {
#pragma omp atomic
                caught++;
            }
#pragma omp taskwait
            throw 1.5;
        } catch (const std::exception &) {
#pragma omp atomic
            caught++;
        } catch (double) {
#pragma omp atomic
            caught++;
        }
    }
    return caught;
}

static long foreign(int threads, int size)
{
    std::atomic<long> sum{0};
    std::vector<std::thread> all;
    for (int i = 0; i < threads; i++)
        all.emplace_back([&] { sum += region(size, 3); });
    sum += region(size, 3);
    for (auto &one : all)
        one.join();
    return sum;
}

static long forked(int size)
{
    pid_t child = fork();
    if (child == 0)
        _exit(region(size, 2) == 2 * 4950 && exceptions(size, 9) == 12 ? 7 : 8);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// One member waits in the kernel for a byte that the last to come writes.
static long blocked(int size)
{
    int ends[2];
    long sum = 0;
    if (pipe(ends))
        return -1;
#pragma omp parallel num_threads(size) reduction(+ : sum)
    {
        char byte = 5;
        if (omp_get_thread_num() == omp_get_num_threads() - 1)
            sum += write(ends[1], &byte, 1);
        if (omp_get_thread_num() == 0) {
            byte = 0;
            while (read(ends[0], &byte, 1) < 0) // a cut may end it early
                ;
            sum += byte;
        }
    }
    close(ends[0]);
    close(ends[1]);
    return sum;
}

// All threads on one core, or on all again.
static void confine(bool to_one)
{
    static cpu_set_t before;
    static bool known = !sched_getaffinity(0, sizeof before, &before);
    cpu_set_t mask = before;
    if (!known)
        return;
    for (int cpu = 0, first = 1; to_one && cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &before) && !first)
            CPU_CLR(cpu, &mask);
        else if (CPU_ISSET(cpu, &before))
            first = 0;
    DIR *folder = opendir("/proc/self/task");
    while (dirent *entry = folder ? readdir(folder) : nullptr)
        if (entry->d_name[0] != '.')
            sched_setaffinity(std::atoi(entry->d_name), sizeof mask, &mask);
    if (folder)
        closedir(folder);
}

// The library's regions, from a thread of the program's, beside the program's own.
static long plugged(const char *path, int size)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library) {
        std::fprintf(stderr, "%s\n", dlerror());
        return -1;
    }
    auto sums = (int (*)(int))dlsym(library, "sums");
    long wrong = 0;
    std::thread other([&] { wrong += sums(size); });
    expect("beside a library", region(size, 4), 4 * 4950);
    other.join();
    wrong += sums(size);
    dlclose(library);
    return wrong;
}

__attribute__((noinline)) static void jump(jmp_buf &where, int depth)
{
    if (depth == 0)
        longjmp(where, 1);
    jump(where, depth - 1);
    __asm__ volatile("");
}

// Every rank jumps out of calls of its own, while others are cut.
static long jumps(int threads, int times)
{
    long landed = 0;
#pragma omp parallel num_threads(threads) reduction(+ : landed)
    for (volatile int i = 0; i < times; i = i + 1) {
        jmp_buf where;
        volatile int me = omp_get_thread_num();
        if (setjmp(where) == 0)
            jump(where, i % 20);
        landed += me == omp_get_thread_num();
        if (i % 64 == 0) {
#pragma omp barrier
        }
    }
    return landed;
}

static volatile sig_atomic_t rung;

// A timer of the program's own, whose handler interrupts ranks that compute and tasks that wait for each other.
static long timed(int threads, int chains)
{
    long wrong = 0;
    std::vector<int> links(chains, 0);
    signal(SIGALRM, [](int) { rung = rung + 1; });
    itimerval often{{0, 500}, {0, 500}}, never{};
    setitimer(ITIMER_REAL, &often, nullptr);
#pragma omp parallel num_threads(threads)
#pragma omp for
    for (int chain = 0; chain < chains; chain++)
        for (int link = 0; link < 10; link++) {
            int *at = &links[chain];
#pragma omp task depend(inout : *at) firstprivate(at, link)
            {
                for (volatile int spent = 0; spent < 3000; spent = spent + 1)
                    ;
                if (*at != link) {
#pragma omp atomic
                    wrong++;
                }
                *at = link + 1;
            }
        }
    setitimer(ITIMER_REAL, &never, nullptr);
    for (int link : links)
        wrong += link != 10;
    return wrong;
}

int main(int, char **arguments)
{
    state = std::strtoull(arguments[1], nullptr, 10) * 2 + 1;
    int size = omp_get_max_threads();
    omp_set_max_active_levels(3);
    for (int step = 0; step < 40; step++) {
        int some = 1 + (int)random_below(2 * size);
        switch (random_below(10)) {
        case 0: expect("region", region(some, 5), 5 * 4950); break;
        case 1: expect("nested", nested(some, 2), 4950 * (2 + some)); break;
        case 2: expect("exceptions", exceptions(some, 30), 40); break;
        case 3: expect("foreign", foreign(3, some), 4 * 3 * 4950); break;
        case 4: expect("forked", forked(some), 7); break;
        case 5: expect("blocked", blocked(1 + some), 6); break;
        case 6: confine(random_below(2)); break;
        case 7: expect("plugged", plugged(arguments[2], size), 0); break;
        case 8: expect("jumps", jumps(some, 500), 500L * some); break;
        case 9: expect("timed", timed(some, 12), 0); break;
        }
    }
    confine(false);
#pragma omp parallel num_threads(size + 1)
    own = omp_get_thread_num();
    std::puts("ok");
    std::fflush(stdout);
    int ends[2];
    if (pipe(ends))
        return 1;
#pragma omp parallel num_threads(size + 1)
    {
        char byte;
        if (omp_get_thread_num() == 0)
            while (read(ends[0], &byte, 1) < 0) // for ever
                ;
        else if (omp_get_thread_num() == size)
            std::exit(3);
    }
}
