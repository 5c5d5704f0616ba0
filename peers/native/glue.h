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
void glue_trivial(int policy, size_t n);
void glue_tiny(int policy, size_t n);

#ifdef __cplusplus
}
#endif

#endif
