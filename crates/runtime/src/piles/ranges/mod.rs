//! Ranges of tasks that are halved: a discipline of our own.

mod census;
#[cfg(test)]
mod checked;
mod news;
mod range;
mod rest;
mod ring;
mod search;

use super::{Counts, Discipline, Pile, Task};
use crate::barrier::Placement;
use census::Census;
use manycore_platform::{Atomic, Broadcast, CachePadded, Ordering, Platform};
use news::{Item, News, Wire};
use range::{MOST_WORKERS, Range};
use rest::Rest;
use ring::Ring;
use std::sync::Arc;

/// Ranges.
pub struct RangeStealing<P: Platform>(Arc<Shared<P>>);

/// A worker's end of a [`RangeStealing`].
pub struct RangePile<P: Platform> {
    shared: Arc<Shared<P>>,
    rank: usize,
    /// Tasks for which the ring has no room.
    overflow: Vec<Task>,
    news: Option<News<P>>,
    random: u64,
    over: bool,
    /// Who has something for this worker, as it was told while it had nothing.
    hosts: Vec<usize>,
    /// Others that have nothing, as they told while this one had nothing.
    waiting: Vec<usize>,
    told: Vec<usize>,
    levels: Box<[u8]>,
    began: u64,
    lasted: u64,
    counts: Counts,
}

struct Shared<P: Platform> {
    stores: Box<[Store<P>]>,
    census: Census<P>,
    rest: Rest<P>,
    over: CachePadded<P::AtomicBool>,
    wire: Option<Wire<P>>,
}

/// One worker's tasks.
struct Store<P: Platform> {
    hands: CachePadded<Hands<P>>,
    ring: Ring<P>,
}

/// The two ranges that a worker takes from, on one line.
struct Hands<P: Platform> {
    /// Of its own ring: what it has put.
    own: P::AtomicU64,
    /// Of any ring: what it has stolen.
    loot: P::AtomicU64,
}

impl<P: Platform> Discipline<P> for RangeStealing<P> {
    const NAME: &'static str = "ours";
    type Pile = RangePile<P>;

    fn new(placement: &Placement, seed: u64) -> Self {
        let members = placement.members();
        assert!(members <= MOST_WORKERS, "{members} workers; at most {MOST_WORKERS}");
        let store = |rank| {
            let nothing = Range::new(rank, 0, 0).0;
            let store = Store {
                hands: CachePadded::new(Hands {
                    own: P::AtomicU64::new(nothing),
                    loot: P::AtomicU64::new(nothing),
                }),
                ring: Ring::new(),
            };
            P::name(&store.hands, "pile: ranges");
            store
        };
        let _ = seed;
        Self(Arc::new(Shared {
            stores: (0..members).map(store).collect(),
            census: Census::new(members),
            rest: Rest::new(),
            over: CachePadded::new(P::AtomicBool::new(false)),
            wire: P::Broadcast::create_channel(),
        }))
    }

    fn pile(&self, rank: usize) -> RangePile<P> {
        let workers = self.0.stores.len();
        assert!(rank < workers, "rank {rank} of {workers}");
        RangePile {
            shared: Arc::clone(&self.0),
            rank,
            overflow: Vec::new(),
            news: self.0.wire.map(News::new),
            random: (rank as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            over: false,
            hosts: Vec::new(),
            waiting: Vec::new(),
            told: Vec::new(),
            levels: vec![255; workers].into(),
            began: 0,
            lasted: 0,
            counts: Counts::default(),
        }
    }
}

impl<P: Platform> Hands<P> {
    /// Changes `word` as `split` says: into what is left and what is claimed.
    fn claim(
        word: &P::AtomicU64,
        split: impl Fn(Range) -> (Range, Range),
    ) -> Option<(Range, Range)> {
        let mut range = Range(word.load(Ordering::Acquire));
        while !range.is_empty() {
            let (claimed, left) = split(range);
            match word.compare_exchange(range.0, left.0, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some((claimed, left)),
                Err(now) => range = Range(now),
            }
        }
        None
    }
}

impl<P: Platform> RangePile<P> {
    fn hands(&self) -> &Hands<P> {
        &self.shared.stores[self.rank].hands
    }

    fn take(&self, range: Range) -> Task {
        let ring = &self.shared.stores[range.ring()].ring;
        if range.ring() == self.rank {
            ring.take(range.low())
        } else {
            ring.take_from_afar(range.low())
        }
    }

    /// The next task that is here.
    fn pop(&mut self) -> Option<Task> {
        let hands = self.hands();
        let first = |range: Range| range.split(1);
        let claimed = Hands::<P>::claim(&hands.loot, first)
            .or_else(|| Hands::<P>::claim(&hands.own, first));
        if let Some((range, _)) = claimed {
            return Some(self.take(range));
        }
        let task = self.overflow.pop()?;
        while let Some(task) = self.overflow.pop() {
            if !self.publish(task) {
                self.overflow.push(task);
                break;
            }
        }
        Some(task)
    }

    /// Puts the task where others can take it, if there is room.
    fn publish(&self, task: Task) -> bool {
        let store = &self.shared.stores[self.rank];
        let own = &store.hands.own;
        // Relaxed: the end is this worker's own writing.
        let mut range = Range(own.load(Ordering::Relaxed));
        if !store.ring.write(range.end(), task) {
            return false;
        }
        // Release: the task is in its place. Others change the word only by taking.
        while let Err(now) = own.compare_exchange(
            range.0,
            range.longer().0,
            Ordering::AcqRel,
            Ordering::Relaxed,
        ) {
            range = Range(now);
        }
        self.published();
        true
    }

    /// Wakes somebody for what was published, by an atomic read-modify-write just before.
    fn published(&self) {
        if self.news.is_none() {
            self.shared.rest.published();
        }
    }

    /// Tells all that it is over.
    fn end(&mut self) {
        self.over = true;
        match &self.news {
            Some(news) => {
                self.counts.sent += 1;
                news.send(Item::Over);
            }
            None => {
                // Release: all that was done.
                self.shared.over.store(true, Ordering::Release);
                self.shared.rest.wake_all();
            }
        }
    }
}

impl<P: Platform> Pile<P> for RangePile<P> {
    fn put(&mut self, task: Task) {
        if !self.overflow.is_empty() || !self.publish(task) {
            self.overflow.push(task);
        }
    }

    fn get(&mut self) -> Option<Task> {
        self.listen();
        if self.over {
            return None;
        }
        if self.news.is_some() {
            self.lasted = P::now().saturating_sub(self.began);
        }
        let task = self.pop().or_else(|| self.hunt());
        self.settle();
        self.told.clear();
        self.began = P::now();
        task
    }

    fn finish(&mut self) {
        self.end();
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}
