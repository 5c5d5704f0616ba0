//! Helping with posted loops, and waking those who could.

use super::board::Part;
use super::context::Context;
use super::gate::Departure;
use super::registry::Registry;
use crate::World;
use crate::sleep::{Sleep, Woken};

/// What came of a look at the board.
pub(super) enum Help {
    /// The worker helped with the loop in this slot.
    Given(usize),
    /// It did not, but loops are open.
    Refused,
    /// No loop is open.
    NotWanted,
}

impl<W: World> Registry<W> {
    /// Joins the first open loop found and works in it until nothing is left
    /// to claim.
    pub(super) fn help_any(&self, rank: usize, last: usize, woken: Option<Woken>) -> Help {
        // A spinner was told of a post, most likely where the last one was.
        // Joining without looking first makes one transfer of the gate's line
        // out of two.
        if woken == Some(Woken::Spinning) && self.help(last, rank, woken, |_| true) {
            return Help::Given(last);
        }
        let mut help = Help::NotWanted;
        for slot in self.shared().board().inviting(last) {
            if self.help(slot, rank, woken, |_| true) {
                return Help::Given(slot);
            }
            help = Help::Refused;
        }
        help
    }

    /// Joins the loop in `slot` if it is open, wants another helper and is
    /// `wanted`; works in it until nothing is left to claim.
    pub(crate) fn help(
        &self,
        slot: usize,
        rank: usize,
        woken: Option<Woken>,
        wanted: impl Fn(usize) -> bool,
    ) -> bool {
        if self.shared().ranks().is_barred(rank, slot) {
            return false;
        }
        let gate = self.shared().board().slot(slot).gate();
        // Three lines on the way at once instead of one after the other: the
        // gate's, and, if all is as last time, the claim word and the frame.
        self.shared().board().slot(slot).prefetch(rank);
        self.shared().ranks().prefetch_frame(rank);
        let others = match gate.join() {
            Ok(others) => others,
            Err(left) => {
                self.tell(left);
                return false;
            }
        };
        // SAFETY: this thread is inside the gate until `leave` below.
        let job = unsafe { self.shared().board().slot(slot).job() };
        let helps = others < job.helpers && wanted(slot);
        if helps {
            if woken == Some(Woken::Sleeping) {
                self.wake_more(rank, job.helpers - others - 1);
            }
            self.shared().ranks().note_frame(rank, job.frame);
            self.shared().ranks().note_work(rank);
            let context = Context::current(self.shared()).inside(slot);
            debug_assert_eq!(context.rank, rank);
            // SAFETY: inside the gate the frame is alive and ready, and `rank`
            // is ours alone in this loop: a place has one holder, and who gave it away
            // in the midst of this loop has barred it.
            self.tell(
                match context.enter(|| unsafe { (job.run)(job.frame, rank) }) {
                    // Nothing is left to claim, so nobody else need come.
                    Part::Done => gate.leave_closed(),
                    Part::Left => gate.leave(),
                    Part::Abandoned => gate.leave_behind(),
                },
            );
            context.unbar();
        } else {
            self.tell(gate.leave());
        }
        helps
    }

    /// Workers asleep, as a hint.
    pub(crate) fn sleepers(&self) -> u32 {
        self.sleep().sleepers()
    }

    /// Wakes up to `count` workers for a loop.
    pub(crate) fn wake(&self, rank: usize, count: u32) {
        self.sleep().wake_any(rank, count);
    }

    /// Passes a wake-up on to two more: a sleeping crowd is woken as a tree.
    fn wake_more(&self, rank: usize, wanted: u32) {
        let count = wanted.min(2).min(self.sleepers());
        if count > 0 {
            self.wake(rank, count);
        }
    }

    /// Wakes the caller that sleeps until its last helper has left.
    fn tell(&self, left: Departure) {
        if let Departure::Awaited(caller) = left {
            let worker = self.worker(caller);
            if worker.helpers().set() {
                self.notify(caller);
            }
        }
    }
}
