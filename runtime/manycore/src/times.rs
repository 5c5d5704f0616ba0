//! The times that the pool is built on: each constant in one table, with what it follows from.
//!
//! If the pool can measure a time, the constant is only a first guess. The others are ratios of such times, or
//! properties of operating systems.
//!
//! | constant | value | what it follows from |
//! |---|---|---|
//! | [`POST_NS`] | 1 us | twice what a post, a spinning worker's arrival and the wait for it cost, 0.4 to 0.5 us on every x86-64 and Arm machine at hand and every preset: half of such a loop is the most that a second thread could save |
//! | [`LAUNCH_NS`] | 100 ns | measured once: what a post does before its clock starts |
//! | [`CHECK_NS`] | 400 ns | 16 reads of a clock, of some 25 ns: looking costs 6% at most |
//! | [`LONG_CHECK_NS`] | 2 us | the same for loops whose prediction may be five times as long |
//! | [`SLACK_NS`] | 3 us | three posts: by so much a loop may be longer than predicted before it is posted |
//! | [`LONG_SLACK_NS`] | 20 us | a part of a wake-up, [`WAKE_NS`]: the rest of such a loop is not shared at once |
//! | [`MAX_BLOCK_NS`] | 16 us | 300 claims of 50 ns: claims cost 0.3% then |
//! | [`CHOSEN_NS`] | 100 us | two wake-ups: longer work is always offered to idle threads |
//! | [`WAKE_NS`] | 50 us | a guess; measured at each wake-up |
//! | [`LATENESS_NS`] | 30 us | a guess; measured at each timed sleep |
//! | [`CLOSING_NS`] | 100 ns | a guess, a transfer of a line; measured at each loop of several clusters |
//! | [`SPIN_BUDGET`] | 60 us | a wake-up, and falling asleep: spinning in vain doubles the price of a gap at most (ski rental) |
//! | [`BLOCKING_SPIN`] | 10 us | what a caller's falling asleep costs |
//! | [`FIRST_SLICE`] | 250 ns | a search among few workers: as long between two searches as in one |
//! | [`LONGEST_SLICE`] | 4 us | so late a spinning worker finds a job at most |
//! | [`WATCH_FIRST_NAP`] | 200 us | four wake-ups, [`WAKE_NS`]: the watchdog's cost is a quarter of a core at most, and halves with each nap |
//! | [`WATCH_LONGEST_NAP`] | 2 ms | so late a job is seen when all workers that are awake block |
//! | [`LONGEST_LEFT`] | 10 ms | a few time slices of the system, 3 to 4 ms |
//! | [`IN_VAIN`] | 50 ms | 25 of the longest naps |
//! | [`PROBE`] | 20 us | several switches of threads, of 2 us |
//! | [`AT_ONCE`] | 8 us | four switches of threads: a core given back later has run another thread |
//! | [`SLICE`] | 500 us | below the shortest time slice of the systems (Linux: 0.75 ms), above an interrupt |
//! | [`LATELY`] | 50 ms | a dozen time slices: two within it are no chance |
//! | [`FIRST_PAUSE`] | 5 ms | a time slice and more |
//! | [`LONGEST_PAUSE`] | 640 ms | the first, doubled seven times |
//! | [`FIRST_NAP`] | 50 us | a wake-up |
//! | [`LONGEST_NAP`] | 2 ms | as late as the watchdog is |
//! | [`MONITOR_TICK`] | 2 ms | so late as a job is seen when all workers that are awake block; 500 wake-ups a second, 0.2% of a core |
//! | [`MONITOR_STAYS`] | 500 ticks | a thread is started every second at most: 50 us |
//! | [`QUIET_LOOK`] | 200 us | four wake-ups: a look at a pool that is about to end |
//! | [`REFUSED`] | 10 ms | a few time slices: until then another thread may have ended |

use std::time::Duration;

/// Work below this, in ns, is not worth posting even to a spinning worker: the
/// post, the worker's arrival and the wait for it cost some 0.4 us.
pub(crate) const POST_NS: f32 = 1_000.0;
/// The cost of a post before its clock starts, in ns.
pub(crate) const LAUNCH_NS: f32 = 100.0;

