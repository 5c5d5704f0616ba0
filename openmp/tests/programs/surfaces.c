// Seldom used parts of the interface: control variables of target regions, memory pools with growing blocks,
// affinity formats, task loops without iterations, a runtime schedule in any order.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  // A target region begins with the device's control variables, and keeps its changes.
  int threads = omp_get_max_threads(), inside[4];
  omp_set_num_threads(4); omp_set_dynamic(1); omp_set_schedule(omp_sched_static, 2);
  #pragma omp target if (0) map(from: inside)
  {
    omp_sched_t kind; int chunk; omp_get_schedule(&kind, &chunk);
    inside[0] = omp_get_max_threads(); inside[1] = omp_get_dynamic(); inside[2] = kind; inside[3] = chunk;
    omp_set_num_threads(2); omp_set_dynamic(0); omp_set_schedule(omp_sched_dynamic, 9);
  }
  omp_sched_t kind; int chunk; omp_get_schedule(&kind, &chunk);
  printf("target %d %d %d %d, around %d %d %d %d\n", inside[0] == threads, inside[1], inside[2], inside[3],
         omp_get_max_threads(), omp_get_dynamic(), kind, chunk);
  omp_set_dynamic(0); omp_set_num_threads(threads);
  // The team limit of a target does not count outer threads.
  int members = 0;
  omp_set_max_active_levels(3);
  #pragma omp parallel num_threads(3)
  #pragma omp single
  #pragma omp target if (0) map(tofrom: members)
  #pragma omp teams thread_limit(2)
  #pragma omp parallel num_threads(2)
  #pragma omp atomic
  members++;
  printf("members %d\n", members);
  // A growing block does not need room for old and new block together.
  omp_alloctrait_t traits[] = {{omp_atk_pool_size, 4096}, {omp_atk_fallback, omp_atv_null_fb}};
  omp_allocator_handle_t pool = omp_init_allocator(omp_default_mem_space, 2, traits);
  char *block = omp_alloc(2500, pool);
  memset(block, 5, 2500);
  block = omp_realloc(block, 3000, pool, pool);
  int kept = 0;
  for (int i = 0; i < 2500; i++) kept += block[i];
  char *more = omp_alloc(2000, pool), *larger = omp_realloc(block, 8000, pool, pool);
  printf("pool %d %d %d\n", kept, more == NULL, larger == NULL);
  omp_free(block, pool);
  block = omp_alloc(3000, pool);
  printf("again %d\n", block != NULL);
  omp_free(block, pool); omp_destroy_allocator(pool);
  // Zeros follow the sign.
  char text[64];
  omp_capture_affinity(text, sizeof text, "%0.7a|%.7a|%7a|%0.3N");
  printf("%s\n", text);
  // A reduction without iterations.
  long sum = 5;
  #pragma omp parallel
  #pragma omp single
  {
    #pragma omp taskloop reduction(+: sum)
    for (int i = 0; i < members - 2; i++) sum += 100;
  }
  #pragma omp parallel
  #pragma omp for schedule(nonmonotonic: runtime) reduction(task, +: sum)
  for (int i = 0; i < 10; i++) {
    #pragma omp task in_reduction(+: sum)
    sum += i;
  }
  printf("sum %ld\n", sum);
  // Returned threads can be used again.
  for (int round = 0; round < 20; round++) {
    int found = omp_pause_resource_all(omp_pause_soft);
    #pragma omp parallel reduction(+: found)
    found += 1;
    if (found != threads) printf("found %d\n", found);
  }
  return 0;
}
