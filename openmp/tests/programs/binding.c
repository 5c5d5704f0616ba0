// Where the members of regions are, by the user's variables and by the region's clauses.
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

static char where[MOST][512];

// Writes the CPUs that the caller may use.
static void write_cpus(char *to) {
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            to += sprintf(to, " %d", cpu);
}

static void look(void) {
    char *to = where[omp_get_thread_num()];
    write_cpus(to + sprintf(to, "place %d, CPUs", omp_get_place_num()));
}

static void show(const char *name) {
    printf("%s:\n", name);
    for (int id = 0; id < MOST && where[id][0]; id++)
        printf("  %d: %s\n", id, where[id]);
    memset(where, 0, sizeof where);
}

int main(void) {
    printf("%d CPUs, %d threads, binding %d\n", omp_get_num_procs(), omp_get_max_threads(),
           omp_get_proc_bind());
    for (int place = 0; place < omp_get_num_places(); place++) {
        int cpus[CPU_SETSIZE], count = omp_get_place_num_procs(place);
        omp_get_place_proc_ids(place, cpus);
        printf("place %d:", place);
        for (int at = 0; at < count; at++)
            printf(" %d", cpus[at]);
        puts("");
    }
    cpu_set_t all;
    look();
    show("before");
    sched_getaffinity(0, sizeof all, &all);
#pragma omp parallel
    look();
    show("as the variables say");
#pragma omp parallel proc_bind(spread)
    look();
    show("spread");
#pragma omp parallel proc_bind(primary)
    look();
    show("primary");
    // Members that bind themselves, each to the next CPU, as far as there are CPUs.
#pragma omp parallel
    {
        int wanted = omp_get_thread_num() % CPU_COUNT(&all), cpu = -1;
        for (int seen = -1; seen < wanted;)
            seen += CPU_ISSET(++cpu, &all) != 0;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (sched_setaffinity(0, sizeof one, &one))
            puts("refused");
#pragma omp barrier
        look();
    }
    show("by themselves");
#pragma omp parallel
    look();
    show("afterwards");
    return 0;
}
