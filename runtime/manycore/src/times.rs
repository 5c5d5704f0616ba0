//! The pool's time constants in one table, each with its reason.
//!
//! If the pool can measure a time, the constant is only a first guess. The other constants are ratios of such times,
//! or properties of operating systems.
//!
//! | constant | value | reason |
//! |---|---|---|
//! | [`POST_NS`] | 1 us | twice the cost of a post, of a spinning worker's arrival and of the wait for that worker. This cost is 0.4 to 0.5 us on every x86-64 and Arm machine at hand and on every preset. A second thread saves at most half of such a loop |
//! | [`LAUNCH_NS`] | 100 ns | measured once: the part of a post before its clock starts |
//! | [`CHECK_NS`] | 400 ns | 16 reads of a clock, 25 ns each: the reads cost 6% at most |
//! | [`LEAST_NS`] | 0.02 ns | bytes in vector registers; a loop of at most 20,000 iterations may run unchecked |
//! | [`LONG_CHECK_NS`] | 2 us | the same for loops with [`LONG_SLACK_NS`], whose predictions may be five times as long |
//! | [`SLACK_NS`] | 3 us | three posts: a loop that exceeds its prediction by this much is posted |
//! | [`LONG_SLACK_NS`] | 20 us | a part of a wake-up, [`WAKE_NS`]: the rest of a loop that gains nothing from sharing, or only with a wake-up, is not shared at once |
//! | [`MAX_BLOCK_NS`] | 16 us | 300 times the cost of a claim, 50 ns: claims cost 0.3% |
//! | [`CHOSEN_NS`] | 100 us | two wake-ups: longer work is always offered to idle threads |
//! | [`WAKE_NS`] | 50 us | a guess; measured at each wake-up |
//! | [`LATENESS_NS`] | 30 us | a guess; measured at each timed sleep |
//! | [`CLOSING_NS`] | 100 ns | a guess, a transfer of a line; measured at each loop of several clusters |
//! | [`SPIN_BUDGET`] | 60 us | the cost of falling asleep and being woken: spinning in vain at most doubles the price of a gap between loops (ski rental) |
//! | [`BLOCKING_SPIN`] | 10 us | the cost of a caller's falling asleep |
//! | [`FIRST_SLICE`] | 250 ns | the length of a search among few workers |
//! | [`LONGEST_SLICE`] | 4 us | a spinning worker finds a job at most this much later |
//! | [`WATCH_FIRST_NAP`] | 200 us | four wake-ups, [`WAKE_NS`]: the watchdog costs at most a quarter of a core, and half as much after each nap |
//! | [`WATCH_LONGEST_NAP`] | 2 ms | when all awake workers block, a job is seen at most this much later |
//! | [`LONGEST_LEFT`] | 10 ms | a few time slices of the system, 3 to 4 ms each |
//! | [`IN_VAIN`] | 50 ms | 25 of the longest naps |
//! | [`PROBE`] | 20 us | several switches of threads, 2 us each |
//! | [`AT_ONCE`] | 8 us | four switches of threads: if a core is given back later, another thread has run |
//! | [`SLICE`] | 500 us | less than the shortest time slice of the systems (Linux: 0.75 ms), more than an interrupt |
//! | [`LATELY`] | 50 ms | a dozen time slices: two late returns within it are no coincidence |
//! | [`FIRST_PAUSE`] | 5 ms | a little more than a time slice |
//! | [`LONGEST_PAUSE`] | 640 ms | the first pause, doubled seven times |
//! | [`FIRST_NAP`] | 50 us | a wake-up |
//! | [`LONGEST_NAP`] | 2 ms | as for the watchdog |
//! | [`MONITOR_TICK`] | 2 ms | as above; 500 wake-ups a second, 0.2% of a core |
//! | [`MONITOR_STAYS`] | 500 ticks | a second: a monitor is started at most this often, for 50 us |
//! | [`QUIET_LOOK`] | 200 us | four wake-ups: a look at a pool that is about to end |
//! | [`REFUSED`] | 10 ms | a few time slices: until then another thread may have ended |

use std::time::Duration;

/// Work of less than this, in ns, is not worth posting even to a spinning worker: the post, the worker's arrival and
/// the wait for the worker cost some 0.4 us.
pub(crate) const POST_NS: f32 = 1_000.0;
/// The cost of a post before its clock starts, in ns.
pub(crate) const LAUNCH_NS: f32 = 100.0;

