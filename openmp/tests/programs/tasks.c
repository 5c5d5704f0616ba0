// Tasks: dependences, priorities, groups, loops, reductions, cancellation, detached tasks.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static long fib(int n) {
  if (n < 2) return n;
  long a, b;
  #pragma omp task shared(a) firstprivate(n) if (n > 5)
  a = fib(n - 1);
  #pragma omp task shared(b) firstprivate(n) final(n < 4) mergeable
  b = fib(n - 2);
  #pragma omp taskwait
  return a + b;
}
static void tree(int depth, int *count) {
  #pragma omp atomic
  ++*count;
  if (depth > 0) for (int i = 0; i < 3; i++) {
    #pragma omp task firstprivate(depth) untied
    tree(depth - 1, count);
  }
}
int main(void) {
  long f = 0; int count = 0, bad = 0;
  #pragma omp parallel
  #pragma omp single
  f = fib(18);
  printf("fib %ld\n", f);
  #pragma omp parallel
  #pragma omp single nowait
  tree(6, &count);
  printf("tree %d\n", count); count = 0;
  #pragma omp parallel
  #pragma omp single
  {
    #pragma omp taskgroup
    tree(5, &count);
    if (count != 364) bad++;
  }
  printf("group %d %d\n", count, bad);
  // A chain, a fan-out and a fan-in.
  int x = 0, y[20] = {0}, z = 0;
  #pragma omp parallel
  #pragma omp single
  {
    for (int k = 0; k < 50; k++) {
      #pragma omp task depend(inout: x)
      x = x * 3 % 1009 + k;
    }
    for (int k = 0; k < 20; k++) {
      #pragma omp task depend(in: x) depend(out: y[k])
      y[k] = x + k;
    }
    for (int k = 0; k < 20; k++) {
      #pragma omp task depend(in: y[k]) depend(mutexinoutset: z)
      z += y[k];
    }
    #pragma omp task depend(inout: z) depend(out: x) if (0)
    z = z * 2 + 1;
    #pragma omp taskwait depend(in: x)
    x++;
  }
  printf("depend %d %d\n", x, z);
  { int a = 0, b = 0; omp_depend_t object;
    #pragma omp parallel
    #pragma omp single
    {
      #pragma omp task depend(out: a)
      a = 5;
      #pragma omp depobj(object) depend(in: a)
      #pragma omp task depend(depobj: object)
      b = a + 1;
      #pragma omp taskwait
      #pragma omp depobj(object) destroy
    }
    printf("depobj %d\n", b); }
  // Loops of tasks.
  static int seen[500]; long sum = 0;
  #pragma omp parallel
  #pragma omp single
  {
    #pragma omp taskloop grainsize(7)
    for (int i = 0; i < 500; i++) seen[i]++;
    #pragma omp taskloop num_tasks(9) priority(3)
    for (unsigned long long i = 500; i > 0; i--) seen[i - 1]++;
    #pragma omp taskloop reduction(+: sum)
    for (int i = 0; i < 500; i++) sum += i;
    #pragma omp taskloop nogroup collapse(2)
    for (int i = 0; i < 25; i++) for (int j = 0; j < 20; j++) {
      #pragma omp atomic
      seen[i * 20 + j]++; }
  }
  for (int i = 0; i < 500; i++) bad += seen[i] != 3;
  printf("taskloop %d %ld\n", bad, sum);
  // Reductions over tasks.
  long total = 0, product = 1;
  #pragma omp parallel
  #pragma omp single
  {
    #pragma omp taskgroup task_reduction(+: total) task_reduction(*: product)
    {
      for (int i = 1; i <= 100; i++) {
        #pragma omp task in_reduction(+: total)
        total += i;
      }
      #pragma omp task in_reduction(*: product) in_reduction(+: total)
      { product *= 6; total += 10;
        #pragma omp taskgroup task_reduction(+: total)
        {
          #pragma omp task in_reduction(+: total)
          total += 1000;
        } }
    }
  }
  printf("task_reduction %ld %ld\n", total, product);
  total = 0;
  #pragma omp parallel reduction(task, +: total)
  {
    total += 1;
    #pragma omp task in_reduction(+: total)
    total += 10;
  }
  printf("parallel task reduction %ld\n", total / omp_get_max_threads()); total = 0;
  #pragma omp parallel
  {
    #pragma omp for reduction(task, +: total) schedule(dynamic)
    for (int i = 0; i < 100; i++) {
      total += 1;
      #pragma omp task in_reduction(+: total)
      total += i;
    }
  }
  printf("for task reduction %ld\n", total); total = 0;
  #pragma omp parallel
  #pragma omp sections reduction(task, +: total)
  {
    #pragma omp section
    {
      #pragma omp task in_reduction(+: total)
      total += 3; }
    #pragma omp section
    total += 4;
  }
  printf("sections task reduction %ld\n", total);
  // A detached task.
  int done = 0; omp_event_handle_t event;
  #pragma omp parallel
  #pragma omp single
  {
    #pragma omp task detach(event) depend(out: done)
    done = 1;
    #pragma omp task depend(in: done)
    done = 2;
    #pragma omp task
    omp_fulfill_event(event);
    #pragma omp taskwait
  }
  printf("detach %d\n", done);
  int in_final = 0;
  #pragma omp parallel
  #pragma omp single
  {
    #pragma omp task final(1) shared(in_final)
    {
      #pragma omp task shared(in_final)
      in_final = omp_in_final();
    }
  }
  printf("final %d\n", in_final);
  for (int round = 0; round < 100; round++) {
    int made = 0;
    #pragma omp parallel
    {
      for (int k = 0; k < 20; k++) {
        #pragma omp task shared(made)
        {
          #pragma omp atomic
          made++; }
      }
      #pragma omp barrier
      if (made != 20 * omp_get_num_threads()) {
        #pragma omp atomic
        bad++; }
      #pragma omp barrier
      #pragma omp for schedule(dynamic)
      for (int k = 0; k < 10; k++) {
        #pragma omp task shared(made)
        {
          #pragma omp atomic
          made++; }
      }
    }
    if (made % 10) bad++;
  }
  printf("many %d\n", bad);
}
