//! The thesis's first program: a loop of waits (Park 2013, section 6.1.1). If the episodes (waits of the whole team)
//! are far apart, each shows the cost of a single episode.

use super::program::Spmd;
use crate::study::trial::pass_until;
use manycore_platform::Platform;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;

/// When members arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::study) enum Arrivals {
    /// As soon as they have left the previous episode.
    Loop,
    /// As soon as they have left the previous episode and computed for this many cycles.
    After(u64),
    /// All members at one time, long after the previous episode.
    Together,
    /// One after the other, each when the barrier has handled the arrival before.
    Apart,
}

impl Arrivals {
    pub(in crate::study) fn name(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::After(_) => "after",
            Self::Together => "together",
            Self::Apart => "apart",
        }
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loop => "in a loop",
            Self::After(cycles) => return write!(f, "{cycles} cycles apart in a loop"),
            Self::Together => "together",
            Self::Apart => "apart",
        })
    }
}

/// Cycles between two members that arrive apart. The slowest barrier handles an arrival in a few hundred cycles.
const APART: u64 = 2_000;

/// Cycles between single episodes, longer than the slowest episode: `REST`, and `REST_OF_EACH` for each member.
const REST: u64 = 1_000_000;
const REST_OF_EACH: u64 = 4_000;

pub(super) struct BarrierLoop<P> {
    episodes: usize,
    arrivals: Arrivals,
    ranks: usize,
    cpi: f64,
    /// When the first rank (member) began: the origin of all arrival times.
    begin: OnceLock<u64>,
    platform: PhantomData<fn() -> P>,
}

impl<P: Platform> BarrierLoop<P> {
    pub(super) fn new(episodes: usize, arrivals: Arrivals, ranks: usize, cpi: f64) -> Self {
        Self {
            episodes,
            arrivals,
            ranks,
            cpi,
            begin: OnceLock::new(),
            platform: PhantomData,
        }
    }

    /// The time at which `rank` (a member) must arrive at an episode. 0 means at once.
    fn arrival(&self, begin: u64, episode: usize, rank: usize) -> u64 {
        let period = REST + (REST_OF_EACH + APART) * self.ranks as u64;
        let delay = match self.arrivals {
            Arrivals::Loop | Arrivals::After(_) => return 0,
            Arrivals::Together => 0,
            Arrivals::Apart => APART * rank as u64,
        };
        begin + period * (episode as u64 + 1) + delay
    }
}

impl<P: Platform> Spmd for BarrierLoop<P> {
    fn run(&self, rank: usize, wait: &mut dyn FnMut()) {
        let begin = *self.begin.get_or_init(P::now);
        for episode in 0..self.episodes {
            pass_until::<P>(self.arrival(begin, episode, rank), self.cpi);
            if let Arrivals::After(cycles) = self.arrivals {
                pass_until::<P>(P::now() + cycles, self.cpi);
            }
            wait();
        }
    }

    fn answer(&self) -> anyhow::Result<Option<String>> {
        Ok(None)
    }
}
