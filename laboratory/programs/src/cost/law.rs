//! The latency of a loop whose threads claim blocks of iterations from a shared counter.
//!
//! With N iterations that take t each, blocks of B iterations, and T threads:
//!
//! ```text
//! latency(B) = max(W + e B t, B t) + N/B c
//!
//! W   the work, shared by threads that arrive one after the other:
//!     the least over k <= T of  N t / k + launch (k - 1) / 2
//! e   the mean wait for the last thread, as a part of a block:
//!     (T - 1) / (T + 1) / 2  +  spread sqrt(2 ln T)
//! c   claim / T  +  (T - 1) / T (handoff (1 - outside) + crossing outside)
//! ```
//!
//! * **W.** Each thread arrives one launch later than the thread before, so k threads together lose
//!   `launch k (k - 1) / 2`. If the loop is shorter than all launches together, it ends before the last thread arrives.
//!   Hence W is the least value for any k.
//! * **e.** When the counter runs out, each thread is somewhere in its last block. If the remainders of T blocks are
//!   uniform, their mean is 1/2, and the mean of the longest is T / (T + 1). On average a thread waits for the
//!   difference. If blocks take different times, the longest of T blocks takes `sqrt(2 ln T)` standard deviations more
//!   than the mean block.
//! * **B t.** One thread always runs a whole block.
//! * **c.** Threads execute their own instructions in parallel. But the counter's line is in one place at a time, and
//!   every thread waits for its transfers. One claim in T finds the line in the cache of its own thread. The other
//!   claims fetch the line from a thread of the same core group or of another.
//!
//! The law rounds neither the last block to a full block, nor the number of blocks to a multiple of T. Threads that
//! start at different times do not take blocks in rounds. The tables of Shuai's paper show no rounds, except for blocks
//! that are larger than a thread's share of the loop.
//!
//! The latency is convex in B. The terms with t grow with B, and the terms with prices (the times of a launch and of a
//! claim) fall. So the best block never grows with t and never shrinks when a price grows.

use super::{Machine, Task, sane};

/// The model's inputs after [`sane`], in the combinations that the law needs.
struct Law {
    iterations: f64,
    iteration: f64,
    shared_work: f64,
    end_wait: f64,
    claim: f64,
}

impl Law {
    fn new(machine: &Machine, task: &Task, n: usize) -> Self {
        let threads = machine.threads.max(1) as f64;
        let iterations = n as f64;
        let iteration = sane(task.iteration_ns);
        let others = (threads - 1.0) / threads;
        let prices = &machine.prices;
        let (handoff, crossing) = (sane(prices.handoff_ns), sane(prices.crossing_ns));
        let outside = sane(machine.outside).min(1.0);
        let moved = handoff + (crossing - handoff).max(0.0) * outside;
        Self {
            iterations,
            iteration,
            shared_work: shared(iterations * iteration, threads, sane(prices.launch_ns)),
            end_wait: iteration
                * ((threads - 1.0) / (threads + 1.0) / 2.0
                    + sane(task.spread) * (2.0 * threads.ln()).sqrt()),
            claim: sane(prices.claim_ns) / threads + moved * others,
        }
    }

    /// The block size that balances the claims and the wait at the end: the minimum of [`excess`](Self::excess),
    /// between 1 and N.
    fn balance(&self) -> f64 {
        let balanced = |slope: f64| (self.iterations * self.claim / slope).sqrt();
        let mut block = balanced(self.end_wait);
        // For blocks of at least this size, the maximum in the formula is `B t`.
        let alone = self.shared_work / (self.iteration - self.end_wait);
        if self.iteration > self.end_wait && block > alone {
            block = balanced(self.iteration).max(alone);
        }
        // 0 / 0, if both claims and iterations take no time.
        if block.is_nan() {
            self.iterations
        } else {
            block
        }
        .clamp(1.0, self.iterations.max(1.0))
    }

    /// The latency for a block size, minus the shared work. The full latency would round away small differences between
    /// blocks.
    fn excess(&self, block: usize) -> f64 {
        let block = block as f64;
        let waits = self.end_wait * block;
        let alone = self.iteration * block - self.shared_work;
        waits.max(alone) + self.iterations / block * self.claim
    }
}

/// The time of `work` on threads that arrive `launch` apart.
fn shared(work: f64, threads: f64, launch: f64) -> f64 {
    let worth_launching = (2.0 * work / launch.max(f64::MIN_POSITIVE)).sqrt();
    let team = worth_launching.clamp(1.0, threads);
    work / team + launch * (team - 1.0) / 2.0
}

