// A program's own allocator, with one lock. A rank that holds the lock may be preempted while others wait.
// The argument is the lock's kind: mutex, spin, yield, or pthread_spin_lock.
#define _GNU_SOURCE
#include "work.h"
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
enum { MUTEX, SPIN, YIELD, PTHREAD_SPIN, CLASSES = 40 };
static int kind;
static double hold;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spinlock;
static int word;
struct block { size_t class; void *next; };
static struct block *unused[CLASSES];
static char *at, *end;
static void take(void) {
  switch (kind) {
  case MUTEX: pthread_mutex_lock(&mutex); break;
  case PTHREAD_SPIN: pthread_spin_lock(&spinlock); break;
  default:
    while (__atomic_exchange_n(&word, 1, __ATOMIC_ACQUIRE))
      while (__atomic_load_n(&word, __ATOMIC_RELAXED))
        if (kind == YIELD) sched_yield();
  }
}
static void give(void) {
  switch (kind) {
  case MUTEX: pthread_mutex_unlock(&mutex); break;
  case PTHREAD_SPIN: pthread_spin_unlock(&spinlock); break;
  default: __atomic_store_n(&word, 0, __ATOMIC_RELEASE);
  }
}
// Sizes are powers of two, aligned to themselves up to a page. A header in front describes the block.
static size_t class_of(size_t size) {
  size_t class = 5;
  while (((size_t)1 << class) < size) class++;
  return class;
}
static void *aligned(size_t align, size_t size) {
  size_t class = class_of(size < align ? align : size);
  take();
  if (hold > 0) work(hold);
  struct block *found = align <= 16 ? unused[class] : NULL;
  if (found) {
    unused[class] = found->next;
    give();
    return found + 1;
  }
  if (!at) {
    at = mmap(NULL, 1L << 34, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) __builtin_trap();
    end = at + (1L << 34);
  }
  if (align < sizeof(struct block)) align = sizeof(struct block);
  uintptr_t memory = ((uintptr_t)at + sizeof(struct block) + align - 1) & -align;
  at = (char *)(memory + ((size_t)1 << class));
  if (at > end) __builtin_trap();
  ((struct block *)memory)[-1].class = class;
  give();
  return (void *)memory;
}
void *malloc(size_t size) { return aligned(16, size); }
void free(void *memory) {
  if (!memory) return;
  struct block *block = (struct block *)memory - 1;
  take();
  block->next = unused[block->class];
  unused[block->class] = block;
  give();
}
void *calloc(size_t count, size_t size) { return memset(aligned(16, count * size), 0, count * size); }
void *realloc(void *old, size_t size) {
  if (!old) return malloc(size);
  size_t room = (size_t)1 << ((struct block *)old)[-1].class;
  if (size <= room) return old;
  void *new = malloc(size);
  memcpy(new, old, room);
  free(old);
  return new;
}
void *memalign(size_t align, size_t size) { return aligned(align, size); }
void *aligned_alloc(size_t align, size_t size) { return aligned(align, size); }
int posix_memalign(void **to, size_t align, size_t size) { *to = aligned(align, size); return 0; }
size_t malloc_usable_size(void *memory) { return (size_t)1 << ((struct block *)memory)[-1].class; }

int main(int count, char **words) {
  const char *name = count > 1 ? words[1] : "mutex";
  pthread_spin_init(&spinlock, 0);
  kind = !strcmp(name, "spin") ? SPIN : !strcmp(name, "yield") ? YIELD : !strcmp(name, "pthread_spin_lock") ? PTHREAD_SPIN : MUTEX;
  calibrate();
  int wrong = 0;
  #pragma omp parallel reduction(+ : wrong)
  {
    int me = omp_get_thread_num();
    #pragma omp master
    hold = 100;
    #pragma omp barrier
    for (int i = 0; i < 60; i++) {
      char *blocks[3];
      for (int k = 0; k < 3; k++) {
        size_t size = 20 + 100 * k + 10 * me;
        blocks[k] = k == 1 ? calloc(1, size) : malloc(size);
        wrong += k == 1 && blocks[k][size - 1];
        memset(blocks[k], me + k, size);
      }
      blocks[0] = realloc(blocks[0], 2000);
      work(30);
      for (int k = 0; k < 3; k++) { wrong += blocks[k][19] != me + k; free(blocks[k]); }
      if (i % 20 == 0) {
        #pragma omp task
        free(malloc(64));
      }
      #pragma omp barrier
    }
  }
  hold = 0;
  printf("%d wrong\n", wrong);
}
