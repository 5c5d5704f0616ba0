use super::{Cycles, QueueModel};

/// Arrivals over which [`Basic::smoothed`] takes the mean.
const WINDOW: usize = 64;

/// A queue that knows only when it will be free: every message goes to the
/// end, also one that arrived long before.
#[derive(Clone, Debug, Default)]
pub struct Basic {
    free_at: Cycles,
    arrivals: Option<MovingMean>,
}

impl Basic {
    /// A free queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// A free queue that replaces an arrival time by the mean of the last 64,
    /// so that one message far out of order does not wait for all of them.
    pub fn smoothed() -> Self {
        Self {
            free_at: 0,
            arrivals: Some(MovingMean::default()),
        }
    }
}

impl QueueModel for Basic {
    fn delay(&mut self, arrival: Cycles, service: Cycles) -> Cycles {
        let arrival = match &mut self.arrivals {
            Some(mean) => mean.with(arrival),
            None => arrival,
        };
        let start = self.free_at.max(arrival);
        self.free_at = start + service;
        start - arrival
    }
}

#[derive(Clone, Debug)]
struct MovingMean {
    samples: [Cycles; WINDOW],
    seen: usize,
    sum: Cycles,
}

impl Default for MovingMean {
    fn default() -> Self {
        Self {
            samples: [0; WINDOW],
            seen: 0,
            sum: 0,
        }
    }
}

impl MovingMean {
    fn with(&mut self, sample: Cycles) -> Cycles {
        let oldest = &mut self.samples[self.seen % WINDOW];
        self.sum = self.sum - *oldest + sample;
        *oldest = sample;
        self.seen += 1;
        self.sum / self.seen.min(WINDOW) as Cycles
    }
}
