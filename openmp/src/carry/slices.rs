//! The length of the turn that a rank (a thread of a team) has on a worker (a kernel thread). Ranks have turns in
//! intervals (the code from one barrier to the next) where they wait for each other by spinning on memory.
//!
//! A rank that spins may wait for another rank that has no worker, and never leaves its own worker by itself. So all
//! ranks of such an interval have turns of equal length. [`Slices`] learns this length for one interval, from the
//! number of turns that ended in waiting.
//!
//! # Turns are unlearned
//!
//! On a busy machine a rank that computes may look like a rank that waits. So a single such look is forgotten if no
//! other follows in the next episodes (runs of the interval). After some episodes in which no rank waits, the interval
//! loses its turns. But some waiting loops are recognised only by repeated looks at a rank's registers, and with turns
//! each rank leaves at the first look. So if ranks are found waiting again, the interval keeps its turns for four times
//! as many episodes.

use super::costs;
use manycore_platform::{Native, Platform};
use std::time::Duration;

/// The length of a turn before any is learned: about twice the cost of a signal that makes a rank leave.
pub(super) const TURN: Duration = Duration::from_micros(40);
/// The shortest and the longest turn.
const TURNS: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(1)];
/// When ranks were found waiting this number of times in an interval, they have turns there.
pub(super) const SPINS: u32 = 2;
/// After this number of episodes in which no rank waits, an interval forgets earlier waits: at first, and at most.
const QUIET: [u32; 2] = [4, 1 << 14];

/// The turns in one interval.
#[derive(Clone, Copy, Default)]
pub(super) struct Slices {
    site: usize,
    quantum: u64,
    spins: u32,
    /// For how many episodes no rank has waited.
    quiet: u32,
    /// The value of `quiet` at which the turns end. 0 stands for the first value of [`QUIET`].
    patience: u32,
}

impl Slices {
    /// The length in ticks of a turn in the interval that begins at `site`, or 0 if there are no turns. An interval
    /// other than the last one starts without turns.
    pub(super) fn of_site(&mut self, site: usize) -> u64 {
        if self.site != site {
            *self = Self {
                site,
                ..Self::default()
            };
        }
        self.quantum
    }

    /// Learns from an episode: ranks were found waiting `spins` times, and `cuts` turns ended.
    pub(super) fn learn(&mut self, spins: u32, cuts: u32) {
        let [least, most] = QUIET;
        self.patience = self.patience.max(least);
        if spins == 0 && self.spins > 0 {
            self.quiet += 1;
            if self.quiet >= self.patience {
                if self.quantum > 0 {
                    self.patience = self.patience.saturating_mul(4).min(most);
                }
                (self.quantum, self.spins, self.quiet) = (0, 0, 0);
            }
        } else {
            self.quiet = 0;
        }
        self.spins = self.spins.saturating_add(spins);
        if self.spins >= SPINS {
            let quantum = match self.quantum {
                quantum if quantum > 0 && spins > 0 => turn(between(quantum, spins, cuts)),
                // No rank was found waiting: ranks compute for long, wait in unknown loops, or do not wait.
                _ => Native::duration_to_ticks(TURN),
            };
            self.quantum = quantum;
        }
    }
}

/// Estimates how long ranks compute before they wait: of `turns` turns of this length, `waiting` ended in waiting. The
/// estimate assumes that a rank is equally likely to begin to wait at any moment: then the rank computes for a whole
/// turn with the chance exp(-turn / time).
fn between(turn: u64, waiting: u32, turns: u32) -> u64 {
    let computing = turns.saturating_sub(waiting);
    let chance = (f64::from(computing) + 0.5) / (f64::from(turns) + 1.0);
    (turn as f64 / -chance.ln()) as u64
}

/// The best length of a turn for ranks that wait after `between` ticks. Longer turns lose more time in waiting: half a
/// turn for each wait. Shorter turns cost more signals. The sum is least at the square root of 2 × the cost of a signal
/// × `between` (Young's rule for the interval between checkpoints).
fn turn(between: u64) -> u64 {
    let [least, most] = TURNS.map(Native::duration_to_ticks);
    let cost = 2 * costs::cut();
    cost.saturating_mul(between).isqrt().clamp(least, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_for_the_interval_where_ranks_spin() {
        let mut turns = Slices::default();
        assert_eq!(turns.of_site(7), 0);
        turns.learn(SPINS - 1, 0);
        assert_eq!(turns.of_site(7), 0);
        turns.learn(1, 0);
        turns.learn(0, 0);
        assert!(turns.of_site(7) > 0);
        // Another interval replaces this one.
        assert_eq!(turns.of_site(8), 0);
    }

    #[test]
    fn turns_without_a_rank_that_waits_are_given_up() {
        let [least, most] = QUIET;
        let mut turns = Slices::default();
        // Two wrong looks, long apart.
        turns.learn(1, 0);
        (0..least).for_each(|_| turns.learn(0, 0));
        turns.learn(1, 0);
        assert_eq!(turns.of_site(0), 0);
        // For how many episodes each wrong look gives the interval turns.
        let mut costs = || {
            turns.learn(SPINS, 0);
            let mut episodes = 0;
            while turns.of_site(0) > 0 {
                turns.learn(0, 50);
                episodes += 1;
            }
            episodes
        };
        assert_eq!([costs(), costs(), costs()], [least, 4 * least, 16 * least]);
        (0..20).for_each(|_| _ = costs());
        assert_eq!(costs(), most);
    }

    #[test]
    fn ranks_that_wait_now_and_then_keep_their_turns() {
        let [least, _] = QUIET;
        let mut turns = Slices::default();
        turns.learn(SPINS, 0);
        for episode in 0..1_000 {
            assert!(turns.of_site(0) > 0);
            turns.learn(u32::from(episode % least == 0), 50);
        }
    }

    #[test]
    fn how_long_ranks_compute_is_found() {
        // If ranks compute for 100 ticks before they wait, 33% of turns of 40 ticks end in waiting.
        assert!((90..110).contains(&between(40, 330, 1_000)));
        assert!((35..45).contains(&between(40, 632, 1_000)));
        // If all turns end in waiting, the time is short. If none does, it is long.
        assert!(between(40, 1_000, 1_000) < 8 && between(40, 0, 1_000) > 10_000);
        assert_eq!(between(40, 3, 2), between(40, 2, 2));
    }

    #[test]
    fn turns_are_longer_where_ranks_compute_for_longer() {
        let ticks = |us: u64| Native::duration_to_ticks(Duration::from_micros(us));
        let [least, most] = TURNS.map(Native::duration_to_ticks);
        assert_eq!(turn(0), least);
        assert_eq!(turn(ticks(10_000_000)), most);
        // The loss by the rule: half a turn of waiting, and the cost of the signals.
        let between = ticks(2_000);
        let loss = |turn: u64| turn / 2 + between / turn * costs::cut();
        let best = turn(between);
        assert!(loss(best) <= loss(best / 2) && loss(best) <= loss(best * 2));
    }
}
