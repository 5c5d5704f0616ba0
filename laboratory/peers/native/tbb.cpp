// Glue to oneTBB.
#include "glue.h"
#include <memory>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/version.h>
#include <string>

namespace {

std::unique_ptr<tbb::global_control> limit;
std::unique_ptr<tbb::task_arena> arena;
// Remembers which thread ran what, from one loop of a session to the next.
std::unique_ptr<tbb::affinity_partitioner> affinity;

template <typename Body>
void loop(int policy, size_t n, const Body &body, tbb::affinity_partitioner &affinity) {
    switch (policy) {
    case 0: tbb::parallel_for(size_t{0}, n, body, tbb::auto_partitioner{}); break;
    case 1: tbb::parallel_for(size_t{0}, n, body, tbb::static_partitioner{}); break;
    case 2: tbb::parallel_for(size_t{0}, n, body, affinity); break;
    }
}

// The two ways to join.
struct Group {
    template <typename A, typename B> static void join(const A &a, const B &b) {
        tbb::task_group group;
        group.run(a);
        b();
        group.wait();
    }
};

struct Invoke {
    template <typename A, typename B> static void join(const A &a, const B &b) {
        tbb::parallel_invoke(a, b);
    }
};

template <typename Join> void empty(uint32_t levels) {
    if (levels == 0)
        return peers_trivial_inline(0);
    Join::join([=] { empty<Join>(levels - 1); }, [=] { empty<Join>(levels - 1); });
}

template <typename Join> uint64_t fib(uint32_t n) {
    if (n < 2)
        return n;
    uint64_t a, b;
    Join::join([&a, n] { a = fib<Join>(n - 1); }, [&b, n] { b = fib<Join>(n - 2); });
    return a + b;
}

template <typename Join> uint64_t sum(const peers_node *node) {
    if (!node->left)
        return node->value;
    uint64_t a, b;
    Join::join([&a, node] { a = sum<Join>(node->left); },
               [&b, node] { b = sum<Join>(node->right); });
    return node->value + a + b;
}

} // namespace

const char *glue_version(void) {
    static const std::string text = std::string("oneTBB ") + TBB_runtime_version();
    return text.c_str();
}

void glue_open(int threads) {
    limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                  static_cast<size_t>(threads));
    arena = std::make_unique<tbb::task_arena>(threads);
}

void glue_enter(void (*session)(void *), void *state) {
    affinity = std::make_unique<tbb::affinity_partitioner>();
    arena->execute([=] { session(state); });
}

void glue_call(int policy, size_t n, peers_body body, const void *context) {
    loop(policy, n, [=](size_t i) { body(i, context); }, *affinity);
}

void glue_request(int policy, size_t n, peers_body body, const void *context) {
    // No two callers may use one at a time.
    static thread_local tbb::affinity_partitioner own;
    tbb::affinity_partitioner &callers = own;
    arena->execute([=, &callers] {
        loop(policy, n, [=](size_t i) { body(i, context); }, callers);
    });
}

void glue_trivial(int policy, size_t n) {
    loop(policy, n, [](size_t i) { peers_trivial_inline(i); }, *affinity);
}

void glue_tiny(int policy, size_t n) {
    loop(policy, n, [](size_t i) { peers_tiny_inline(i); }, *affinity);
}

void glue_enter_joins(void (*session)(void *), void *state) {
    arena->execute([=] { session(state); });
}

void glue_empty(int policy, uint32_t levels) {
    policy == 0 ? empty<Group>(levels) : empty<Invoke>(levels);
}

uint64_t glue_fib(int policy, uint32_t n) { return policy == 0 ? fib<Group>(n) : fib<Invoke>(n); }

uint64_t glue_sum(int policy, const peers_node *node) {
    return policy == 0 ? sum<Group>(node) : sum<Invoke>(node);
}
