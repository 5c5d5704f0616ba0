// constructor.c loads this library. Its constructor runs a region while the loader's lock is held.
static int members;
__attribute__((constructor)) static void begin(void) {
#pragma omp parallel reduction(+ : members)
    members++;
}
int counted(void) { return members; }
