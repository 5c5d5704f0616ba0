/* Function pointers, recursion, 64-bit arithmetic with remainders. */
#include <stdio.h>
#include <stdlib.h>
static int compare(const void *a, const void *b) {
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}
static long ackermann(long m, long n) {
    return m == 0 ? n + 1 : ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}
int main(void) {
    static long list[20000];
    unsigned long seed = 42;
    for (int i = 0; i < 20000; i++) {
        seed = seed * 2862933555777941757u + 3037000493u;
        list[i] = (long)seed % 100003;
    }
    qsort(list, 20000, sizeof *list, compare);
    long sum = 0;
    for (int i = 0; i < 20000; i++) sum = (sum * 31 + list[i]) % 1000000007;
    printf("%ld %ld\n", sum, ackermann(2, 50));
    return (int)(sum & 63);
}
