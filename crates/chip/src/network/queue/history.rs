use std::collections::{BTreeMap, VecDeque};

use super::load::Load;
use super::{Cycles, QueueModel};

/// Free intervals remembered, the one without an end included.
const INTERVALS: usize = 100;

/// A queue that remembers when it is free, in a sorted list.
///
/// A message takes the first free interval that can hold its service. Pieces
/// shorter than the shortest service are dropped, and beyond 100 intervals the
/// earliest is forgotten. A message that lies before what is remembered waits
/// as long as the mean message of an M/G/1 queue under the recent load.
#[derive(Clone, Debug)]
pub struct HistoryList(pub(super) History<VecDeque<Gap>>);

/// The same as [`HistoryList`], in a balanced tree.
#[derive(Clone, Debug)]
pub struct HistoryTree(pub(super) History<BTreeMap<Cycles, Cycles>>);

impl HistoryList {
    /// A free queue for services of `shortest` cycles or more.
    pub fn new(shortest: Cycles) -> Self {
        Self(History::new(shortest))
    }
}

impl HistoryTree {
    /// A free queue for services of `shortest` cycles or more.
    pub fn new(shortest: Cycles) -> Self {
        Self(History::new(shortest))
    }
}

impl QueueModel for HistoryList {
    fn delay(&mut self, arrival: Cycles, service: Cycles) -> Cycles {
        self.0.delay(arrival, service)
    }
}

impl QueueModel for HistoryTree {
    fn delay(&mut self, arrival: Cycles, service: Cycles) -> Cycles {
        self.0.delay(arrival, service)
    }
}

/// Free time with an end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    start: Cycles,
    end: Cycles,
}

impl Gap {
    fn fits(self, arrival: Cycles, service: Cycles) -> bool {
        self.start.max(arrival) + service <= self.end
    }
}

/// Where gaps are kept, disjoint and in order.
pub(super) trait Gaps: Default {
    /// Takes out the first gap that can hold the service at or after `arrival`.
    fn take(&mut self, arrival: Cycles, service: Cycles) -> Option<Gap>;
    fn insert(&mut self, gap: Gap);
    fn take_first(&mut self) -> Option<Gap>;
    fn len(&self) -> usize;
}

impl Gaps for VecDeque<Gap> {
    fn take(&mut self, arrival: Cycles, service: Cycles) -> Option<Gap> {
        let from = self.partition_point(|gap| gap.end < arrival + service);
        let at = from
            + self
                .range(from..)
                .position(|gap| gap.fits(arrival, service))?;
        self.remove(at)
    }

    fn insert(&mut self, gap: Gap) {
        let at = match self.back() {
            Some(last) if last.start > gap.start => {
                self.partition_point(|other| other.start < gap.start)
            }
            _ => self.len(),
        };
        VecDeque::insert(self, at, gap);
    }

    fn take_first(&mut self) -> Option<Gap> {
        self.pop_front()
    }

    fn len(&self) -> usize {
        VecDeque::len(self)
    }
}

impl Gaps for BTreeMap<Cycles, Cycles> {
    fn take(&mut self, arrival: Cycles, service: Cycles) -> Option<Gap> {
        let before = self.range(..=arrival).next_back();
        let gap = before
            .into_iter()
            .chain(self.range(arrival + 1..))
            .map(|(&start, &end)| Gap { start, end })
            .find(|gap| gap.fits(arrival, service))?;
        self.remove(&gap.start);
        Some(gap)
    }

    fn insert(&mut self, gap: Gap) {
        BTreeMap::insert(self, gap.start, gap.end);
    }

    fn take_first(&mut self) -> Option<Gap> {
        self.pop_first().map(|(start, end)| Gap { start, end })
    }

    fn len(&self) -> usize {
        BTreeMap::len(self)
    }
}

#[derive(Clone, Debug)]
pub(super) struct History<G> {
    shortest: Cycles,
    gaps: G,
    /// Free from here to the end of time.
    tail: Cycles,
    /// Nothing is known of the time before.
    pub(super) known_from: Cycles,
    load: Load,
}

impl<G: Gaps> History<G> {
    fn new(shortest: Cycles) -> Self {
        let shortest = shortest.max(1);
        Self {
            shortest,
            gaps: G::default(),
            tail: 0,
            known_from: 0,
            load: Load::default(),
        }
    }

    fn delay(&mut self, arrival: Cycles, service: Cycles) -> Cycles {
        if service == 0 {
            return 0;
        }
        if arrival + service <= self.known_from {
            return self.load.mean_wait();
        }
        self.load.record(arrival, service);
        let start = if arrival >= self.tail {
            self.keep(self.tail, arrival);
            self.tail = arrival + service;
            arrival
        } else if let Some(gap) = self.gaps.take(arrival, service) {
            let start = gap.start.max(arrival);
            self.keep(gap.start, start);
            self.keep(start + service, gap.end);
            start
        } else {
            let start = self.tail;
            self.tail += service;
            start
        };
        while self.gaps.len() >= INTERVALS {
            if let Some(forgotten) = self.gaps.take_first() {
                self.known_from = forgotten.end;
            }
        }
        start - arrival
    }

    fn keep(&mut self, start: Cycles, end: Cycles) {
        if end - start >= self.shortest {
            self.gaps.insert(Gap { start, end });
        }
    }
}
