//! The times that a team's members note, and their results.

use crate::measure::statistics::Spread;
use anyhow::bail;

/// One member's times, in ticks.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    pub(super) begin: u64,
    pub(super) end: u64,
    /// Arrival and departure of each episode (wait of the team).
    pub(super) waits: Vec<(u64, u64)>,
}

/// The results of a team's times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Course {
    pub(super) total: f64,
    pub(super) episodes: usize,
    pub(super) exit: Spread,
}

impl Course {
    /// Computes the results. Fails if there is no episode, or if members differ in their number of episodes.
    pub(super) fn of(logs: &[Log]) -> anyhow::Result<Self> {
        let episodes = logs[0].waits.len();
        if episodes == 0 || logs.iter().any(|log| log.waits.len() != episodes) {
            bail!("the members did not wait at the barrier equally often, or not at all");
        }
        let last = |of: &dyn Fn(&Log) -> u64| logs.iter().map(of).max().unwrap_or(0);
        let mut exits = Vec::with_capacity(episodes);
        for episode in 0..episodes {
            let entered = last(&|log| log.waits[episode].0);
            // On this host the clocks of two cores may differ by some ticks.
            let left = last(&|log| log.waits[episode].1);
            exits.push(left.saturating_sub(entered) as f64);
        }
        Ok(Self {
            total: (last(&|log| log.end) - last(&|log| log.begin)) as f64,
            episodes,
            exit: Spread::of(&exits),
        })
    }

    /// Checks that no member left an episode before all had arrived. Only simulated clocks are
    /// exact enough for this.
    pub(super) fn audit(logs: &[Log]) -> anyhow::Result<()> {
        let episodes = logs.iter().map(|log| log.waits.len()).min().unwrap_or(0);
        for episode in 0..episodes {
            let last_in = logs.iter().map(|log| log.waits[episode].0).max();
            let first_out = logs.iter().map(|log| log.waits[episode].1).min();
            if first_out < last_in {
                bail!("a member left episode {episode} before all had arrived");
            }
        }
        Ok(())
    }

    pub(super) fn scaled(self, factor: f64) -> Self {
        Self {
            total: self.total * factor,
            exit: self.exit.map(|exit| exit * factor),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(begin: u64, waits: &[(u64, u64)], end: u64) -> Log {
        Log {
            begin,
            end,
            waits: waits.to_vec(),
        }
    }

    #[test]
    fn exit_latency_is_from_the_last_in_to_the_last_out() {
        let logs = [
            log(0, &[(10, 30), (40, 75)], 80),
            log(4, &[(20, 35), (50, 70)], 90),
        ];
        let course = Course::of(&logs).unwrap();
        assert_eq!((course.total, course.episodes), (86.0, 2));
        assert_eq!(course.exit.median, 20.0);
        let halved = course.scaled(0.5);
        assert_eq!((halved.total, halved.exit.median), (43.0, 10.0));
    }

    #[test]
    fn a_barrier_that_lets_a_thread_pass_is_caught() {
        let early = [log(0, &[(10, 15)], 20), log(0, &[(16, 20)], 20)];
        let error = Course::audit(&early).unwrap_err().to_string();
        assert!(error.contains("episode 0"), "{error}");
        let uneven = [log(0, &[(1, 2)], 3), log(0, &[], 3)];
        assert!(Course::of(&uneven).is_err());
    }
}
