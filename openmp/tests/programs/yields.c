// Ranks wait with calls that give up the core. The argument is one of:
//
//   ring   a token goes around; ranks yield while they wait for it
//   sleep  the same with the shortest possible sleeps
//   locks  pthread_spin_lock, whose holders are preempted
#define _GNU_SOURCE
#include "work.h"
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { BATCHES = 25, ROUNDS = 6 };
static int token;
static int up(const void *a, const void *b) { long x = *(long *)a, y = *(long *)b; return (x > y) - (x < y); }
static void ring(int sleeps) {
  long yields[BATCHES] = {0};
  int size = 1;
  for (int batch = 0; batch < BATCHES; batch++) {
    long all = 0;
    #pragma omp parallel reduction(+ : all)
    {
      int me = omp_get_thread_num(), next = (me + 1) % omp_get_num_threads();
      if (me == 0) size = omp_get_num_threads();
      for (int round = 0; round < ROUNDS; round++) {
        while (__atomic_load_n(&token, __ATOMIC_ACQUIRE) != me) {
          if (sleeps) usleep(0); else sched_yield();
          all++;
        }
        __atomic_store_n(&token, next, __ATOMIC_RELEASE);
      }
    }
    yields[batch] = all;
  }
  // The test counts yields, not time. With libgomp a rank yields some 5 times until its turn. If the awaited
  // rank cannot run, each batch has some 10,000 yields. So has a batch in which another process takes a core,
  // but this does not happen in all batches: the second-best batch decides.
  qsort(yields, BATCHES, sizeof *yields, up);
  long few = yields[1] / (size * ROUNDS);
  printf("%s\n", few < (sleeps ? 25 : 200) ? "few yields" : "yields in vain");
}
static void locks(void) {
  pthread_spinlock_t lock;
  pthread_spin_init(&lock, 0);
  long count = 0, size = 0;
  #pragma omp parallel
  for (int i = 0; i < 30; i++) {
    for (int turn = 0; turn < 5; turn++) {
      pthread_spin_lock(&lock);
      count++;
      work(40);
      pthread_spin_unlock(&lock);
      work(40);
    }
    #pragma omp barrier
    #pragma omp master
    size = omp_get_num_threads();
  }
  printf("%ld missed\n", 150 * size - count);
}
int main(int count, char **words) {
  const char *word = count > 1 ? words[1] : "";
  calibrate();
  if (!strcmp(word, "ring")) ring(0);
  else if (!strcmp(word, "sleep")) ring(1);
  else if (!strcmp(word, "locks")) locks();
  else return 2;
}
