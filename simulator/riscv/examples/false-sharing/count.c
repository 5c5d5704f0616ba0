/* Eight threads count, each in an element of its own: docs/guide/shared-line.md. */
#include <pthread.h>
#include <stdio.h>
#define THREADS 8
#ifdef PADDED
struct count { _Alignas(64) volatile long n; };
#else
struct count { volatile long n; };
#endif
static struct count counts[THREADS];
static void *work(void *which) {
    struct count *mine = &counts[(long)which];
    for (int i = 0; i < 20000; i++)
        if (i * 2654435761u >> 31)
            mine->n++;
    return NULL;
}
int main(void) {
    pthread_t threads[THREADS];
    long sum = 0;
    for (long t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, work, (void *)t);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        sum += counts[t].n;
    }
    printf("%ld\n", sum);
}
