//! How a worker without tasks finds tasks.

use super::hints::{Interest, Item};
use super::range::Range;
use super::{Hands, RangeDeque};
use crate::stealing::Task;
use manycore_chip::Broadcast;
use manycore_platform::{Atomic, Ordering};

/// Deques that a worker looks at before it leaves the termination count.
const FIRST_LOOKS: usize = 2;
/// Rounds over all deques before a worker without a network port sleeps.
const ROUNDS: usize = if cfg!(test) { 1 } else { 64 };
/// The shortest pause between two looks, in turns of a spin loop.
const SHORTEST: usize = 4;
/// The longest pause, after a look at all deques.
const LONGEST: usize = if cfg!(test) { 4 } else { 64 };
/// The most guests (workers without tasks) that a worker with tasks invites before its next task.
const GUESTS: u32 = 4;

impl<P: Broadcast> RangeDeque<P> {
    /// Finds a task. Returns `None` when all tasks are done.
    #[cold]
    pub(super) fn hunt(&mut self) -> Option<Task> {
        let workers = self.shared.stores.len();
        if let Some(hints) = &mut self.hints {
            self.counts.sent += 2;
            hints.hear(Interest::Guest);
            hints.tell_hunger(self.rng.below(workers));
        }
        let found = self.search(workers);
        self.hosts.clear();
        self.guests.clear();
        found
    }

    /// Looks at deques with an invitation, and at all deques in turn from a random one on.
    fn search(&mut self, workers: usize) -> Option<Task> {
        let start = self.rng.below(workers);
        let (mut looks, mut pause, mut is_in) = (0, SHORTEST, true);
        loop {
            self.listen();
            if self.over {
                return None;
            }
            let victim = self.hosts.pop().unwrap_or_else(|| {
                looks += 1;
                (start + looks) % workers
            });
            if victim != self.rank && self.has_something(victim) {
                if !is_in {
                    self.shared.termination.join(self.rank);
                    is_in = true;
                }
                let task = self.steal(victim);
                if task.is_some() {
                    return task;
                }
            }
            if is_in && looks >= FIRST_LOOKS {
                is_in = false;
                if self.shared.termination.leave(self.rank) {
                    self.end();
                    return None;
                }
            }
            if looks > workers {
                pause = (2 * pause).min(LONGEST);
            }
            self.pause(pause);
            if self.hints.is_none() && looks > ROUNDS * workers {
                self.sleep();
            }
        }
    }

    /// Pauses for `turns` turns, unless an invitation or the end comes.
    fn pause(&mut self, turns: usize) {
        for _ in 0..turns {
            P::relax();
            self.listen();
            if self.over || !self.hosts.is_empty() {
                return;
            }
        }
    }

    /// Sleeps until there may be tasks, or until the end. The caller has left the termination count.
    fn sleep(&mut self) {
        let shared = &*self.shared;
        let host = shared.parking.sleep(|| {
            if shared.over.load(Ordering::Acquire) {
                return Some(None);
            }
            let mut all = 0..shared.stores.len();
            all.find(|&victim| self.has_something(victim)).map(Some)
        });
        self.hosts.extend(host.flatten());
    }

    /// Handles the messages that have arrived.
    #[inline]
    pub(super) fn listen(&mut self) {
        if self.hints.is_none() {
            // Acquire: this worker sees all work of the others.
            self.over |= self.shared.over.load(Ordering::Acquire);
        }
        while let Some(item) = self.hints.as_ref().and_then(|hints| hints.receive()) {
            self.counts.received += 1;
            match item {
                Item::Over => self.over = true,
                Item::Hungry { guest } => self.guests.insert(guest),
                Item::Invitation { guest, host } if guest == self.rank => self.hosts.push(host),
                Item::Invitation { guest, .. } => self.guests.remove(guest),
            }
        }
    }

    fn has_something(&self, victim: usize) -> bool {
        let hands = &self.shared.stores[victim].hands;
        // Relaxed: a hint only. A worker that tries to take a task acquires what it needs. A worker that sleeps on this
        // value has passed a fence.
        [&hands.own, &hands.loot]
            .iter()
            .any(|word| !Range(word.load(Ordering::Relaxed)).is_empty())
    }

    /// Takes half of one of the victim's ranges.
    pub(super) fn steal(&mut self, victim: usize) -> Option<Task> {
        self.counts.attempts += 1;
        let half = |range: Range| range.split(range.count().div_ceil(2));
        let hands = &self.shared.stores[victim].hands;
        // Each range gets one try, since a word that changes shows that other workers are taking tasks.
        let (claimed, left) = Hands::<P>::claim_once(&hands.loot, half)
            .or_else(|| Hands::<P>::claim_once(&hands.own, half))?;
        self.counts.steals += u64::from(claimed.count());
        let (first, rest) = claimed.split(1);
        if !rest.is_empty() {
            // Only this worker changes its loot while that is empty. Release passes on what the claim acquired.
            // `published` requires a read-modify-write.
            self.hands().loot.swap(rest.0, Ordering::AcqRel);
            self.published();
        }
        self.listen();
        for (host, tasks) in [(self.rank, rest.count()), (victim, left.count())] {
            if tasks > 0 {
                self.invite(host);
            }
        }
        Some(self.take(first))
    }

    /// Invites a worker without tasks to a deque with tasks. Returns `false` if this worker knows of no such worker.
    fn invite(&mut self, host: usize) -> bool {
        let Some(hints) = &self.hints else {
            return false;
        };
        let start = self.rng.below(self.shared.stores.len());
        let guest = self.guests.take(start);
        if let Some(guest) = guest {
            self.counts.sent += 1;
            hints.invite(guest, host);
        }
        guest.is_some()
    }

    /// Runs before each task. Invites the workers that requested tasks, and sets the filter for later requests.
    pub(super) fn settle(&mut self) {
        let tasks = self.spare();
        let Some(hints) = &mut self.hints else { return };
        hints.hear(if tasks > 0 {
            Interest::Host
        } else {
            Interest::End
        });
        for _ in 0..tasks.min(GUESTS) {
            if !self.invite(self.rank) {
                break;
            }
        }
        self.guests.clear();
    }
}
