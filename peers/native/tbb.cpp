// Glue to oneTBB.
#include "glue.h"
#include <memory>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/version.h>
#include <string>

namespace {

std::unique_ptr<tbb::global_control> limit;
std::unique_ptr<tbb::task_arena> arena;
// Remembers which thread ran what, from one loop of a session to the next.
std::unique_ptr<tbb::affinity_partitioner> affinity;

template <typename Body> void loop(int policy, size_t n, const Body &body) {
    switch (policy) {
    case 0: tbb::parallel_for(size_t{0}, n, body, tbb::auto_partitioner{}); break;
    case 1: tbb::parallel_for(size_t{0}, n, body, tbb::static_partitioner{}); break;
    case 2: tbb::parallel_for(size_t{0}, n, body, *affinity); break;
    }
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
    loop(policy, n, [=](size_t i) { body(i, context); });
}

void glue_trivial(int policy, size_t n) {
    loop(policy, n, [](size_t i) { peers_trivial_inline(i); });
}

void glue_tiny(int policy, size_t n) {
    loop(policy, n, [](size_t i) { peers_tiny_inline(i); });
}
