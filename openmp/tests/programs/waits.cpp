// Ranks that wait for each other in the ways that a system has, with computing in between.
//
//   waits WAY ROUNDS WORK    WAY is one of those below, or `mixed`: all of them in turn
//
// A turn goes around among the ranks, and each waits for its own by WAY; in some ways all meet, or all take a lock. The
// output says whether all turns came, and in their order. It depends on neither the ranks' number nor the time.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <linux/futex.h>
#include <mutex>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

static void compute(long work) {
  unsigned long x = 88172645463325252ul;
  for (long i = 0; i < work; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; }
  asm volatile("" : : "r"(x));
}

struct Ring {
  int size;
  alignas(64) std::atomic<unsigned> turn{0};
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  std::mutex plain;
  std::condition_variable changed;
  pthread_barrier_t barrier;
  pthread_spinlock_t spin;
  omp_lock_t tried;
  std::atomic_flag flag = ATOMIC_FLAG_INIT;
  std::vector<sem_t> semaphores;
  std::vector<int> pipes;
  long guarded = 0, wrong = 0;

  explicit Ring(int size) : size(size), semaphores(size), pipes(2 * size) {
    pthread_barrier_init(&barrier, nullptr, size);
    pthread_spin_init(&spin, 0);
    omp_init_lock(&tried);
    for (int i = 0; i < size; i++) {
      sem_init(&semaphores[i], 0, 0);
      if (pipe(&pipes[2 * i])) abort();
    }
  }
  ~Ring() {
    for (int file : pipes) close(file);
    for (sem_t &semaphore : semaphores) sem_destroy(&semaphore);
    pthread_barrier_destroy(&barrier);
    omp_destroy_lock(&tried);
  }
};

static void pass(timespec time) { nanosleep(&time, nullptr); }

// The caller's turn is `mine`; it comes by a word that the one before has written.
template <class Wait> static void by_word(Ring &ring, unsigned mine, long work, Wait wait) {
  for (unsigned now; (now = ring.turn.load(std::memory_order_acquire)) != mine;) wait(now);
  compute(work);
  ring.guarded++;
  ring.turn.store(mine + 1, std::memory_order_release);
}

