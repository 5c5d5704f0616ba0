// Exceptions that are thrown and caught in regions and tasks, while others wait, and one that an
// outer handler of the same member catches. With "out" as argument: one that leaves the region.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <omp.h>
static void deep(int n) {
  std::string text(n, 'x');
  if (n == 0) throw std::runtime_error("deep " + std::to_string(omp_get_thread_num()));
  deep(n - 1);
}
int main(int count, char **) {
  if (count > 1) {
    std::set_terminate([] { std::puts("terminate"); std::fflush(stdout); std::_Exit(4); });
    #pragma omp parallel
    throw 1;
  }
  int caught = 0, wrong = 0;
  #pragma omp parallel reduction(+ : caught, wrong)
  for (int k = 0; k < 50; k++) {
    try {
      try { deep(5); }
      catch (const std::exception &) {
        // An exception is being handled while this member waits and others throw.
        #pragma omp barrier
        throw;
      }
    } catch (const std::runtime_error &error) {
      caught += std::uncaught_exceptions() == 0;
      wrong += error.what() != "deep " + std::to_string(omp_get_thread_num());
    }
    #pragma omp barrier
  }
  int members = 0;
  #pragma omp parallel
  #pragma omp single
  members = omp_get_num_threads();
  std::printf("caught %d wrong %d\n", caught == 50 * members, wrong);
  int tasks = 0;
  #pragma omp parallel
  #pragma omp single
  for (int k = 0; k < 200; k++) {
    #pragma omp task shared(tasks)
    try { deep(k % 7); }
    catch (...) {
      #pragma omp atomic
      tasks++;
    }
  }
  std::printf("tasks %d\n", tasks);
}
