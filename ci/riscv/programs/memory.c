/* Memory of many sizes, moved and grown: the C library's allocator, mmap and mremap. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    enum { N = 500 };
    static unsigned char *block[N];
    static size_t size[N];
    uint64_t seed = 1, sum = 0;
    for (int round = 0; round < 20000; round++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int at = seed >> 33 & 0x7FFFFFFF;
        size_t want = 1 + (seed >> 40) % (round % 100 ? 2000 : 400000);
        at %= N;
        if (block[at] && round % 3) {
            sum += block[at][size[at] / 2];
            free(block[at]);
            block[at] = NULL;
        } else {
            block[at] = realloc(block[at], want);
            memset(block[at], at, want);
            size[at] = want;
        }
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
