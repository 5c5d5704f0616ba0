/* What each shared object of glue exports; `src/peer/foreign.rs` calls it. */
#ifndef PEERS_GLUE_H
#define PEERS_GLUE_H

#include "tasks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The runtime's name and version. */
const char *glue_version(void);

/* Sets the number of threads; called once, before anything below. */
void glue_open(int threads);

/* Calls `session(state)` from where a user would call loops from: inside TBB's
 * arena; for OpenMP there is no such place. */
void glue_enter(void (*session)(void *), void *state);

/* The loops. `policy` is the schedule or partitioner, an index into the list in
 * `src/peer/foreign.rs`. */
void glue_call(int policy, size_t n, peers_body body, const void *context);
/* As `glue_call`, from any thread, several at once, each outside of the runtime:
 * into TBB's arena and out again; in OpenMP each thread leads a team of its own. */
void glue_request(int policy, size_t n, peers_body body, const void *context);

void glue_trivial(int policy, size_t n);
void glue_tiny(int policy, size_t n);

/* A node of a tree; both children or none. */
struct peers_node {
    uint64_t value;
    const struct peers_node *left, *right;
};

/* Calls `session(state)` from where a user would join from: inside an arena, or
 * on one thread of a parallel region. */
void glue_enter_joins(void (*session)(void *), void *state);

/* The recursions, a join at every pair of calls. `policy` is an index into the
 * list of joins. */
void glue_empty(int policy, uint32_t levels);
uint64_t glue_fib(int policy, uint32_t n);
uint64_t glue_sum(int policy, const struct peers_node *node);

#ifdef __cplusplus
}
#endif

#endif
