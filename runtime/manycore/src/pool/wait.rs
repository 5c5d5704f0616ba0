//! How a caller waits until the last helper has left its loop.

use super::Registry;
use super::board::Entrances;
use super::context::Context;
use super::search::{Look, Waits};
use super::worker::Worker;
use crate::clusters::Invited;
use crate::sleep::Seen;
use manycore_platform::Platform;

/// Looks at the gate before anything else is done: about what a helper's last
/// block takes.
const LOOKS: u32 = 64;
/// The outcome of a caller's wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Waited {
    /// All helpers have left, and none comes in any more.
    Over,
    /// A helper had to leave some of its iterations. Others may still be inside.
    Abandoned,
}

impl<P: Platform> Registry<P> {
    /// Closes the gates of `slot` to the clusters `invited` and waits until they are empty, or until
    /// `is_abandoned` reports that a helper has left work behind.
    ///
    /// While it waits the thread helps only with loops posted from inside this one, for which it must wait
    /// anyway. Other loops could keep it from returning when its own loop is done. So a body that holds a
    /// lock never finds itself below an unrelated body that wants the lock.
    ///
    /// # Why it is always woken
    ///
    /// The caller resets its latch, sets AWAITED in each gate's word, looks at the gates, and at what was
    /// abandoned, once more and sleeps until the latch is set. The `leave` of the last helper in a gate is
    /// ordered with the setting of AWAITED in that word's modification order. If it came first, the look sees the gate
    /// empty. If it came second, it saw AWAITED, and sets the latch after that; sleeping on a latch has its
    /// own argument (`sleep/README.md`). A caller that is woken while another gate is not empty sleeps
    /// again. The same holds for a helper that abandons work: it sets the flag and then leaves.
    ///
    /// A latch may be set late, for a loop that is over: then the caller of the next loop looks once in
    /// vain.
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
        // Once the gate was seen empty: a helper that leaves work sets the flag before it leaves.
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
            // Before looking: a loop posted after this is not slept through.
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

    /// Whether the thread has helped with a loop inside the loop in slot `ancestor`. A thread that is not
    /// allowed to run leaves that to others.
    fn help_descendants(&self, ancestor: usize) -> bool {
        let (worker, shared) = (Context::worker_of(self), self.shared());
        let worker = worker.expect("loops are run by workers");
        worker.is_allowed()
            && shared
                .board()
                .inviting(worker.cluster(), 0, None)
                .any(|slot| {
                    // Asked again inside, where the answer is exact.
                    shared.board().descends(slot, ancestor)
                        && worker.help(slot, None, Some(ancestor)).is_some()
                })
    }
}

impl<P: Platform> Worker<P> {
    /// Sleeps, as the caller of the loop behind `entrances`, until something may have
    /// changed: the last helper has left, one `has_more` to say, or a loop was posted
    /// after `seen`. May return spuriously.
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
