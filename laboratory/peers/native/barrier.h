/* What each shared object with a barrier exports; `src/barriers/foreign.rs` calls it. */
#ifndef PEERS_BARRIER_H
#define PEERS_BARRIER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What one thread of the team does; `barrier` is for `barrier_wait`. */
typedef void (*barrier_member)(void *state, int rank, void *barrier);

/* The barrier's owner and its version. */
const char *barrier_version(void);

/* Calls `member(state, rank, barrier)` on so many threads at once, the caller being
 * rank 0, and returns when all have returned. Ends the process when there cannot
 * be so many. */
void barrier_team(int threads, barrier_member member, void *state);

/* Goes through so many episodes. */
void barrier_wait(void *barrier, uint32_t episodes);

#ifdef __cplusplus
}
#endif

#endif
