// Cancellation (with OMP_CANCELLATION=true): the cancelled construct ends, and later constructs work.
#include <omp.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  int bad = 0;
  for (int round = 0; round < 50; round++) {
    int ran = 0, after = 0;
    #pragma omp parallel
    {
      #pragma omp for schedule(dynamic)
      for (int i = 0; i < 100000; i++) {
        #pragma omp cancellation point for
        #pragma omp atomic
        ran++;
        if (i == 10) {
          // Members with earlier iterations may not have reached their cancellation point.
          for (int now = 0; now < 11; usleep(20)) {
            #pragma omp atomic read
            now = ran;
          }
          #pragma omp cancel for
        }
      }
      #pragma omp for schedule(dynamic) reduction(+: after)
      for (int i = 0; i < 10; i++) {
        #pragma omp cancellation point for
        after++; }
    }
    bad += ran < 11 || after != 10; // All may run before the tenth iteration's thread continues.
    int met = 0;
    #pragma omp parallel
    {
      if (omp_get_thread_num() == omp_get_num_threads() - 1) {
        #pragma omp cancel parallel
      }
      #pragma omp cancellation point parallel
      #pragma omp barrier
      if (omp_get_num_threads() > 1) {
        #pragma omp atomic
        met++; }
    }
    bad += met != 0;
    int tasks = 0;
    #pragma omp parallel
    #pragma omp single
    {
      #pragma omp taskgroup
      {
        for (int i = 0; i < 30; i++) {
          #pragma omp task shared(tasks)
          {
            #pragma omp atomic
            tasks++;
            if (i == 0) {
              #pragma omp cancel taskgroup
            }
            #pragma omp cancellation point taskgroup
          }
        }
      }
      #pragma omp task shared(tasks)
      {
        #pragma omp atomic
        tasks += 1000; }
    }
    bad += tasks < 1001 || tasks > 1030;
    int sections = 0;
    #pragma omp parallel sections
    {
      #pragma omp section
      {
        #pragma omp cancel sections
        sections++; }
      #pragma omp section
      {
        #pragma omp cancellation point sections
        sections += 0; }
    }
    bad += sections != 0;
  }
  printf("cancel %d %d\n", omp_get_cancellation(), bad);
}
