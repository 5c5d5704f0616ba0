// Loads the library of the first argument in the process's first region and in a later one. The library's
// constructor begins a region.
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
int main(int count, char **arguments) {
    for (int round = 0; round < 3 && count > 1; round++) {
        void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            puts(dlerror());
            return 1;
        }
        int (*counted)(void) = (int (*)(void))dlsym(library, "counted");
        puts(counted() == omp_get_max_threads() ? "all members" : "members are missing");
        dlclose(library);
    }
    return 0;
}
