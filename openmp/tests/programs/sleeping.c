// Ranks make calls with a time limit: each lasts its full time and reports no interruption.
#include <errno.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static double now(void) {
  struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}
static struct timespec after(double seconds) {
  struct timespec t; clock_gettime(CLOCK_REALTIME, &t);
  long ns = t.tv_nsec + (long)(seconds * 1e9);
  t.tv_sec += ns / 1000000000; t.tv_nsec = ns % 1000000000;
  return t;
}
static void work(double seconds) { double end = now() + seconds; while (now() < end); }
int main(void) {
  int early[6] = {0}, failed[6] = {0}; const double LONG = 0.03;
  for (int round = 0; round < 4; round++) {
    #pragma omp parallel
    {
      sem_t none; sem_init(&none, 0, 0);
      pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t never = PTHREAD_COND_INITIALIZER;
      for (int kind = 0; kind < 6; kind++) {
        double began = now(); int wrong = 0;
        struct timespec length = {0, (long)(LONG * 1e9)}, until = after(LONG);
        switch ((kind + omp_get_thread_num()) % 6) {
        case 0: wrong = nanosleep(&length, NULL) != 0; break;
        case 1: wrong = usleep(LONG * 1e6) != 0; break;
        case 2: wrong = clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL) != 0; break;
        case 3: wrong = poll(NULL, 0, LONG * 1e3) != 0; break;
        case 4: wrong = sem_timedwait(&none, &until) != -1 || errno != ETIMEDOUT; break;
        case 5:
          pthread_mutex_lock(&mutex);
          wrong = pthread_cond_timedwait(&never, &mutex, &until) != ETIMEDOUT;
          pthread_mutex_unlock(&mutex);
        }
        int slot = (kind + omp_get_thread_num()) % 6;
        #pragma omp atomic
        failed[slot] += wrong;
        #pragma omp atomic
        early[slot] += now() - began < LONG - 0.001;
        work(0.001);
        if (kind % 2) {
          #pragma omp barrier
        }
      }
    }
  }
  for (int kind = 0; kind < 6; kind++) printf("%d: %d early, %d broken off\n", kind, early[kind], failed[kind]);
  return 0;
}
