// Objects with constructors and destructors as private variables of tasks and of loops of tasks, which may be
// cancelled or have no iterations: as many are destroyed as were made, and each task has its own values.
#include <omp.h>
#include <cstdio>
static int living;
struct Object {
  int value; int *own;
  explicit Object(int v = 0) : value(v), own(new int(v)) { count(1); }
  Object(const Object &o) : value(o.value), own(new int(*o.own)) { count(1); }
  ~Object() { delete own; count(-1); }
  Object &operator=(const Object &o) { value = o.value; *own = *o.own; return *this; }
  static void count(int by) { __atomic_fetch_add(&living, by, __ATOMIC_RELAXED); }
  bool is(int v) const { return value == v && *own == v; }
};
struct Sum {
  long value; int *own;
  Sum() : value(0), own(new int(0)) { Object::count(1); }
  Sum(const Sum &o) : value(o.value), own(new int(*o.own)) { Object::count(1); }
  ~Sum() { delete own; Object::count(-1); }
  void add(long v) { value += v; *own += v; }
};
#pragma omp declare reduction(add : Sum : omp_out.add(omp_in.value))
int main() {
  int wrong = 0; long sum = 0, product = 1;
  for (int round = 0; round < 20; round++) {
    #pragma omp parallel
    {
      Object mine(omp_get_thread_num() + 100);
      for (int k = 0; k < 8; k++) {
        #pragma omp task firstprivate(mine, k) untied
        {
          if (!mine.is(mine.value) || mine.value < 100) {
            #pragma omp atomic
            wrong++;
          }
          mine = Object(k);
          #pragma omp task firstprivate(mine) if (k % 2)
          if (!mine.is(mine.value)) {
            #pragma omp atomic
            wrong++;
          }
        }
      }
      #pragma omp taskwait
      if (!mine.is(omp_get_thread_num() + 100)) {
        #pragma omp atomic
        wrong++;
      }
    }
    #pragma omp parallel
    #pragma omp single
    {
      Object first(7), last(0), both(7); int iterations = round % 3 ? 3 * round : 0;
      #pragma omp taskloop firstprivate(first, both) lastprivate(last, both) grainsize(2)
      for (int i = 0; i < iterations; i++) {
        if (!first.is(7)) {
          #pragma omp atomic
          wrong++;
        }
        last = Object(i); both = Object(i);
        #pragma omp atomic
        sum += i;
      }
      if (iterations && (!last.is(iterations - 1) || !both.is(iterations - 1))) wrong++;
      Sum total; long plain = 0;
      #pragma omp taskloop reduction(add : total) reduction(+ : plain) firstprivate(first)
      for (int i = 0; i < iterations; i++) { total.add(i + first.value); plain += i; }
      if (total.value != plain + 7 * iterations || total.value != *total.own) wrong++;
      #pragma omp taskgroup task_reduction(add : total)
      {
        for (int i = 0; i < iterations; i++) {
          #pragma omp task in_reduction(add : total) firstprivate(first)
          total.add(first.value);
        }
      }
      if (total.value != plain + 14 * iterations) wrong++;
    }
    #pragma omp parallel
    #pragma omp single
    #pragma omp taskgroup
    {
      Object first(3);
      for (int k = 0; k < 30; k++) {
        #pragma omp task firstprivate(first, k)
        {
          if (!first.is(3)) {
            #pragma omp atomic
            wrong++;
          }
          if (k == 9) {
            #pragma omp cancel taskgroup
          }
          #pragma omp cancellation point taskgroup
        }
      }
    }
  }
  std::printf("wrong %d living %d sum %ld product %ld\n", wrong, living, sum, product);
  return 0;
}
