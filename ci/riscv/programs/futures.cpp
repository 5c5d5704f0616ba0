// Threads of C++20: queues, futures, exceptions that cross threads, barriers, latches, semaphores.
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <exception>
#include <future>
#include <iostream>
#include <latch>
#include <mutex>
#include <numeric>
#include <queue>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <vector>
template <class T> struct Queue {
    std::mutex m;
    std::condition_variable c;
    std::queue<T> q;
    void put(T t) {
        {
            std::lock_guard l(m);
            q.push(t);
        }
        c.notify_one();
    }
    T take() {
        std::unique_lock l(m);
        c.wait(l, [&] { return !q.empty(); });
        T t = q.front();
        q.pop();
        return t;
    }
};
struct Bad {
    int code;
};
thread_local int mine = 5;
int main() {
    Queue<int> q;
    long sum = 0;
    std::mutex m;
    std::vector<std::thread> ts;
    for (int i = 0; i < 5; i++)
        ts.emplace_back([&] {
            for (;;) {
                int v = q.take();
                if (v < 0)
                    return;
                std::lock_guard l(m);
                sum += v;
            }
        });
    for (int i = 0; i < 500; i++)
        q.put(i);
    for (int i = 0; i < 5; i++)
        q.put(-1);
    for (auto &t : ts)
        t.join();
    std::cout << sum << "\n";
    std::vector<std::future<int>> fs;
    for (int i = 0; i < 8; i++)
        fs.push_back(std::async(std::launch::async, [i] {
            if (i == 3)
                throw Bad{i};
            mine += i;
            return mine * mine;
        }));
    for (auto &f : fs)
        try {
            std::cout << f.get() << " ";
        } catch (Bad &b) {
            std::cout << "bad" << b.code << " ";
        }
    std::cout << "\n";
    std::exception_ptr p;
    std::thread([&] {
        try {
            try {
                throw std::runtime_error("inner");
            } catch (...) {
                std::throw_with_nested(std::logic_error("outer"));
            }
        } catch (...) {
            p = std::current_exception();
        }
    }).join();
    try {
        std::rethrow_exception(p);
    } catch (std::exception &e) {
        std::cout << e.what();
        try {
            std::rethrow_if_nested(e);
        } catch (std::exception &i) {
            std::cout << " " << i.what() << "\n";
        }
    }
    std::shared_mutex sm;
    int shared = 0;
    std::atomic<int> reads{0};
    {
        std::vector<std::jthread> js;
        for (int i = 0; i < 6; i++)
            js.emplace_back([&, i] {
                for (int k = 0; k < 50; k++)
                    if (i < 2) {
                        std::unique_lock l(sm);
                        shared++;
                    } else {
                        std::shared_lock l(sm);
                        reads += shared >= 0;
                    }
            });
    }
    std::cout << shared << " " << reads << "\n";
    int phases = 0;
    std::barrier b(4, [&]() noexcept { phases++; });
    std::latch done(4);
    {
        std::vector<std::jthread> js;
        for (int i = 0; i < 4; i++)
            js.emplace_back([&] {
                for (int k = 0; k < 20; k++)
                    b.arrive_and_wait();
                done.count_down();
            });
        done.wait();
    }
    std::cout << phases << "\n";
    std::counting_semaphore<3> sem(3);
    std::atomic<int> in{0}, most{0};
    {
        std::vector<std::jthread> js;
        for (int i = 0; i < 9; i++)
            js.emplace_back([&] {
                sem.acquire();
                int now = ++in;
                int old = most;
                while (old < now && !most.compare_exchange_weak(old, now))
                    ;
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                --in;
                sem.release();
            });
    }
    std::cout << (most <= 3 && most >= 1) << "\n";
    std::atomic<int> flag{0};
    std::jthread w([&] {
        flag.wait(0);
        flag = 2;
        flag.notify_all();
    });
    flag = 1;
    flag.notify_all();
    flag.wait(1);
    std::cout << flag << "\n";
    std::jthread s([](std::stop_token t) {
        while (!t.stop_requested())
            std::this_thread::yield();
    });
    s.request_stop();
    std::condition_variable cv;
    std::unique_lock l(m);
    std::cout << (cv.wait_for(l, std::chrono::milliseconds(5)) == std::cv_status::timeout) << "\n";
    std::once_flag once;
    int n = 0;
    {
        std::vector<std::jthread> js;
        for (int i = 0; i < 4; i++)
            js.emplace_back([&] { std::call_once(once, [&] { n++; }); });
    }
    std::cout << n << "\n";
    std::promise<int> pr;
    std::thread([&] { pr.set_value_at_thread_exit(9); }).join();
    std::cout << pr.get_future().get() << "\n";
}