// Each rank of `ring` calls this with the number of the round. `first` is the first turn of the round.
static void round(Ring &ring, const std::string &way, unsigned first, int me, long work) {
  const unsigned mine = first + me;
  const int next = (me + 1) % ring.size;
  if (way == "pause") by_word(ring, mine, work, [](unsigned) { asm volatile("" ::: "memory");
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  });
  else if (way == "loop") by_word(ring, mine, work, [](unsigned) {});
  else if (way == "yield") by_word(ring, mine, work, [](unsigned) { sched_yield(); });
  else if (way == "thread") by_word(ring, mine, work, [](unsigned) { std::this_thread::yield(); });
  else if (way == "sleep0") by_word(ring, mine, work, [](unsigned) { pass({0, 0}); });
  else if (way == "sleep") by_word(ring, mine, work, [](unsigned) { pass({0, 20000}); });
  else if (way == "deadline") {
    const double end = omp_get_wtime() + 1000;
    by_word(ring, mine, work, [&](unsigned) { if (omp_get_wtime() > end) abort(); });
  } else if (way == "clock") {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1000);
    by_word(ring, mine, work, [&](unsigned) { if (std::chrono::steady_clock::now() > end) abort(); });
  } else if (way == "futex") {
    by_word(ring, mine, work, [&](unsigned now) { syscall(SYS_futex, &ring.turn, FUTEX_WAIT_PRIVATE, now, nullptr); });
    syscall(SYS_futex, &ring.turn, FUTEX_WAKE_PRIVATE, INT_MAX);
  } else if (way == "condition") {
    pthread_mutex_lock(&ring.mutex);
    while (ring.turn != mine) pthread_cond_wait(&ring.condition, &ring.mutex);
    compute(work);
    ring.guarded++;
    ring.turn++;
    pthread_cond_broadcast(&ring.condition);
    pthread_mutex_unlock(&ring.mutex);
  } else if (way == "timed") {
    std::unique_lock<std::mutex> lock(ring.plain);
    while (ring.turn != mine) ring.changed.wait_for(lock, std::chrono::milliseconds(50));
    compute(work);
    ring.guarded++;
    ring.turn++;
    ring.changed.notify_all();
  } else if (way == "semaphore") {
    if (mine > 0) while (sem_wait(&ring.semaphores[me]) && errno == EINTR);
    ring.wrong += ring.turn != mine;
    compute(work);
    ring.guarded++;
    ring.turn++;
    sem_post(&ring.semaphores[next]);
  } else if (way == "poll" || way == "pipe") {
    char byte = 0;
    pollfd file = {ring.pipes[2 * me], POLLIN, 0};
    if (mine > 0) {
      if (way == "poll") while (poll(&file, 1, -1) < 1);
      while (read(file.fd, &byte, 1) != 1);
    }
    ring.wrong += ring.turn != mine;
    compute(work);
    ring.guarded++;
    ring.turn++;
    while (write(ring.pipes[2 * next + 1], &byte, 1) != 1);
  } else if (way == "barrier") {
    compute(work);
    pthread_barrier_wait(&ring.barrier);
    ring.wrong += ring.turn != first;
    if (pthread_barrier_wait(&ring.barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
      ring.turn += ring.size;
      ring.guarded += ring.size;
    }
    pthread_barrier_wait(&ring.barrier);
  } else {
    // Locks, which each rank has once in a round, in any order.
    auto body = [&] { compute(work); ring.guarded++; };
    if (way == "spinlock") {
      pthread_spin_lock(&ring.spin);
      body();
      pthread_spin_unlock(&ring.spin);
    } else if (way == "testandset") {
      while (ring.flag.test_and_set(std::memory_order_acquire));
      body();
      ring.flag.clear(std::memory_order_release);
    } else if (way == "testlock") {
      while (!omp_test_lock(&ring.tried));
      body();
      omp_unset_lock(&ring.tried);
    } else if (way == "mutex") {
      pthread_mutex_lock(&ring.mutex);
      body();
      pthread_mutex_unlock(&ring.mutex);
    } else {
      fprintf(stderr, "waits: %s: no such way\n", way.c_str());
      exit(2);
    }
    compute(work);
    ring.turn++;
  }
}

int main(int count, char **arguments) {
  if (count < 4) {
    fprintf(stderr, "waits: expected WAY ROUNDS WORK\n");
    return 2;
  }
  const std::string asked = arguments[1];
  const long rounds = atol(arguments[2]), work = atol(arguments[3]);
  const std::vector<std::string> all = {"yield", "condition", "pause", "semaphore", "futex", "spinlock", "poll", "thread",
    "barrier", "sleep0", "testandset", "timed", "mutex", "sleep", "pipe", "loop", "deadline", "clock",
    "testlock"};
  const std::vector<std::string> ways = asked == "mixed" ? all : std::vector<std::string>{asked};
  long right = 0, regions = 0;
  // One region with all rounds, then several regions, with barriers of OpenMP's in between.
  for (const std::string &way : ways) for (int part = 0; part < 2; part++) {
    const long turns = asked == "mixed" ? rounds / (long)all.size() + 1 : rounds;
    const long each = part == 0 ? turns : 4;
    for (long done = 0; done < turns; done += each, regions++) {
      Ring *ring = nullptr;
      long expected = 0;
      #pragma omp parallel
      {
        #pragma omp single
        ring = new Ring(omp_get_num_threads());
        for (long i = 0; i < each; i++) {
          round(*ring, way, i * ring->size, omp_get_thread_num(), work);
          if (part == 1 && i % 2) {
            #pragma omp barrier
          }
        }
        #pragma omp single
        expected = each * ring->size;
      }
      right += ring->wrong == 0 && ring->guarded == expected && ring->turn == (unsigned long)expected;
      delete ring;
    }
  }
  printf("%s: %s\n", asked.c_str(), right == regions ? "all turns in order" : "WRONG");
  return right != regions;
}
