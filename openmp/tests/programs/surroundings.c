// fork after a region, regions begun by the program's threads, signals, a timer, children begun in a region,
// exit in a region.
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static int total; static volatile sig_atomic_t signals;
static void handler(int s) { int before = errno; (void)s; signals++; errno = 0; errno = before; }
static void *thread(void *a) {
  for (int k = 0; k < 10; k++) {
    int members = 0, size = 0;
    #pragma omp parallel reduction(+: members)
    { members++; size = omp_get_num_threads(); }
    if (members == size) __atomic_fetch_add(&total, 1, __ATOMIC_SEQ_CST);
  }
  return a;
}
static int count(int n) {
  int members = 0;
  #pragma omp parallel num_threads(n) reduction(+: members)
  members++;
  return members;
}
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, thread, 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
  printf("threads %d\n", total); fflush(stdout);
  count(3);
  pid_t child = fork();
  if (child == 0) _exit(count(3) + count(4));
  int status; waitpid(child, &status, 0);
  printf("fork %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  signal(SIGUSR1, handler);
  #pragma omp parallel
  {
    #pragma omp master
    kill(getpid(), SIGUSR1);
    #pragma omp barrier
  }
  while (!signals) usleep(100);
  printf("signals %d\n", signals);
  // A timer whose handler changes errno, and children begun in a region.
  struct itimerval every = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  signals = 0;
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, 0);
  setitimer(ITIMER_REAL, &every, 0);
  int wrong = 0;
  #pragma omp parallel reduction(+ : wrong)
  for (int k = 0; k < 20; k++) {
    char *memory = malloc(100 + k);
    errno = 1000 + omp_get_thread_num();
    // Member 0 delays, until the others sleep.
    for (volatile int i = 0; i < (omp_get_thread_num() ? 2000 : 200000); i++) {}
    #pragma omp barrier
    wrong += errno != 1000 + omp_get_thread_num();
    free(memory);
    if (k == 5) wrong += system("exit 7") >> 8 != 7;
  }
  while (!signals) usleep(100);
  setitimer(ITIMER_REAL, &never, 0);
  printf("timer %d\n", wrong);
  printf("exit\n"); fflush(stdout);
  #pragma omp parallel
  {
    #pragma omp barrier
    if (omp_get_thread_num() == omp_get_num_threads() - 1) exit(3);
    for (;;) usleep(1000);
  }
}
