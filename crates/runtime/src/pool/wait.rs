//! How a caller waits until the last helper has left its loop.

use super::Shared;
use super::seat::NAP;
use super::worker::Context;
use manycore_platform::Platform;
use std::time::Duration;

/// Looks at the gate before anything else is done: about what a helper's last
/// block takes.
const LOOKS: u32 = 64;
/// How long to look before going to sleep.
const PATIENCE: Duration = Duration::from_micros(100);

/// What a caller's wait came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Waited {
    /// All helpers have left, and none comes in any more.
    Over,
    /// A helper had to leave some of its iterations. Others may still be inside.
    Abandoned,
}

impl<P: Platform> Shared<P> {
    /// Closes the gate of `slot` and waits until it is empty, or until a helper
    /// `is_abandoned` tells of has left work behind.
    ///
    /// While it waits the thread helps, as `rank`, with loops posted from
    /// inside this one, and with no others: those it must wait for anyway,
    /// others could keep it from returning when its own loop is done, and a
    /// body that holds a lock never finds itself below a stranger's that wants
    /// it.
    ///
    /// # Why it is always woken
    ///
    /// The caller reads the event count, sets AWAITED in the gate's word, looks
    /// at the gate once more and sleeps on the count. The last helper's
    /// `leave` is ordered with the setting of AWAITED in that word's history.
    /// If it came first, the look sees the gate empty. If it came second, it
    /// saw AWAITED, and posts after that; the count then differs from the one
    /// read, or the sleeper is counted and woken (`EventCount`'s argument).
    ///
    /// Who abandons work posts in any case, after it has set the flag and left: a
    /// caller that read the count after that post sees the flag, and one that read it
    /// before does not sleep through it.
    pub(crate) fn wait(&self, slot: usize, rank: usize, is_abandoned: &dyn Fn() -> bool) -> Waited {
        let gate = self.board.slot(slot).gate();
        gate.close();
        // Once the gate was seen empty: who leaves work says so before it leaves.
        let over = || {
            if is_abandoned() {
                Waited::Abandoned
            } else {
                Waited::Over
            }
        };
        if gate.is_empty() {
            return over();
        }
        let mut deadline = None;
        let mut awaited = false;
        loop {
            for _ in 0..LOOKS {
                if gate.is_empty() {
                    if awaited {
                        gate.awaited_no_more();
                    }
                    return over();
                }
                P::relax();
            }
            if self.oversubscribed {
                P::yield_now();
            }
            let seen = self.idle.events.seen();
            if is_abandoned() {
                if awaited {
                    gate.awaited_no_more();
                }
                return Waited::Abandoned;
            }
            if self.help_descendants(slot, rank) {
                deadline = None;
                continue;
            }
            if Context::<P>::serve_any() {
                deadline = None;
                continue;
            }
            let now = P::now();
            if now < *deadline.get_or_insert(now + P::duration_to_ticks(PATIENCE)) {
                continue;
            }
            gate.await_last();
            awaited = true;
            if gate.is_empty() {
                continue;
            }
            // Of calls handed in to other pools this one's events do not tell.
            let nap = Context::is_elsewhere(self).then_some(NAP);
            self.idle.events.sleep(seen, nap);
        }
    }

    /// Whether the thread could help with a loop inside the one in slot `ancestor`,
    /// and did. One that is not allowed to run leaves that to others.
    fn help_descendants(&self, ancestor: usize, rank: usize) -> bool {
        self.allows(rank)
            && self.board.inviting(0).any(|slot| {
                // Asked again inside, where the answer is exact.
                self.board.descends(slot, ancestor)
                    && self.help(slot, rank, None, |slot| self.board.descends(slot, ancestor))
            })
    }
}
