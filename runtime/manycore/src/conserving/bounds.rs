//! A pool's promises: bounds, and their beginning.
//!
//! Times are in cycles of the machine in `world.rs`, at 2.5 a nanosecond. They follow from the
//! costs of the machine's system (the keys in brackets), not from measurements.

/// From the call for a thread that sleeps deeply to that thread's first instruction: into the
/// kernel (`os.syscall`, 375), its work there (`os.futex-wake`, 2,500), the way to a core that
/// sleeps deeply (`os.wake-latency`, 10,000, and `os.deep-latency`, 100,000), a switch of threads
/// (`os.switch`, 3,750) and back.
const WAKE_UP: u64 = 117_000;

/// A loop that has less left to do than a wake-up and a quarter may be left to its caller:
/// whoever is woken for it hardly comes in time.
const TOO_SHORT: u64 = WAKE_UP * 5 / 4;

/// The longest block of iterations, 16 us. It belongs to one thread; but the check, which sees
/// iterations, counts those that have not begun as available.
const BLOCK: u64 = 40_000;

/// Looking for something in twice as many permits takes so much longer: their lines are
/// written by others, and other thieves are there.
const SEARCH: u64 = 10_000;

/// Starting a thread, until it is known to the system.
const START: u64 = 38_000;

/// In a pool with more threads than cores a job may be left to awake workers whose jobs block: for
/// 10 ms and two naps of the watchdog (`sleep/oversubscription.rs`).
const LEFT: u64 = 14 * 2_500_000;

/// The longest time that a permit may stay idle while the same item is runnable, and no idle thread
/// begins anything.
///
/// Two wake-ups in a row: the thread that is called may wait and give its permit away,
/// or find a job and call for the vacant caller slot; then the successor wakes, or is started.
pub(super) fn until_one_comes(threads: usize, cores: usize) -> u64 {
    let doublings = u64::from(threads.next_power_of_two().ilog2());
    let left = if threads > cores { LEFT } else { 0 };
    WAKE_UP + TOO_SHORT + START + BLOCK + SEARCH * doublings + left
}

/// The longest time that a permit may stay idle while the same item is runnable, whichever threads
/// come meanwhile: they are woken one after the other.
pub(super) fn until_all_came(threads: usize, cores: usize) -> u64 {
    threads as u64 * until_one_comes(threads, cores)
}

/// Whether a permit is idle while its thread waits inside of a job: for a stolen half, the
/// end of a scope, or the helpers of a loop. Then, [`REPLACED`] cycles after the wait began,
/// another thread takes the permit, and begins what is nothing to that job.
pub(super) const WAITING_IS_IDLE: bool = true;

/// A permit is not idle for this number of cycles at the beginning of a wait: twice a wake-up,
/// since most waits are shorter, and the lateness of the timer that ends it (`os.timer-slack`,
/// 125,000).
pub(super) const REPLACED: u64 = 2 * WAKE_UP + 125_000;

/// Whether permit 0 is filled though no caller from outside takes part.
pub(super) const EVERY_PERMIT: bool = true;

/// Whether all leaves run with a permit, and each permit runs one at a time.
pub(super) const PERMITS_ARE_UNIQUE: bool = true;

/// Whether the rest of a block is given up when it turns out to be longer than was predicted.
/// If not, the programs of [`Skewed`](super::random::Mixture::Skewed) are measured only.
pub(super) const BLOCKS_ARE_GIVEN_UP: bool = false;
