/* Loops, sums, joins and spawned tasks of oneTBB around functions that run a range. */
#include <cstddef>
#include <cstdint>
#include <memory>
#include <oneapi/tbb.h>

namespace {
using range = oneapi::tbb::blocked_range<std::size_t>;
using run_range = void(const void *body, std::size_t from, std::size_t to);
using sum_range = std::uint64_t(const void *term, std::size_t from, std::size_t to);
using run_once = void(void *job);

/* Without this limit, an arena has no more threads than the machine has cores. */
std::unique_ptr<oneapi::tbb::global_control> limit;
std::unique_ptr<oneapi::tbb::task_arena> arena;
} // namespace

extern "C" {
void guest_start(int threads) {
    using oneapi::tbb::global_control;
    limit = std::make_unique<global_control>(global_control::max_allowed_parallelism, threads);
    arena = std::make_unique<oneapi::tbb::task_arena>(threads);
}

void guest_enter(run_once *run, void *job) {
    arena->execute([&] { run(job); });
}

void guest_for(std::size_t n, run_range *run, const void *body) {
    oneapi::tbb::parallel_for(range(0, n),
                              [&](const range &part) { run(body, part.begin(), part.end()); });
}

void guest_blocks(std::size_t n, std::size_t block, run_range *run, const void *body) {
    std::size_t blocks = (n + block - 1) / block;
    auto each = [&](const range &part) {
        for (std::size_t at = part.begin(); at < part.end(); at++)
            run(body, at * block, at + 1 == blocks ? n : (at + 1) * block);
    };
    oneapi::tbb::parallel_for(range(0, blocks, 1), each, oneapi::tbb::simple_partitioner());
}

std::uint64_t guest_sum(std::size_t n, sum_range *sum, const void *term) {
    auto part_sum = [&](const range &part, std::uint64_t so_far) {
        return so_far + sum(term, part.begin(), part.end());
    };
    auto plus = [](std::uint64_t a, std::uint64_t b) { return a + b; };
    return oneapi::tbb::parallel_reduce(range(0, n), std::uint64_t{0}, part_sum, plus);
}

void guest_join(run_once *run_a, void *a, run_once *run_b, void *b) {
    oneapi::tbb::parallel_invoke([=] { run_a(a); }, [=] { run_b(b); });
}

void guest_spawn_each(std::size_t n, run_range *run, const void *body) {
    oneapi::tbb::task_group group;
    for (std::size_t at = 0; at < n; at++)
        group.run([=] { run(body, at, at + 1); });
    group.wait();
}
}
