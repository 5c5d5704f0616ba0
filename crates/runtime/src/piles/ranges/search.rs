//! How a worker that has nothing finds something.

use super::news::{Ear, Item};
use super::range::Range;
use super::{Hands, RangePile};
use crate::piles::Task;
use manycore_platform::{Atomic, Ordering, Platform};

/// Piles looked at before a worker counts itself out.
const FIRST_LOOKS: usize = 4;
/// Rounds over all piles before it sleeps.
const PER: usize = 20;
const ROUNDS: usize = if cfg!(test) { 1 } else { 64 };
/// The longest pause between two looks, in turns of a spin loop.
const LONGEST: usize = 256;

impl<P: Platform> RangePile<P> {
    fn random(&mut self) -> u64 {
        // Marsaglia's xorshift.
        let mut x = self.random;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random = x;
        x
    }

    /// Finds a task, or that all are done.
    #[cold]
    pub(super) fn hunt(&mut self) -> Option<Task> {
        if let Some(news) = &mut self.news {
            news.hear(Ear::All);
            self.tell_spare(0);
        }
        let found = self.search();
        self.hosts.clear();
        self.waiting.clear();
        self.told.clear();
        found
    }

    fn search(&mut self) -> Option<Task> {
        let workers = self.shared.stores.len();
        let start = self.random() as usize % workers;
        let (mut looks, mut pause, mut is_in) = (0, 4, true);
        loop {
            self.listen();
            if self.over {
                return None;
            }
            let victim = match self.hosts.pop().or_else(|| self.told.pop()) {
                Some(host) => host,
                None => {
                    looks += 1;
                    (start + looks) % workers
                }
            };
            if victim != self.rank && self.has_something(victim) {
                if !is_in {
                    self.shared.census.join(self.rank);
                    is_in = true;
                }
                let task = self.steal(victim);
                if task.is_some() {
                    return task;
                }
            }
            if is_in && looks >= FIRST_LOOKS {
                is_in = false;
                if self.shared.census.leave(self.rank) {
                    self.end();
                    return None;
                }
            }
            self.pause(&mut pause, looks > workers);
            if looks >= ROUNDS * workers && self.news.is_none() {
                self.sleep();
            }
        }
    }

    /// Leaves the others alone for a while, unless it is called.
    fn pause(&mut self, turns: &mut usize, longer: bool) {
        for _ in 0..*turns + PER * self.waiting.len() {
            P::relax();
            self.listen();
            if self.over || !self.hosts.is_empty() || !self.told.is_empty() {
                return;
            }
        }
        if longer {
            *turns = (*turns * 2).min(LONGEST);
        }
    }

    fn sleep(&mut self) {
        let shared = &*self.shared;
        let host = shared.rest.sleep(|| {
            if shared.over.load(Ordering::Acquire) {
                return Some(None);
            }
            let mut all = 0..shared.stores.len();
            all.find(|&victim| self.has_something(victim)).map(Some)
        });
        self.hosts.extend(host.flatten());
    }

    /// Takes what has come.
    pub(super) fn listen(&mut self) {
        if self.news.is_none() {
            // Acquire: all that was done.
            self.over |= self.shared.over.load(Ordering::Acquire);
        }
        while let Some(item) = self.news.as_ref().and_then(|news| news.receive()) {
            self.counts.received += 1;
            match item {
                Item::Over => self.over = true,
                Item::Spare { worker, tasks } => self.learn(worker, tasks),
                Item::Invite { guest, host } if guest == self.rank => self.hosts.push(host),
                Item::Invite { guest, .. } => self.waiting.retain(|&worker| worker != guest),
            }
        }
    }

    fn learn(&mut self, worker: usize, tasks: u32) {
        self.levels[worker] = tasks.min(255) as u8;
        self.waiting.retain(|&one| one != worker);
        if tasks == 0 {
            self.waiting.push(worker);
        } else {
            let others = self.waiting.len() as u64 + 1;
            if self.random() % others == 0 {
                self.told.push(worker);
            }
        }
    }

    fn tell_spare(&mut self, tasks: u32) {
        if let Some(news) = &self.news {
            self.counts.sent += 1;
            news.send(Item::Spare {
                worker: self.rank,
                tasks,
            });
        }
    }

    /// Before a task of `self.lasted` or so: says what it wants to hear.
    pub(super) fn settle(&mut self) {
        if let Some(news) = &mut self.news {
            news.hear(Ear::End);
        }
    }

    fn has_something(&self, victim: usize) -> bool {
        let hands = &self.shared.stores[victim].hands;
        // Acquire: who is after this has seen that the victim was in.
        [&hands.own, &hands.loot]
            .iter()
            .any(|word| !Range(word.load(Ordering::Acquire)).is_empty())
    }

    /// Takes half of what the victim has.
    fn steal(&mut self, victim: usize) -> Option<Task> {
        self.counts.attempts += 1;
        let half = |range: Range| range.split(range.count().div_ceil(2));
        let hands = &self.shared.stores[victim].hands;
        let (claimed, left) =
            Hands::<P>::claim(&hands.loot, half).or_else(|| Hands::<P>::claim(&hands.own, half))?;
        self.counts.steals += u64::from(claimed.count());
        let (first, rest) = claimed.split(1);
        if !rest.is_empty() {
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

    /// Tells one of those that have nothing where there is something.
    fn invite(&mut self, host: usize) {
        if self.waiting.is_empty() {
            return;
        }
        let at = self.random() as usize % self.waiting.len();
        let guest = self.waiting.swap_remove(at);
        if let Some(news) = &self.news {
            self.counts.sent += 1;
            news.send(Item::Invite { guest, host });
        }
    }
}
