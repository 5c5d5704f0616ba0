use std::collections::{BTreeMap, VecDeque};

use super::load::Load;
use super::{Cycles, QueueModel};

/// The most free intervals that are kept, including the interval without an end.
const INTERVALS: usize = 100;

/// A queue that keeps its free intervals in a sorted list.
///
/// A message takes the first free interval that is long enough for its service. Intervals shorter than the shortest
/// service are dropped. If there are more than 100 intervals, the earliest is dropped. A message that arrives before
/// the kept intervals waits for the mean time of an M/G/1 queue under the recent load. The list is fast if calls are
/// nearly in the order of arrival.
#[derive(Clone, Debug)]
pub struct HistoryList(pub(super) History<VecDeque<Gap>>);

/// Like [`HistoryList`], with a balanced tree. In any order of messages, a search takes logarithmic time plus a step
/// for each interval that is too short.
#[derive(Clone, Debug)]
pub struct HistoryTree(pub(super) History<BTreeMap<Cycles, Cycles>>);

impl HistoryList {
    /// A free queue for services of at least `shortest` cycles.
    pub fn new(shortest: Cycles) -> Self {
        Self(History::new(shortest))
    }
}

impl HistoryTree {
    /// A free queue for services of at least `shortest` cycles.
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

/// A free interval with an end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    start: Cycles,
    end: Cycles,
}

impl Gap {
    fn len(self) -> Cycles {
        self.end - self.start
    }

    fn fits(self, arrival: Cycles, service: Cycles) -> bool {
        self.start.max(arrival) + service <= self.end
    }

    /// The gaps that remain before and after a service in this gap.
    fn split(self, arrival: Cycles, service: Cycles) -> (Gap, Gap) {
        let start = self.start.max(arrival);
        (
            Gap { end: start, ..self },
            Gap {
                start: start + service,
                ..self
            },
        )
    }
}

pub(super) trait Gaps: Default {
    /// Serves a message in the first gap with room for the service at or after `arrival`. Keeps the remaining parts of
    /// the gap that are not shorter than `shortest`. Returns the start of the service.
    fn serve(&mut self, arrival: Cycles, service: Cycles, shortest: Cycles) -> Option<Cycles>;
    fn push_last(&mut self, gap: Gap);
    fn pop_first(&mut self) -> Option<Gap>;
    fn len(&self) -> usize;
}

impl Gaps for VecDeque<Gap> {
    fn serve(&mut self, arrival: Cycles, service: Cycles, shortest: Cycles) -> Option<Cycles> {
        // The search begins at the back, since messages come nearly in order.
        let late = self
            .iter()
            .rev()
            .take_while(|gap| gap.end >= arrival + service)
            .count();
        let from = self.len() - late;
        let at = from
            + self
                .range(from..)
                .position(|gap| gap.fits(arrival, service))?;
        let (left, right) = self[at].split(arrival, service);
        match (left.len() >= shortest, right.len() >= shortest) {
            (true, true) => {
                self[at] = left;
                self.insert(at + 1, right);
            }
            (true, false) => self[at] = left,
            (false, true) => self[at] = right,
            (false, false) => {
                self.remove(at);
            }
        }
        Some(left.end)
    }

    fn push_last(&mut self, gap: Gap) {
        self.push_back(gap);
    }

    fn pop_first(&mut self) -> Option<Gap> {
        self.pop_front()
    }

    fn len(&self) -> usize {
        VecDeque::len(self)
    }
}

impl Gaps for BTreeMap<Cycles, Cycles> {
    fn serve(&mut self, arrival: Cycles, service: Cycles, shortest: Cycles) -> Option<Cycles> {
        let before = self.range(..=arrival).next_back();
        let gap = before
            .into_iter()
            .chain(self.range(arrival + 1..))
            .map(|(&start, &end)| Gap { start, end })
            .find(|gap| gap.fits(arrival, service))?;
        self.remove(&gap.start);
        let (left, right) = gap.split(arrival, service);
        let kept = [left, right]
            .into_iter()
            .filter(|gap| gap.len() >= shortest);
        self.extend(kept.map(|gap| (gap.start, gap.end)));
        Some(left.end)
    }

    fn push_last(&mut self, gap: Gap) {
        self.insert(gap.start, gap.end);
    }

    fn pop_first(&mut self) -> Option<Gap> {
        BTreeMap::pop_first(self).map(|(start, end)| Gap { start, end })
    }

    fn len(&self) -> usize {
        BTreeMap::len(self)
    }
}

#[derive(Clone, Debug)]
pub(super) struct History<G> {
    shortest: Cycles,
    gaps: G,
    /// The queue is free from this time on.
    tail: Cycles,
    /// The free intervals before this time are not known.
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
        let served = match arrival < self.tail {
            true => self.gaps.serve(arrival, service, self.shortest),
            false => None,
        };
        let start = served.unwrap_or_else(|| {
            let start = self.tail.max(arrival);
            let gap = Gap {
                start: self.tail,
                end: start,
            };
            if gap.len() >= self.shortest {
                self.gaps.push_last(gap);
            }
            self.tail = start + service;
            start
        });
        if self.gaps.len() >= INTERVALS
            && let Some(forgotten) = self.gaps.pop_first()
        {
            self.known_from = forgotten.end;
        }
        start - arrival
    }
}
