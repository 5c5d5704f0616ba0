//! The cost of a parallel loop over one shared counter, and the best block size, as pure functions of a
//! measured machine and a measured task.
//!
//! ```
//! use manycore_programs::cost::{self, Machine, Task};
//!
//! let one_socket = Machine::new(24, 1);
//! let two_sockets = Machine::new(48, 2);
//! let task = Task::new(800.0);
//! // A counter that crosses sockets is worth fewer, longer blocks.
//! let block = |machine| cost::balanced_block(machine, &task, 4096);
//! assert!(block(&two_sockets) > 1.2 * block(&one_socket));
//! ```
//!
//! Times are in nanoseconds. Every function accepts all arguments: zero threads count as one thread, and a negative
//! time or NaN counts as zero. So results are finite for any measurement.
//!
//! Two models:
//!
//! * [`latency`] and [`best_block`] derive the latency from the steps of a loop. `fixed-block` without a
//!   size uses them.
//! * [`published`] is the formula, with trained weights, from *Influence of atomic FAA on ParallelFor* (R. Shuai,
//!   2021).
//!
//! `laboratory/lab/src/model/README.md` compares both with measurements by others.

mod law;
pub mod published;

pub use law::{balanced_block, best_block, latency};

/// A machine's prices (times) for the steps of a loop. `manycore machine`, the laboratory's command, measures all of
/// them.
///
/// ```
/// use manycore_programs::cost::Prices;
///
/// // Measured here, the rest as on most machines.
/// let prices = Prices { handoff_ns: 24.0, ..Prices::default() };
/// assert!(prices.crossing_ns > prices.handoff_ns);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// The time of a claim (taking the next block) if no other thread wants the counter: the fetch-and-add and the loop
    /// around it.
    pub claim_ns: f64,
    /// The time of a fetch-and-add on a cache line that another core of the same core group (cores with a common
    /// last-level cache) has written.
    pub handoff_ns: f64,
    /// The same time if the other core is in another group. A value below `handoff_ns` counts as `handoff_ns`.
    pub crossing_ns: f64,
    /// The time between the arrivals of one thread and the next.
    pub launch_ns: f64,
}

impl Default for Prices {
    /// The prices of an unmeasured machine of 2 to 4 GHz. Its workers are awake when the loop begins.
    fn default() -> Self {
        Self::TYPICAL
    }
}

impl Prices {
    const TYPICAL: Self = Self {
        claim_ns: 10.0,
        handoff_ns: 60.0,
        crossing_ns: 140.0,
        launch_ns: 400.0,
    };
}

/// The team that runs a loop, and the prices of its machine.
///
/// ```
/// use manycore_programs::cost::{Machine, Prices};
///
/// let prices = Prices { claim_ns: 20.0, ..Prices::default() };
/// let machine = Machine { prices, ..Machine::new(2, 1) };
/// assert_eq!(machine.threads, 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// The number of threads that take part, including the launching thread.
    pub threads: usize,
    /// The fraction of the threads outside the launching thread's core group.
    pub outside: f64,
    /// The prices of the loop's steps.
    pub prices: Prices,
}

impl Machine {
    /// A team that is spread evenly over `core_groups` groups, with the prices of [`Prices::default`].
    ///
    /// ```
    /// let machine = manycore_programs::cost::Machine::new(32, 8);
    /// assert_eq!(machine.outside, 7.0 / 8.0);
    /// ```
    #[must_use]
    pub const fn new(threads: usize, core_groups: usize) -> Self {
        let outside = if core_groups > 1 {
            1.0 - 1.0 / core_groups as f64
        } else {
            0.0
        };
        Self {
            threads,
            outside,
            prices: Prices::TYPICAL,
        }
    }
}

/// The cost of a loop's body.
///
/// ```
/// use manycore_programs::cost::Task;
///
/// let even = Task::new(100.0);
/// let uneven = Task { spread: 0.5, ..even };
/// assert_eq!(uneven.iteration_ns, 100.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// The mean time of an iteration.
    pub iteration_ns: f64,
    /// Standard deviation of a block's time, divided by its mean. If the times of iterations are independent, this
    /// value falls as blocks grow. Several long iterations in a row cost more than the independent model says, so our
    /// model uses the same value for all block sizes.
    pub spread: f64,
}

impl Task {
    /// A task with equal times for all iterations.
    ///
    /// ```
    /// assert_eq!(manycore_programs::cost::Task::new(5.0).spread, 0.0);
    /// ```
    #[must_use]
    pub const fn new(iteration_ns: f64) -> Self {
        Self {
            iteration_ns,
            spread: 0.0,
        }
    }
}

/// Limits a quantity to a range from zero to a bound far beyond real values. In this range no product of a few
/// quantities overflows.
fn sane(value: f64) -> f64 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(0.0, 1e18)
    }
}
