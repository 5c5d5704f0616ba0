/* Questions to the system that every system answers alike. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
int main(void) {
    struct utsname name;
    uname(&name);
    struct timespec a, b, pause = {0, 2000000};
    clock_gettime(CLOCK_MONOTONIC, &a);
    nanosleep(&pause, NULL);
    clock_gettime(CLOCK_MONOTONIC, &b);
    long passed = (b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec;
    printf("%s %s %d %d %ld\n", name.sysname, name.machine, passed >= 2000000,
           sysconf(_SC_NPROCESSORS_ONLN) >= 1, sysconf(_SC_PAGESIZE));
    return 0;
}