/// Predicts the latency of `n` iterations in blocks of `block`, in ns.
///
/// ```
/// use manycore_programs::cost::{Machine, Task, latency};
///
/// let (machine, task) = (Machine::new(8, 1), Task::new(500.0));
/// let tiny = latency(&machine, &task, 4096, 1);
/// let good = latency(&machine, &task, 4096, 16);
/// let serial = latency(&machine, &task, 4096, 4096);
/// assert!(good < tiny && tiny < serial);
/// assert_eq!(latency(&machine, &task, 0, 16), 0.0);
/// ```
#[must_use]
pub fn latency(machine: &Machine, task: &Task, n: usize, block: usize) -> f64 {
    if n == 0 {
        return 0.0;
    }
    let law = Law::new(machine, task, n);
    law.shared_work + law.excess(block.clamp(1, n))
}

/// The block size with the least [`latency`], as a real number.
///
/// It is between 1 and `n`, and 1 for an empty loop.
///
/// ```
/// use manycore_programs::cost::{Machine, Task, balanced_block};
///
/// let machine = Machine::new(8, 1);
/// let short = balanced_block(&machine, &Task::new(500.0), 4096);
/// let long = balanced_block(&machine, &Task::new(2_000.0), 4096);
/// // The square root of four.
/// assert!((short / long - 2.0).abs() < 1e-9);
/// ```
#[must_use]
pub fn balanced_block(machine: &Machine, task: &Task, n: usize) -> f64 {
    Law::new(machine, task, n).balance()
}

