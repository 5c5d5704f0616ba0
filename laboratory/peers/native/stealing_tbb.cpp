// oneTBB's work stealing: a worker's pile is its own deque of an arena.
#include "stealing.h"
#include <memory>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

namespace {

int members;
std::unique_ptr<tbb::global_control> limit;
std::unique_ptr<tbb::task_arena> arena;

// Where a worker puts its tasks.
struct Pile {
    tbb::task_group &group;
    stealing_task task;
    void *state;
};

} // namespace

void stealing_open(int workers) {
    members = workers;
    limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                  static_cast<size_t>(workers));
    arena = std::make_unique<tbb::task_arena>(workers);
}

void stealing_run(stealing_fill fill, stealing_task task, void *state) {
    arena->execute([=] {
        tbb::task_group group;
        Pile pile{group, task, state};
        // `fill` waits for all the others, so that no worker takes two of these.
        for (int rank = 1; rank < members; ++rank)
            group.run([=, &pile] { fill(state, rank, &pile); });
        fill(state, 0, &pile);
        group.wait();
    });
}

void stealing_put(void *pile, int number) {
    auto &own = *static_cast<Pile *>(pile);
    own.group.run([task = own.task, state = own.state, number] { task(state, number); });
}