/// Time between two looks at the clock in a loop that is predicted to be short, in ns.
pub(crate) const CHECK_NS: f32 = 400.0;
/// The same for a loop with [`LONG_SLACK_NS`].
pub(crate) const LONG_CHECK_NS: f32 = 2_000.0;
/// The time that a loop may take beyond its prediction, in ns, for cache misses and an interrupt.
pub(crate) const SLACK_NS: f32 = 3.0 * POST_NS;
/// The same if sharing does not gain, or would cost a wake-up.
pub(crate) const LONG_SLACK_NS: f32 = 20_000.0;

/// The longest block, in ns. However much is left, what one block may hide from
/// thieves should be small beside any loop that has blocks this long, and claims
/// every 16 us cost 0.3%.
pub(crate) const MAX_BLOCK_NS: f32 = 16_000.0;
/// Work up to this, in ns, may stay with the caller if sharing does not gain. Longer work is always
/// posted, since its iterations may be blocking. Longer work also invites clusters for which
/// it has no iterations, since the members of the others may be busy.
pub(crate) const CHOSEN_NS: f32 = 2.0 * WAKE_NS as f32;

/// First guesses, in ns, until there are measurements: from the call that rouses a sleeper to its
/// first instruction.
pub(crate) const WAKE_NS: u64 = 50_000;
/// From the end of a timed sleep to the first instruction.
pub(crate) const LATENESS_NS: u64 = 30_000;
/// The cost of one more cluster to the caller that closes a loop's gates.
pub(crate) const CLOSING_NS: u64 = 100;

/// The longest a worker spins for the next loop, unless the builder says
/// otherwise: about what falling asleep and being woken costs, so that
/// spinning in vain at most doubles the price of a gap.
pub(crate) const SPIN_BUDGET: Duration = Duration::from_micros(60);
/// How long a caller from outside spins for a call that others run, before it sleeps.
pub(crate) const BLOCKING_SPIN: Duration = Duration::from_micros(10);
/// Searches in the first round of looks, at this distance in time; then half as
/// often, and so on.
pub(crate) const FIRST_SLICE: Duration = Duration::from_nanos(250);
pub(crate) const LONGEST_SLICE: Duration = Duration::from_micros(4);

/// The watchdog's first nap where threads outnumber cores: a small multiple of the time to wake a worker.
pub(crate) const WATCH_FIRST_NAP: Duration = Duration::from_micros(200);
/// The longest: so late a job is seen when all workers that are awake block.
pub(crate) const WATCH_LONGEST_NAP: Duration = Duration::from_millis(2);
/// For so long something may be left to workers that are awake and keep all cores busy: they
/// may be spinning for that very job.
pub(crate) const LONGEST_LEFT: Duration = Duration::from_millis(10);
/// The watchdog leaves when nothing has been left during naps of this length in all.
pub(crate) const IN_VAIN: Duration = Duration::from_millis(50);
/// A core is idle if a thread that yields it gets it back at once, for as long as that.
pub(crate) const PROBE: Duration = Duration::from_micros(20);
/// Getting it back later than this is not at once: another thread has run.
pub(crate) const AT_ONCE: Duration = Duration::from_micros(8);

/// A thread that runs again later than this has waited for another process's time slice.
pub(crate) const SLICE: Duration = Duration::from_micros(500);
/// It takes two such times within so long to be sure of another process.
pub(crate) const LATELY: Duration = Duration::from_millis(50);
/// After one such event no thread spins or yields for this time.
pub(crate) const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// Nor for longer than this.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_millis(640);

/// How long a worker naps first that keeps its permit while it waits, and at most.
pub(crate) const FIRST_NAP: Duration = Duration::from_micros(50);
pub(crate) const LONGEST_NAP: Duration = Duration::from_millis(2);
/// The time between two looks of a pool's monitor.
pub(crate) const MONITOR_TICK: Duration = Duration::from_millis(2);
/// Ticks without a loop to look after until the monitor ends.
pub(crate) const MONITOR_STAYS: u32 = 500;
/// The time between two looks at a pool that is about to end and not quiet.
pub(crate) const QUIET_LOOK: Duration = Duration::from_micros(200);
/// For so long the pool asks for no other thread when the system has refused one.
pub(crate) const REFUSED: Duration = Duration::from_millis(10);
