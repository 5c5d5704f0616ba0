// Threads of the C++ library: futures, atomics, a condition, thread-local objects.
#include <atomic>
#include <condition_variable>
#include <future>
#include <iostream>
#include <mutex>
#include <numeric>
#include <queue>
#include <thread>
#include <vector>
int main() {
    std::queue<int> queue;
    std::mutex mutex;
    std::condition_variable ready;
    std::atomic<long> sum{0};
    bool done = false;
    std::vector<std::thread> workers;
    for (int i = 0; i < 5; i++)
        workers.emplace_back([&] {
            for (;;) {
                std::unique_lock<std::mutex> lock(mutex);
                ready.wait(lock, [&] { return done || !queue.empty(); });
                if (queue.empty()) return;
                int item = queue.front();
                queue.pop();
                lock.unlock();
                sum += item * item;
            }
        });
    for (int i = 0; i < 500; i++) {
        std::lock_guard<std::mutex> lock(mutex);
        queue.push(i);
        ready.notify_one();
    }
    {
        std::lock_guard<std::mutex> lock(mutex);
        done = true;
    }
    ready.notify_all();
    for (auto &worker : workers) worker.join();
    auto future = std::async(std::launch::async, [] {
        std::vector<int> list(1000);
        std::iota(list.begin(), list.end(), 0);
        return std::accumulate(list.begin(), list.end(), 0L);
    });
    try {
        auto thrower = []() -> int { throw std::runtime_error("in a thread"); };
        std::async(std::launch::async, thrower).get();
    } catch (const std::exception &error) {
        std::cout << error.what() << '\n';
    }
    std::cout << sum << ' ' << future.get() << '\n';
}
