// Singles, sections, critical regions, locks, nested regions, control variables.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static int counter, order[64];
static __thread int mine;
int main(void) {
  int n = omp_get_max_threads();
  #pragma omp parallel
  {
    for (int k = 0; k < 50; k++) {
      #pragma omp single
      counter++;
    }
    int copied;
    for (int k = 0; k < 50; k++) {
      #pragma omp single copyprivate(copied)
      copied = k * 3;
      if (copied != k * 3) printf("copied %d\n", copied);
    }
    #pragma omp master
    counter += 1000;
    #pragma omp barrier
    #pragma omp sections
    {
      #pragma omp section
      order[0]++;
      #pragma omp section
      order[1]++;
      #pragma omp section
      order[2]++;
    }
    for (int k = 0; k < 200; k++) {
      #pragma omp critical
      order[3]++;
      #pragma omp critical(other)
      order[4]++;
    }
  }
  printf("%d %d %d %d %d %d\n", counter, order[0], order[1], order[2], order[3] / n, order[4] / n);
  #pragma omp parallel sections num_threads(3)
  {
    #pragma omp section
    order[5] = omp_get_num_threads();
    #pragma omp section
    order[6] = omp_get_num_threads();
  }
  printf("sections %d %d\n", order[5], order[6]);
  omp_lock_t lock; omp_nest_lock_t nest; int locked = 0, nested = 0, tested = 0;
  omp_init_lock(&lock); omp_init_nest_lock(&nest);
  #pragma omp parallel
  for (int k = 0; k < 300; k++) {
    omp_set_lock(&lock); locked++; omp_unset_lock(&lock);
    omp_set_nest_lock(&nest); omp_set_nest_lock(&nest);
    if (omp_test_nest_lock(&nest) == 3) nested++;
    omp_unset_nest_lock(&nest); omp_unset_nest_lock(&nest); omp_unset_nest_lock(&nest);
    while (!omp_test_lock(&lock)) {
      #pragma omp taskyield
    }
    tested++; omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock); omp_destroy_nest_lock(&nest);
  printf("locks %d %d %d\n", locked / n, nested / n, tested / n);
  // Nested regions.
  omp_set_max_active_levels(3);
  int inner = 0, bad = 0;
  #pragma omp parallel num_threads(3) reduction(+: inner, bad)
  {
    int outer = omp_get_thread_num();
    #pragma omp parallel num_threads(2) reduction(+: inner, bad)
    {
      inner += 1;
      bad += omp_get_level() != 2 || omp_get_active_level() != 2 || omp_get_ancestor_thread_num(1) != outer || omp_get_team_size(1) != 3 || omp_get_team_size(2) != 2 || omp_get_ancestor_thread_num(3) != -1;
      #pragma omp parallel num_threads(1)
      bad += omp_get_level() != 3 || omp_get_active_level() != 2 || omp_get_num_threads() != 1;
      #pragma omp barrier
      #pragma omp for schedule(dynamic)
      for (int i = 0; i < 10; i++) inner += 1;
    }
    if (omp_get_thread_num() != outer || omp_get_num_threads() != 3) bad++;
  }
  printf("nested %d %d\n", inner, bad);
  omp_set_max_active_levels(1);
  #pragma omp parallel num_threads(4) reduction(+: bad)
  #pragma omp parallel num_threads(4) reduction(+: bad)
  bad += omp_get_num_threads() != 1 || omp_get_thread_num() != 0 || !omp_in_parallel();
  printf("serialised %d\n", bad);
  // Reductions, firstprivate variables, and thread-locals that stay with their threads.
  double sum = 0; int base = 7;
  #pragma omp parallel for reduction(+: sum) firstprivate(base) schedule(guided)
  for (int i = 0; i < 1000; i++) sum += base * i;
  printf("sum %.0f\n", sum);
  for (int round = 0; round < 200; round++) {
    #pragma omp parallel
    { if (round == 0) mine = omp_get_thread_num(); else if (mine != omp_get_thread_num()) {
      #pragma omp atomic
      bad++; } }
  }
  printf("locals %d\n", bad);
  // Control variables of each region.
  omp_set_num_threads(2); omp_set_dynamic(0);
  #pragma omp parallel
  { omp_set_num_threads(5 + omp_get_thread_num());
    #pragma omp barrier
    #pragma omp critical
    if (omp_get_max_threads() != 5 + omp_get_thread_num()) bad++; }
  printf("icv %d %d %d\n", omp_get_max_threads(), omp_get_dynamic(), bad);
  for (int t = 1; t < 20; t++) {
    int got = 0;
    #pragma omp parallel num_threads(t)
    {
      #pragma omp atomic
      got++; }
    if (got != t) printf("wanted %d got %d\n", t, got);
  }
  long double wide = 1; // No instruction does this atomically.
  #pragma omp parallel for num_threads(4)
  for (int i = 0; i < 100; i++) {
    #pragma omp atomic
    wide += 2; }
  printf("wide %.0Lf\n", wide);
  printf("time %d %d\n", omp_get_wtime() > 0, omp_get_wtick() > 0);
  #pragma omp target map(tofrom: bad) firstprivate(base)
  { base++; bad += base == 8 ? 0 : 1; if (!omp_is_initial_device()) bad += 100; }
  int teams = 0;
  #pragma omp teams num_teams(3) reduction(+: teams)
  { teams += omp_get_num_teams() * 10 + omp_get_team_num(); }
  printf("target %d %d teams %d devices %d\n", bad, base, teams, omp_get_num_devices());
  omp_alloctrait_t traits[] = {{omp_atk_alignment, 256}, {omp_atk_pool_size, 100000}, {omp_atk_fallback, omp_atv_null_fb}};
  omp_allocator_handle_t pool = omp_init_allocator(omp_default_mem_space, 3, traits);
  char *p = omp_alloc(1000, pool), *q = omp_alloc(200000, pool); p[999] = 1;
  printf("alloc %d %d\n", (int)((size_t)p % 256), q == 0); omp_free(p, pool); omp_destroy_allocator(pool);
}
