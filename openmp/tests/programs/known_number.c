// Ranks read the numbers of their kernel threads. Long after the region, each of these threads gets a signal.
// Its handler soon runs.
#define _GNU_SOURCE
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static volatile int handled;
static void handler(int signal) { (void)signal; __atomic_add_fetch(&handled, 1, __ATOMIC_SEQ_CST); }
int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  sigaction(SIGUSR1, &action, 0);
  int numbers[64], count = 0, late = 0;
  #pragma omp parallel
  for (int round = 0; round < 20; round++) {
    for (volatile int i = 0; i < 200000; i++);
    const int mine = syscall(SYS_gettid);
    #pragma omp critical
    {
      int known = 0;
      for (int i = 0; i < count; i++) known |= numbers[i] == mine;
      if (!known) numbers[count++] = mine;
    }
    #pragma omp barrier
  }
  // By now the library's threads sleep.
  usleep(1200000);
  for (int i = 0; i < count; i++) {
    const int before = handled;
    syscall(SYS_tgkill, getpid(), numbers[i], SIGUSR1);
    for (int waited = 0; handled == before && waited < 2000; waited++) usleep(1000);
    late += handled == before;
  }
  printf("%d handlers have not run\n", late);
  return late;
}
