// The barrier of the C++ standard library.
#include "barrier.h"
#include <barrier>
#include <string>
#include <thread>
#include <vector>

const char *barrier_version(void) {
#if defined(_LIBCPP_VERSION)
    static const std::string text = "libc++ " + std::to_string(_LIBCPP_VERSION);
#elif defined(_GLIBCXX_RELEASE)
    static const std::string text = "libstdc++ " + std::to_string(_GLIBCXX_RELEASE);
#else
    static const std::string text = "C++";
#endif
    return text.c_str();
}

// A thread that cannot be had is an exception that nobody catches.
void barrier_team(int threads, barrier_member member, void *state) {
    std::barrier barrier(threads);
    std::vector<std::thread> team;
    for (int rank = 1; rank < threads; ++rank)
        team.emplace_back(member, state, rank, &barrier);
    member(state, 0, &barrier);
    for (auto &thread : team)
        thread.join();
}

void barrier_wait(void *barrier, uint32_t episodes) {
    auto &the_barrier = *static_cast<std::barrier<> *>(barrier);
    for (uint32_t i = 0; i < episodes; ++i)
        the_barrier.arrive_and_wait();
}
