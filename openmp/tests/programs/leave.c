// The last of three ranks takes away all cores but one, and then computes for half a second. In every other
// round the other ranks compute as long. In both kinds of rounds, writes whether the last rank ended on its
// kernel thread, which has lost its core, or left that thread.
#define _GNU_SOURCE
#include <dirent.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static cpu_set_t all;

// Confines all threads to this number of cores.
static void confine(int cores)
{
    cpu_set_t mask = all;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && cores-- <= 0)
            CPU_CLR(cpu, &mask);
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            sched_setaffinity(atoi(entry->d_name), sizeof mask, &mask);
    closedir(folder);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void compute(void)
{
    for (volatile int i = 0; i < 10000; i++)
        ;
}

// Returns whether the last rank lost its core. `*left` says whether it then changed its thread. If `go_on`,
// the others compute until the last one has ended.
static int region(int confines, int go_on, int *left)
{
    pid_t main_thread = gettid(), thread = 0;
    volatile int has_ended = 0;
#pragma omp parallel num_threads(3)
    {
        int is_last = omp_get_thread_num() == 2;
        for (int step = 0; step < 5000; step++) {
            compute();
            if (confines && is_last && step == 1000 && syscall(SYS_gettid) != main_thread) {
                thread = syscall(SYS_gettid);
                confine(1);
                for (double began = now(); now() - began < 0.5;)
                    compute();
            }
        }
        if (is_last) {
            *left = syscall(SYS_gettid) != thread;
            has_ended = 1;
        }
        while (go_on && !has_ended)
            compute();
    }
    return thread != 0;
}

int main(void)
{
    sched_getaffinity(0, sizeof all, &all);
    confine(2);
    int tried = 0, left[2] = {0, 0};
    for (int round = 0; round < 20 && !(left[0] && left[1]); round++) {
        int go_on = round % 2, ignored, now;
        // The library learns how long the ranks run.
        region(0, 0, &ignored);
        region(0, 0, &ignored);
        int lost = region(1, go_on, &now);
        left[go_on] |= lost && now;
        tried += lost;
        confine(2);
        usleep(30000);
    }
    puts(!tried ? "never tried" : left[0] && left[1] ? "left" : "stayed");
    return 0;
}
