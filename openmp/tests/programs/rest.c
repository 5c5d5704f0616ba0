// Counts how often the threads of a process wake in a second, two seconds after its last region.
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static void regions(void) {
    int members = 0;
    for (int round = 0; round < 100; round++) {
#pragma omp parallel reduction(+ : members)
        members++;
    }
    printf("members: %s\n", members % 100 ? "WRONG" : "all");
}

int main(void) {
    struct rusage before, after;
    regions();
    // The first thread calls the C library's function: no rank sleeps here.
    sleep(3);
    getrusage(RUSAGE_SELF, &before);
    sleep(1);
    getrusage(RUSAGE_SELF, &after);
    long switches = after.ru_nvcsw - before.ru_nvcsw;
    printf("wake-ups: %s\n", switches < 20 ? "few" : "MANY");
    regions();
    return 0;
}
