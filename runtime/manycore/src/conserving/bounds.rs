//! The bounds of idle times, and when an idle time begins. `mod.rs` explains permits, items and leaves.
//!
//! Times are in cycles of the machine in `world.rs`, with 2.5 cycles in a nanosecond. The bounds follow from the costs
//! of the machine's operating system, not from measurements. Names in brackets are configuration keys.

/// The time to wake a thread whose core sleeps deeply, until the thread's first instruction. It is the sum of the
/// system call (`os.syscall`, 375), the kernel's work (`os.futex-wake`, 2,500), the core's wake-up
/// (`os.wake-latency`, 10,000, and `os.deep-latency`, 100,000), a switch of threads (`os.switch`, 3,750)
/// and the return.
const WAKE_UP: u64 = 117_000;

/// If the rest of a loop takes less than 1.25 wake-ups, its caller may run the rest alone, because a woken
/// thread would hardly come in time.
const TOO_SHORT: u64 = WAKE_UP * 5 / 4;

/// The longest block of iterations, 16 us. One thread has claimed the block, but the check counts its
/// iterations as available until they begin.
const BLOCK: u64 = 40_000;

/// The time by which a search takes longer each time the number of permits doubles, because other threads write the
/// searched cache lines, and other thieves search too.
const SEARCH: u64 = 10_000;

/// The time to start a thread, until the system can run it.
const START: u64 = 38_000;

/// In a pool with more threads than cores, a job may be left to awake workers although these are blocked. This lasts
/// for at most 10 ms and two naps of the watchdog (`sleep/oversubscription.rs`).
const LEFT: u64 = 14 * 2_500_000;

/// The longest time that a permit may stay idle while the same item is available and no idle permit begins
/// a leaf.
///
/// The bound allows two wake-ups in a row. The first woken thread may wait and give its permit away, or find a job and
/// wake a thread for the vacant caller slot (the right to be worker 0). Then that second thread wakes, or is started.
pub(super) fn until_one_comes(threads: usize, cores: usize) -> u64 {
    let doublings = u64::from(threads.next_power_of_two().ilog2());
    let left = if threads > cores { LEFT } else { 0 };
    WAKE_UP + TOO_SHORT + START + BLOCK + SEARCH * doublings + left
}

/// The longest time that a permit may stay idle while the same item is available, even if other permits begin
/// leaves. Threads are woken one after the other.
pub(super) fn until_all_came(threads: usize, cores: usize) -> u64 {
    threads as u64 * until_one_comes(threads, cores)
}

/// Whether a permit counts as idle while its thread waits in a job for a stolen half, the end of a scope, or
/// the helpers of a loop. If so, [`REPLACED`] cycles after the wait began another thread must take the
/// permit and run unrelated work.
pub(super) const WAITING_IS_IDLE: bool = true;

/// For this number of cycles at the beginning of a wait, a permit does not count as idle. This is the time of two
/// wake-ups, since most waits are shorter, and the lateness of the timer (`os.timer-slack`, 125,000).
pub(super) const REPLACED: u64 = 2 * WAKE_UP + 125_000;

/// Whether a thread must use permit 0 when no caller from outside uses it.
pub(super) const EVERY_PERMIT: bool = true;

/// Whether each leaf must run with a permit, and each permit must run one leaf at a time.
pub(super) const PERMITS_ARE_UNIQUE: bool = true;

/// Whether a thread gives up the rest of a block that takes longer than predicted. If it does not, the programs of
/// [`Skewed`](super::random::Mixture::Skewed) are measured, but cannot fail because of late work.
pub(super) const BLOCKS_ARE_GIVEN_UP: bool = false;
