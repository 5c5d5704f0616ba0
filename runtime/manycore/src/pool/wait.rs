//! How a caller waits until the last helper has left its loop.

use super::Registry;
use super::board::Entrances;
use super::context::Context;
use super::search::{Look, Waits};
use super::worker::Worker;
use crate::clusters::Invited;
use crate::sleep::Seen;
use manycore_platform::Platform;

/// The number of times that the caller looks for helpers before any other step. These looks take about as long as a
/// helper's last block.
const LOOKS: u32 = 64;

/// The outcome of a caller's wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Waited {
    /// All helpers have left, and no helper can enter any more.
    Over,
    /// A helper has left some of its iterations undone. Other helpers may still be inside.
    Abandoned,
}

impl<P: Platform> Registry<P> {
    /// Waits for the helpers of the loop in `slot` of the board (the list of posted loops). Helpers enter the loop
    /// through one gate for each cluster (a group of near workers) in `invited`. This function first closes these
    /// gates. Then it waits until no helper is inside, or until `is_abandoned` reports that a helper has left work
    /// behind.
    ///
    /// Meanwhile the caller helps only with loops posted from inside its own loop, for which it must wait in any case.
    /// Another loop could delay the caller's return. In addition, a loop body on this stack may hold a lock. A body of
    /// another loop, above it on the stack, could want the same lock.
    ///
    /// # Why the caller is always woken
    ///
    /// The caller resets its latch, on which it sleeps, and sets AWAITED in each gate's word. Then it looks once more
    /// at the gates and for abandoned work, and sleeps until the latch is set. The modification order of a gate's word
    /// orders the last helper's `leave` and the setting of AWAITED. If `leave` came first, the caller's look sees the
    /// gate empty. If `leave` came second, the helper saw AWAITED, and sets the latch after that. `sleep/README.md`
    /// argues why a sleeper on a latch is woken. A caller that is woken while another gate is not empty sleeps again.
    /// The same argument holds for a helper that abandons work: that helper sets the flag and then leaves.
    ///
    /// A latch may be set late, after its loop is over. In that case the caller of the next loop looks once in vain.
    pub(crate) fn wait(
        &self,
        slot: usize,
        invited: Invited,
        is_abandoned: &dyn Fn() -> bool,
    ) -> Waited {
        let entrances = self.shared().board().entrances(slot, invited);
        if invited.is_one() {
            entrances.close();
        } else {
            let before = P::now();
            entrances.close();
            let took = P::now().saturating_sub(before);
            self.shared()
                .idle()
                .learn_closing(took, invited.clusters().len());
        }
        // Called after the gates were seen empty. A helper that abandons work sets the flag before it leaves.
        let over = || {
            if is_abandoned() {
                Waited::Abandoned
            } else {
                Waited::Over
            }
        };
        if entrances.are_empty() {
            return over();
        }
        let mut deadline = None;
        loop {
            for _ in 0..LOOKS {
                if entrances.are_empty() {
                    return over();
                }
                P::relax();
            }
            let yields = self.shared().is_oversubscribed();
            let shared = self.shared();
            let yield_core = || (shared.idle()).yield_core(|since| shared.has_filled_cores(since));
            let must_sleep = yields && !yield_core();
            if is_abandoned() {
                return Waited::Abandoned;
            }
            // The count of posts is read before the search, so that a loop that is posted later keeps the caller from
            // sleeping.
            let me = Context::worker_of(self).expect("loops are run by workers");
            let seen = me.posts();
            if self.help_descendants(slot) {
                deadline = None;
                continue;
            }
            let now = P::now();
            if now >= *deadline.get_or_insert(now + self.shared().patience()) || must_sleep {
                me.set_busy(false);
                me.await_helpers(&entrances, seen, is_abandoned);
                me.set_busy(true);
            }
        }
    }

    /// Helps with a loop inside the loop in slot `ancestor`. Returns whether it has helped. A thread that the allotment
    /// (the number of cores that the pool may use now) forbids to run leaves this to other threads.
    fn help_descendants(&self, ancestor: usize) -> bool {
        let (worker, shared) = (Context::worker_of(self), self.shared());
        let worker = worker.expect("loops are run by workers");
        worker.is_allowed()
            && shared
                .board()
                .inviting(worker.cluster(), 0, None)
                .any(|slot| {
                    // This is a hint. `help` checks it again at a point where the answer is exact.
                    shared.board().descends(slot, ancestor)
                        && worker.help(slot, None, Some(ancestor)).is_some()
                })
    }
}

impl<P: Platform> Worker<P> {
    /// Sleeps, as the caller of the loop behind `entrances`, until the last helper has left, a helper has abandoned
    /// work (`has_more`), or a loop was posted after `seen`. May return spuriously.
    fn await_helpers(&self, entrances: &Entrances<'_, P>, seen: Seen, has_more: &dyn Fn() -> bool) {
        let latch = &self.helpers();
        self.note_seen(seen);
        latch.reset();
        entrances.await_last(self.id());
        if !entrances.are_empty() && !has_more() {
            let look = Look {
                worker: self,
                waits: Waits::ForLoop,
            };
            self.rest(latch, &look);
        }
        entrances.awaited_no_more();
    }
}
