/* What the shared object with oneTBB's piles exports; `src/stealing/foreign.rs` calls it. */
#ifndef PEERS_STEALING_H
#define PEERS_STEALING_H

#ifdef __cplusplus
extern "C" {
#endif

/* What each of the workers does: it waits for the others, calls `stealing_put` for each of
 * its tasks, and waits for the others again. */
typedef void (*stealing_fill)(void *state, int rank, void *pile);

/* A task. */
typedef void (*stealing_task)(void *state, int number);

/* Makes an arena of so many workers, the caller one of them; called once, before what follows. */
void stealing_open(int workers);

/* Has each worker fill its pile, and returns when all tasks are done. */
void stealing_run(stealing_fill fill, stealing_task task, void *state);

/* Puts a task into the pile of the worker that calls. */
void stealing_put(void *pile, int number);

#ifdef __cplusplus
}
#endif

#endif