/// The power of two, or `n`, that has the least [`latency`] as a block size.
///
/// It is between 1 and `n`, and 1 for an empty loop. It takes a handful of divisions and roots: cheap
/// enough for every loop. Powers of two suffice because the latency is flat around its minimum.
///
/// ```
/// use manycore_programs::cost::{Machine, Task, best_block};
///
/// let machine = Machine::new(8, 1);
/// assert_eq!(best_block(&machine, &Task::new(500.0), 4096), 32);
/// assert_eq!(best_block(&machine, &Task::new(500_000.0), 4096), 1);
/// ```
#[must_use]
pub fn best_block(machine: &Machine, task: &Task, n: usize) -> usize {
    let law = Law::new(machine, task, n);
    // The latency is convex in the block, so the best power of two is next to the balance.
    let balance = law.balance() as usize;
    let below = 1_usize << balance.max(1).ilog2();
    let above = below.saturating_mul(2).clamp(1, n.max(1));
    let below = below.min(above);
    if law.excess(above) <= law.excess(below) {
        above
    } else {
        below
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Prices;
    use proptest::prelude::*;

    fn machines() -> impl Strategy<Value = Machine> {
        (
            1_usize..1 << 12,
            0.0..1.0,
            0.0..1e3,
            0.0..1e3,
            0.0..1e4,
            0.0..1e5,
        )
            .prop_map(
                |(threads, outside, claim_ns, handoff_ns, crossing_ns, launch_ns)| Machine {
                    threads,
                    outside,
                    prices: Prices {
                        claim_ns,
                        handoff_ns,
                        crossing_ns,
                        launch_ns,
                    },
                },
            )
    }

    fn tasks() -> impl Strategy<Value = Task> {
        (-1.0..9.0, 0.0..3.0).prop_map(|(exponent, spread)| Task {
            iteration_ns: 10_f64.powf(exponent),
            spread,
        })
    }

    proptest! {
        #[test]
        fn a_block_is_within_the_loop(machine in machines(), task in tasks(), n: usize) {
            let block = best_block(&machine, &task, n);
            prop_assert!((1..=n.max(1)).contains(&block));
            prop_assert!(block == n || block.is_power_of_two());
        }

        #[test]
        fn no_other_power_of_two_is_better(
            machine in machines(), task in tasks(), n in 1_usize..1 << 40, shift in 0..40_u32,
        ) {
            let best = latency(&machine, &task, n, best_block(&machine, &task, n));
            let other = latency(&machine, &task, n, (1_usize << shift).min(n));
            prop_assert!(best <= other * (1.0 + 1e-12));
        }

        #[test]
        fn longer_iterations_never_get_a_larger_block(
            machine in machines(), task in tasks(), n in 1_usize..1 << 40, factor in 1.001_f64..1e3,
        ) {
            let longer = Task { iteration_ns: task.iteration_ns * factor, ..task };
            prop_assert!(best_block(&machine, &longer, n) <= best_block(&machine, &task, n));
        }

        #[test]
        fn uneven_iterations_never_get_a_larger_block(
            machine in machines(), task in tasks(), n in 1_usize..1 << 40, more in 0.001..3.0,
        ) {
            let uneven = Task { spread: task.spread + more, ..task };
            prop_assert!(best_block(&machine, &uneven, n) <= best_block(&machine, &task, n));
        }

        #[test]
        fn dearer_claims_never_get_a_smaller_block(
            machine in machines(), task in tasks(), n in 1_usize..1 << 40,
            which in 0..4, factor in 1.001_f64..1e3,
        ) {
            let mut dearer = machine;
            match which {
                0 => dearer.prices.claim_ns *= factor,
                1 => dearer.prices.handoff_ns *= factor,
                2 => dearer.prices.crossing_ns *= factor,
                _ => dearer.outside = (dearer.outside * factor).min(1.0),
            }
            prop_assert!(best_block(&dearer, &task, n) >= best_block(&machine, &task, n));
        }

        #[test]
        fn more_core_groups_never_get_a_smaller_block(
            threads in 1_usize..1 << 12, groups in 1_usize..64, task in tasks(), n: usize,
        ) {
            let few = best_block(&Machine::new(threads, groups), &task, n);
            prop_assert!(best_block(&Machine::new(threads, groups + 1), &task, n) >= few);
        }

        #[test]
        fn any_input_gives_a_number(
            threads: usize, prices: [f64; 5], iteration_ns: f64, spread: f64, n: usize, block: usize,
        ) {
            let [outside, claim_ns, handoff_ns, crossing_ns, launch_ns] = prices;
            let prices = Prices { claim_ns, handoff_ns, crossing_ns, launch_ns };
            let machine = Machine { threads, outside, prices };
            let task = Task { iteration_ns, spread };
            prop_assert!(latency(&machine, &task, n, block).is_finite());
            prop_assert!((1..=n.max(1)).contains(&best_block(&machine, &task, n)));
        }
    }

    #[test]
    fn the_corners() {
        let strange = [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -1.0,
            0.0,
            f64::MAX,
        ];
        for value in strange {
            let machine = Machine {
                threads: 0,
                outside: value,
                prices: Prices {
                    claim_ns: value,
                    handoff_ns: value,
                    crossing_ns: value,
                    launch_ns: value,
                },
            };
            let task = Task {
                iteration_ns: value,
                spread: value,
            };
            for n in [0, 1, 2, usize::MAX] {
                let block = best_block(&machine, &task, n);
                assert!((1..=n.max(1)).contains(&block), "{value} {n}");
                for block in [0, 1, usize::MAX] {
                    assert!(
                        latency(&machine, &task, n, block).is_finite(),
                        "{value} {n}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_crossing_costs_the_share_of_claims_that_cross() {
        let prices = Prices {
            claim_ns: 0.0,
            handoff_ns: 40.0,
            crossing_ns: 100.0,
            launch_ns: 0.0,
        };
        let claim = |outside, prices| {
            let machine = Machine {
                threads: 2,
                outside,
                prices,
            };
            Law::new(&machine, &Task::new(1.0), 1).claim
        };
        // Every second claim finds the line in the cache of its own thread.
        assert_eq!(claim(0.0, prices), 20.0);
        assert_eq!(claim(0.5, prices), 35.0);
        let odd = Prices {
            crossing_ns: 0.0,
            ..prices
        };
        assert_eq!(claim(0.5, odd), 20.0);
    }

    #[test]
    fn one_thread_takes_everything_at_once() {
        let (machine, task) = (Machine::new(1, 1), Task::new(100.0));
        assert_eq!(best_block(&machine, &task, 1_000), 1_000);
        assert_eq!(
            latency(&machine, &task, 1_000, 1_000),
            100_000.0 + machine.prices.claim_ns
        );
    }

    #[test]
    fn a_loop_shorter_than_its_launches_needs_few_threads() {
        // 10 us of work and launches 5 us apart are worth two threads, not 64.
        assert_eq!(shared(10_000.0, 64.0, 5_000.0), 7_500.0);
        assert_eq!(shared(10_000.0, 64.0, 0.0), 10_000.0 / 64.0);
        assert_eq!(shared(0.0, 64.0, 5_000.0), 0.0);
    }
}
