// The first thread calls pthread_exit after regions: the process ends with its last other thread.
//
// With the argument "regions", that thread begins its own region before it ends.
#include "work.h"
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int begins_regions;
static long members(void) {
  long sum = 0;
  #pragma omp parallel reduction(+ : sum)
  {
    work(100);
    #pragma omp barrier
    sum += omp_get_thread_num() == 0;
  }
  return sum;
}
static void *last(void *unused) {
  // By now the first thread has most likely ended. The test holds either way.
  usleep(20000);
  long sum = begins_regions ? members() : 1;
  printf("the last thread ends, sum %ld\n", sum);
  fflush(stdout);
  return unused;
}
int main(int count, char **words) {
  calibrate();
  begins_regions = count > 1 && !strcmp(words[1], "regions");
  long sum = 0;
  for (int i = 0; i < 20; i++) sum += members();
  printf("sum %ld\n", sum);
  fflush(stdout);
  pthread_t thread;
  pthread_create(&thread, NULL, last, NULL);
  pthread_detach(thread);
  pthread_exit(NULL);
}
