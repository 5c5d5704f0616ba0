/* Jumps out of functions: setjmp with threads and signals, and contexts that take turns. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
enum { N = 3, TURNS = 5 };
static ucontext_t home, context[N];
static int order[N * TURNS], done;
static void turn(int me) {
    double kept = me * 1.5;
    for (int i = 0; i < TURNS; i++) {
        order[done++] = me + (int)kept;
        kept += i;
        swapcontext(&context[me], i + 1 < TURNS ? &context[(me + 1) % N] : &home);
    }
}
static int descend(jmp_buf *back, int levels) {
    volatile char frame[64];
    frame[levels % 64] = (char)levels;
    if (levels == 0) longjmp(*back, 77);
    return descend(back, levels - 1) + frame[levels % 64];
}
static void *thread(void *argument) {
    jmp_buf back;
    volatile long laps = 0;
    int code = setjmp(back);
    if (code == 77) laps++;
    if (laps < 20) descend(&back, (int)(long)argument + 10);
    return (void *)(laps * 100 + code);
}
static sigjmp_buf out;
static void handler(int number) { siglongjmp(out, number); }
int main(void) {
    for (int i = 0; i < N; i++) {
        getcontext(&context[i]);
        context[i].uc_stack.ss_sp = malloc(1 << 16);
        context[i].uc_stack.ss_size = 1 << 16;
        context[i].uc_link = &home;
        makecontext(&context[i], (void (*)(void))turn, 1, i);
    }
    for (int i = 0; i < N; i++) swapcontext(&home, &context[i]);
    for (int i = 0; i < done; i++) printf("%d ", order[i]);
    pthread_t worker[4];
    long sum = 0;
    for (long i = 0; i < 4; i++) pthread_create(&worker[i], NULL, thread, (void *)(i * 50));
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(worker[i], &result);
        sum += (long)result;
    }
    signal(SIGUSR2, handler);
    volatile int caught = 0;
    while (caught < 3)
        if (sigsetjmp(out, 1) == SIGUSR2) caught++;
        else raise(SIGUSR2);
    printf("%ld %d\n", sum, caught);
    return 3;
}
