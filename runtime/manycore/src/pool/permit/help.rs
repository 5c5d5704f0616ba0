//! Helping with the loops that are posted on the pool's board (the list of posted loops).

use crate::clusters::Invited;
use crate::pool::board::Participation;
use crate::pool::context::Context;
use crate::pool::gate::Departure;
use crate::pool::registry::Registry;
use crate::pool::worker::Worker;
use crate::sleep::Woken;
use manycore_platform::Platform;

/// The number of sleepers that a woken helper wakes before its first block. A wake-up takes ten to thirty times as long
/// as the call that begins it, so a flat tree is the fastest. But each call delays the helper's first block, in vain if
/// the loop ends before the sleeper comes.
///
/// With 64 threads on `graviton2-64` and `milan-7r13x2` after 1 ms without work, 2, 4 and 8 take 92, 94 and 96 us, and
/// 96, 98 and 101 us, for 254 us of work (`mid` of `study peers`), and 153, 139 and 138 us, and 140, 134 and 133 us, for
/// 1.3 ms (`coarse`).
const FAN_OUT: u32 = 4;

/// The outcome of a look at the board.
pub(in crate::pool) enum Help {
    /// The worker helped with the loop in this slot.
    Given(usize, Participation),
    /// The worker did not help, but loops are open.
    Refused,
    /// No loop is open.
    NotWanted,
}

impl<P: Platform> Worker<P> {
    /// Joins the first open loop that it finds on the board, and works in this loop until nothing is left to claim.
    /// Skips the slot `except`: the loop there is closed, and a look would take the slot's cache line from the loop's
    /// caller.
    pub(in crate::pool) fn help_any(
        &self,
        last: usize,
        except: Option<usize>,
        woken: Option<Woken>,
    ) -> Help {
        // A spinning worker has seen a post, most likely in the slot of the last loop. Joining without a look first
        // takes one transfer of the gate's line instead of two.
        if woken == Some(Woken::Spinning) && except != Some(last) {
            if let Some(ended) = self.help(last, woken, None) {
                return Help::Given(last, ended);
            }
        }
        let mut help = Help::NotWanted;
        let board = self.registry().shared().board();
        for slot in board.inviting(self.cluster(), last, except) {
            if let Some(ended) = self.help(slot, woken, None) {
                return Help::Given(slot, ended);
            }
            help = Help::Refused;
        }
        help
    }

    /// Joins the loop in `slot` if it is open and wants another helper. If `within` names a slot, the loop must also be
    /// nested in the loop of that slot. Works until nothing is left to claim, and returns how the participation ended.
    /// Returns `None` if the worker did not join.
    pub(in crate::pool) fn help(
        &self,
        slot: usize,
        woken: Option<Woken>,
        within: Option<usize>,
    ) -> Option<Participation> {
        let registry = self.registry();
        let (shared, permit) = (registry.shared(), self.permit());
        if shared.permit_holders().is_barred(permit, slot) {
            return None;
        }
        let cluster = shared.clusters().of(permit).cluster as usize;
        let entrance = shared.board().entrance(cluster, slot);
        let gate = entrance.gate();
        // The prefetch brings two cache lines at once instead of one after the other: the gate's line and, if the
        // loop's frame is at the address of the last loop's frame, the frame's line.
        shared.permit_holders().prefetch_frame(permit);
        let others = match gate.join() {
            Ok(others) => others,
            Err(left) => {
                registry.departed(left);
                return None;
            }
        };
        // SAFETY: this thread is inside the gate until `leave` below.
        let job = unsafe { entrance.job() };
        let is_elsewhere = |outer| !shared.board().descends(slot, outer);
        if others >= job.helpers || within.is_some_and(is_elsewhere) {
            registry.departed(gate.leave());
            return None;
        }
        if woken == Some(Woken::Sleeping) {
            self.wake_more(job.helpers - others - 1, job.invited);
        }
        shared.permit_holders().note_frame(permit, job.frame);
        shared.permit_holders().note_work(permit);
        let partial = std::ptr::from_ref(entrance.partial()).cast();
        let ended = Context::take_part(shared, slot, |part| {
            // SAFETY: inside the gate the frame is alive and ready. Only this thread has the rank in this loop: the
            // rank is the permit (right to run jobs) that this thread has now, and a permit has one holder. A thread
            // that gave this permit away within this loop has barred the permit from the loop.
            let ended = unsafe { (job.run)(job.frame, part.rank, partial) };
            registry.departed(match ended {
                // Nothing is left to claim, so no other helper need come.
                Participation::Done => gate.leave_closed(),
                Participation::Left => gate.leave(),
                Participation::Abandoned => gate.leave_behind(),
            });
            ended
        });
        Some(ended)
    }

    /// Passes a wake-up on to more sleepers, so that many sleepers are woken as a tree.
    fn wake_more(&self, wanted: u32, invited: Invited) {
        let count = wanted.min(FAN_OUT).min(self.sleep().sleepers_in(invited));
        if count > 0 {
            self.wake_others(count, Some(invited));
        }
    }
}

impl<P: Platform> Registry<P> {
    /// The number of workers that sleep, as a hint.
    pub(crate) fn sleepers(&self) -> u32 {
        self.sleep().sleepers()
    }

    /// The number of workers that sleep in the clusters (groups of near workers) `invited`, as a hint.
    pub(crate) fn sleepers_in(&self, invited: Invited) -> u32 {
        self.sleep().sleepers_in(invited)
    }

    /// Wakes the caller that sleeps until its last helper has left.
    fn departed(&self, left: Departure) {
        if let Departure::Awaited(caller) = left {
            let worker = self.worker(caller);
            if worker.helpers().set() {
                self.notify(caller);
            }
        }
    }
}
