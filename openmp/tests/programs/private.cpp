// Variables that are each thread's own, without thread-locals of the compiler's (-fnoopenmp-use-tls).
// What is written does not depend on the number of threads.
#include <atomic>
#include <cstdio>
#include <omp.h>
#include <string>
#include <thread>

static std::atomic<int> alive;

struct Counter {
    int value;
    std::string name;
    Counter() : value(100), name("a name that is too long to be kept in place") { alive++; }
    Counter(const Counter &other) : value(other.value), name(other.name) { alive++; }
    ~Counter() { alive--; }
};

static int plain = 7;
static double array[5] = {1, 2, 3, 4, 5};
static Counter counter;
#pragma omp threadprivate(plain, array, counter)

int main()
{
    plain = 8;
    int wrong = 0, threads = 0;
    // Others begin with what was there at first; they keep what they have from region to region.
    for (int round = 0; round < 3; round++) {
#pragma omp parallel reduction(+ : wrong)
        {
#pragma omp single
            threads = omp_get_num_threads();
            int number = omp_get_thread_num();
            if (round == 0)
                plain = 0;
            wrong += round > 0 && (plain != 10 * number + round || array[4] != 5.0 * number + round ||
                                   counter.value != 100 + round * number);
            plain = 10 * number + round + 1;
            array[4] = 5.0 * number + round + 1;
            counter.value += number;
            wrong += counter.name.size() != 43;
        }
        // A region of one thread leaves the others what they have.
#pragma omp parallel if (round < 0)
        wrong += omp_get_num_threads() != 1;
    }
    std::printf("kept %d\n", wrong);
    plain = 55;
    counter.value = 66;
    wrong = 0;
#pragma omp parallel copyin(plain, counter) reduction(+ : wrong)
    {
        wrong += plain != 55 || counter.value != 66;
#pragma omp barrier
        plain = omp_get_thread_num();
#pragma omp barrier
        wrong += plain != omp_get_thread_num();
    }
    std::printf("copied %d\n", wrong);
    std::printf("alive %d\n", alive == threads);
    // A thread of the program's own has its own as well, until it ends.
    std::thread([&] {
        counter.value++;
        std::printf("foreign %d %d\n", counter.value, alive == threads + 1);
    }).join();
    std::printf("main's %d\n", counter.value);
    // Tasks see those of the thread that runs them.
    long sum = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 100; i++)
#pragma omp task
    {
        plain += 1;
#pragma omp atomic
        sum++;
    }
    std::printf("tasks %ld\n", sum);
}
