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

static void look_at(int at) {
    char *to = where[at];
    int places[MOST];
    omp_get_partition_place_nums(places);
    to += sprintf(to, "place %d of", omp_get_place_num());
    for (int i = 0; i < omp_get_partition_num_places(); i++)
        to += sprintf(to, " %d", places[i]);
    write_cpus(to + sprintf(to, ", CPUs"));
}

static void look(void) {
    look_at(omp_get_thread_num());
}

// Looks at the members of nested regions, and then at those of the outer region.
static void look_inside(int id, int inner) {
#pragma omp parallel num_threads(inner)
    look_at(id * (inner * 2 + 1) + omp_get_thread_num());
#pragma omp parallel num_threads(inner) proc_bind(spread)
    look_at(id * (inner * 2 + 1) + inner + omp_get_thread_num());
    look_at(id * (inner * 2 + 1) + 2 * inner);
}

static void nest(int outer, int inner, omp_proc_bind_t bind) {
    if (bind == omp_proc_bind_close) {
#pragma omp parallel num_threads(outer) proc_bind(close)
        look_inside(omp_get_thread_num(), inner);
    } else if (bind == omp_proc_bind_primary) {
#pragma omp parallel num_threads(outer) proc_bind(primary)
        look_inside(omp_get_thread_num(), inner);
    } else {
#pragma omp parallel num_threads(outer) proc_bind(spread)
        look_inside(omp_get_thread_num(), inner);
    }
}

// The same on the third level.
static void nest_deeper(int outer, int inner) {
#pragma omp parallel num_threads(outer) proc_bind(spread)
    {
        int id = omp_get_thread_num();
#pragma omp parallel num_threads(2) proc_bind(close)
        look_inside(id * 2 + omp_get_thread_num(), inner);
    }
}

// Looks at the members of a region in a target region, and then at the thread that has begun it.
static void nest_in_target(int outer, int inner) {
#pragma omp parallel num_threads(outer) proc_bind(spread)
    {
        int id = omp_get_thread_num();
#pragma omp target
        {
#pragma omp parallel num_threads(inner) proc_bind(spread)
            look_at(id * (inner + 1) + omp_get_thread_num());
        }
        look_at(id * (inner + 1) + inner);
    }
}

// Counts how often members of a nested region with more members than CPUs are seen outside of their places.
static int elsewhere(int inner) {
    int found = 0;
#pragma omp parallel num_threads(2) reduction(+ : found)
    if (omp_get_thread_num() == 1) {
#pragma omp parallel num_threads(inner) reduction(+ : found)
        for (int look = 0; look < 2000; look++) {
            int place = omp_get_place_num(), cpu = sched_getcpu(), cpus[CPU_SETSIZE], is_there = 0;
            int count = place < 0 ? 0 : omp_get_place_num_procs(place);
            omp_get_place_proc_ids(place, cpus);
            for (int at = 0; at < count; at++)
                is_there |= cpus[at] == cpu;
            found += count > 0 && !is_there;
        }
    }
    return found;
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
    omp_set_max_active_levels(3);
    for (int outer = 1; outer < 5; outer++) {
        // In the first region with one thread more, GCC's library may place that thread elsewhere.
        nest(outer, 1, omp_proc_bind_spread);
        for (int inner = 1; inner < 5; inner++) {
            nest(outer, inner, omp_proc_bind_spread);
            show("nested");
            nest(outer, inner, omp_proc_bind_close);
            show("nested in close");
            nest(outer, inner, omp_proc_bind_primary);
            show("nested in primary");
            nest_deeper(outer, inner);
            show("nested twice");
            nest_in_target(outer, inner);
            show("in a target region");
        }
    }
    look();
    show("after nested regions");
    // With "true", threads of GCC's library may stay where they are while it names other places.
    if (omp_get_proc_bind() != omp_proc_bind_true)
        printf("elsewhere %d\n", elsewhere(CPU_COUNT(&all) + 2));
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