/// The time between two looks at the clock in a loop that is predicted to be short, in ns.
pub(crate) const CHECK_NS: f32 = 400.0;
/// The least time of an iteration, in ns. An iteration that was measured to be shorter was skipped.
pub(crate) const LEAST_NS: f32 = 0.02;
/// As [`CHECK_NS`], for a loop with [`LONG_SLACK_NS`].
pub(crate) const LONG_CHECK_NS: f32 = 2_000.0;
/// The time by which a loop may exceed its prediction, in ns, for cache misses and an interrupt.
pub(crate) const SLACK_NS: f32 = 3.0 * POST_NS;
/// As [`SLACK_NS`], for loops that gain nothing from sharing, or for which sharing would cost a wake-up.
pub(crate) const LONG_SLACK_NS: f32 = 20_000.0;

/// The longest block, in ns. Thieves cannot take a part of a block, but a loop with blocks this long is much longer
/// than a block. Claims every 16 us cost 0.3%.
pub(crate) const MAX_BLOCK_NS: f32 = 16_000.0;
/// Work up to this, in ns, may stay with the caller if sharing does not gain. Longer work is always posted, since its
/// iterations may block. A loop with this much work also invites more clusters than it has iterations for, since some
/// clusters may be busy.
pub(crate) const CHOSEN_NS: f32 = 2.0 * WAKE_NS as f32;

/// The time from the call that rouses a sleeper to the sleeper's first instruction, in ns. This constant and the next
/// two are first guesses, used until there are measurements.
pub(crate) const WAKE_NS: u64 = 50_000;
/// The time from the end of a timed sleep to the first instruction.
pub(crate) const LATENESS_NS: u64 = 30_000;
/// The cost of one more cluster to the caller that closes a loop's gates.
pub(crate) const CLOSING_NS: u64 = 100;

/// The longest time that a worker spins for the next loop, unless the builder sets another time. It is about the cost
/// of falling asleep and being woken, so spinning in vain at most doubles the price of a gap.
pub(crate) const SPIN_BUDGET: Duration = Duration::from_micros(60);
/// How long a caller from outside spins for a call that other threads run, before it sleeps.
pub(crate) const BLOCKING_SPIN: Duration = Duration::from_micros(10);
/// The time between the first two searches of a spinning worker. It doubles after each search, up to
/// [`LONGEST_SLICE`].
pub(crate) const FIRST_SLICE: Duration = Duration::from_nanos(250);
pub(crate) const LONGEST_SLICE: Duration = Duration::from_micros(4);

/// The watchdog's first nap if threads outnumber cores: a small multiple of the time to wake a worker.
pub(crate) const WATCH_FIRST_NAP: Duration = Duration::from_micros(200);
/// The watchdog's longest nap. When all awake workers block, a job is seen at most this much later.
pub(crate) const WATCH_LONGEST_NAP: Duration = Duration::from_millis(2);
/// How long a job may be left to awake workers that keep all cores busy: the workers may be spinning for the job.
pub(crate) const LONGEST_LEFT: Duration = Duration::from_millis(10);
/// The watchdog ends its watch when no job was left during naps of this length in sum.
pub(crate) const IN_VAIN: Duration = Duration::from_millis(50);
/// A core counts as idle if a thread that yields it repeatedly for this time always gets it back at once.
pub(crate) const PROBE: Duration = Duration::from_micros(20);
/// If the core comes back later than this, another thread has run.
pub(crate) const AT_ONCE: Duration = Duration::from_micros(8);

/// A thread that runs again later than this has waited for another process's time slice.
pub(crate) const SLICE: Duration = Duration::from_micros(500);
/// Two such late runs within this time show that another process wants the core.
pub(crate) const LATELY: Duration = Duration::from_millis(50);
/// After the first such pair of late runs, no thread spins or yields for this time.
pub(crate) const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// The longest time for which no thread spins or yields.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_millis(640);

/// The first and the longest nap of a worker that keeps its permit while it waits.
pub(crate) const FIRST_NAP: Duration = Duration::from_micros(50);
pub(crate) const LONGEST_NAP: Duration = Duration::from_millis(2);
/// The time between two looks of a pool's monitor.
pub(crate) const MONITOR_TICK: Duration = Duration::from_millis(2);
/// The monitor ends after this number of ticks without a loop to look after.
pub(crate) const MONITOR_STAYS: u32 = 500;
/// The time between two looks at a pool that is about to end but still has work.
pub(crate) const QUIET_LOOK: Duration = Duration::from_micros(200);
/// If the system has refused a thread, the pool asks for no thread for this time.
pub(crate) const REFUSED: Duration = Duration::from_millis(10);
