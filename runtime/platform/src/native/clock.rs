//! The clock: the processor's own counter, if it has a constant rate. Reading it takes 10 ns instead of the 25 ns of a
//! system clock.

use std::sync::atomic::{AtomicU64, Ordering};

/// The time in ticks. The ticks are those of the time-stamp counter on x86-64, of the virtual counter on 64-bit Arm,
/// and of the timer on 64-bit RISC-V. Elsewhere they are nanoseconds.
#[inline(always)]
pub(super) fn now() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        // SAFETY: `rdtsc` has no preconditions on x86-64. On a processor without a constant rate (none since 2008) the
        // ticks are wrong as time. The trait allows that: ticks feed decisions, not correctness.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    {
        let ticks: u64;
        // SAFETY: the virtual counter is readable from user mode on every operating system that Rust's standard
        // library supports.
        unsafe {
            core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack));
        }
        ticks
    }
    #[cfg(all(target_arch = "riscv64", not(miri)))]
    {
        let ticks: u64;
        // SAFETY: Linux allows user mode to read the timer, and derives its own clocks from it.
        unsafe {
            core::arch::asm!("rdtime {}", out(reg) ticks, options(nomem, nostack));
        }
        ticks
    }
    #[cfg(any(
        miri,
        not(any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            target_arch = "riscv64"
        ))
    ))]
    {
        nanoseconds()
    }
}

/// The time of the system's monotonic clock, since an arbitrary moment. The function asks the system directly. A
/// stored `Instant` would need a lock for its initialisation, and a fork during the initialisation would leave this
/// lock locked in the child.
#[cfg(unix)]
fn nanoseconds() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes the time to a variable of this function. This clock exists everywhere. If the call
    // failed, the time would stand still, and decisions would be coarse.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    (time.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time.tv_nsec as u64)
}

/// If the standard library has no clock either, this counts its calls, so that time limits still end.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
fn nanoseconds() -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    // Relaxed: the number publishes nothing else.
    CALLS.fetch_add(A_CALL, Ordering::Relaxed)
}

/// The nanoseconds by which the clock advances at each call: about the time of some instructions.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
const A_CALL: u64 = 10;

#[cfg(not(any(unix, all(target_family = "wasm", target_os = "unknown"))))]
fn nanoseconds() -> u64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    // This takes a lock, which is harmless: there is no fork here.
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Both clocks at the first call of [`start`], or zeros.
static STARTED: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// See [`Native::start_clock`](super::Native::start_clock).
pub(super) fn start() {
    let (time, ticks) = both(&nanoseconds, &now);
    // Only the first thread stores, so both values are of one read. Relaxed: the release publishes the exchange.
    if (STARTED[1].compare_exchange(0, ticks, Ordering::Relaxed, Ordering::Relaxed)).is_ok() {
        STARTED[0].store(time, Ordering::Release);
    }
}

/// The clocks at [`start`], if that was no longer than [`STALE`] ago. If the machine sleeps in between, the rate is
/// wrong, as it is if the machine sleeps during a measurement.
fn started() -> Option<(u64, u64)> {
    let time = STARTED[0].load(Ordering::Acquire);
    let is_recent = time != 0 && nanoseconds().wrapping_sub(time) < STALE;
    is_recent.then(|| (time, STARTED[1].load(Ordering::Relaxed)))
}

/// The number of ticks in a nanosecond, measured once against the system's monotonic clock.
pub(super) fn ticks_per_ns() -> f64 {
    /// The bits of the rate, or 0 while the rate is not known.
    static RATE: AtomicU64 = AtomicU64::new(0);
    // Relaxed, here and below: the number is the only shared data. There is no lock, for the reason given at
    // `nanoseconds`. Several threads may measure at once. The first thread that stores its result decides the rate for
    // all.
    let known = RATE.load(Ordering::Relaxed);
    if known != 0 {
        return f64::from_bits(known);
    }
    let mine = calibrate();
    let put = RATE.compare_exchange(0, mine.to_bits(), Ordering::Relaxed, Ordering::Relaxed);
    put.map_or_else(f64::from_bits, |_| mine)
}

/// The least length of the measurement in nanoseconds. At both ends the two clocks are read within 100 ns, so the rate
/// is good to about 0.04%.
const CALIBRATION: u64 = 500_000;
/// The fewest ticks of the measurement. A timer of 1 MHz, as some RISC-V boards have, is measured for 5 ms.
const FEWEST_TICKS: u64 = 5_000;
/// The greatest length of the measurement in nanoseconds, for a counter that is still slower, or stands still.
const LONGEST: u64 = 10_000_000;
/// How long the readings of [`start`] are of use, in nanoseconds. Later, a new measurement takes little of the time that
/// the program has run.
const STALE: u64 = 1_000_000_000;
/// The rates that a counter can have: 10 kHz to 100 GHz.
const RATES: std::ops::RangeInclusive<f64> = 1e-5..=1e2;

fn calibrate() -> f64 {
    if cfg!(any(
        miri,
        not(any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            target_arch = "riscv64"
        ))
    )) {
        // Ticks are nanoseconds.
        return 1.0;
    }
    let start = started().unwrap_or_else(|| both(&nanoseconds, &now));
    let rate = rate(start, &nanoseconds, &now);
    // A stopped or absurd counter would make every decision nonsense. With a plausible rate decisions are only coarse.
    if RATES.contains(&rate) { rate } else { 1.0 }
}

/// The ticks of `counter` in a nanosecond of `clock`, from an earlier read of [`both`] until now.
fn rate(
    (start, start_ticks): (u64, u64),
    clock: &dyn Fn() -> u64,
    counter: &dyn Fn() -> u64,
) -> f64 {
    loop {
        let elapsed = clock().wrapping_sub(start);
        let ticks = counter().wrapping_sub(start_ticks);
        if elapsed >= LONGEST || (elapsed >= CALIBRATION && ticks >= FEWEST_TICKS) {
            break;
        }
        std::hint::spin_loop();
    }
    let (end, end_ticks) = both(clock, counter);
    end_ticks.wrapping_sub(start_ticks) as f64 / end.wrapping_sub(start) as f64
}

/// Reads both clocks at nearly the same time. The system may preempt the thread between two reads, for milliseconds.
/// So this reads several times, and takes the read during which the counter advanced least.
fn both(clock: &dyn Fn() -> u64, counter: &dyn Fn() -> u64) -> (u64, u64) {
    const READS: u32 = 5;
    let read = |_| {
        let before = counter();
        let time = clock();
        let took = counter().wrapping_sub(before);
        (took, time, before.wrapping_add(took / 2))
    };
    let (_, time, ticks) = (1..READS).map(read).fold(read(0), Ord::min);
    (time, ticks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn the_rate_is_plausible_and_cached() {
        let rate = ticks_per_ns();
        assert!(RATES.contains(&rate), "{rate}");
        assert_eq!(rate, ticks_per_ns());
    }

    /// Measures a counter of `ticks_per_ms`. Before read number `preempted` of either clock, the thread loses its core
    /// for 4 ms. Returns the rate, and the number of reads.
    fn measured(ticks_per_ms: u64, preempted: usize) -> (f64, usize) {
        let (time, reads) = (Cell::new(12_345), Cell::new(0));
        let read = |cost: u64| {
            let lost = if reads.get() == preempted {
                4_000_000
            } else {
                0
            };
            reads.set(reads.get() + 1);
            time.set(time.get() + cost + lost);
            time.get()
        };
        let (clock, counter) = (|| read(25), || read(10) * ticks_per_ms / 1_000_000);
        let rate = rate(both(&clock, &counter), &clock, &counter);
        (rate, reads.get())
    }

    #[test]
    fn counters_of_all_rates_are_measured() {
        for ticks_per_ms in [33, 1_000, 10_000, 24_000, 1_000_000, 3_000_000] {
            let (rate, _) = measured(ticks_per_ms, usize::MAX);
            let off = rate * 1e6 / ticks_per_ms as f64 - 1.0;
            assert!(off.abs() < 0.005, "{ticks_per_ms}: {rate}");
            assert!(RATES.contains(&rate), "{rate}");
        }
        assert!(!RATES.contains(&measured(0, usize::MAX).0), "it stands");
    }

    #[test]
    fn a_preemption_between_the_two_clocks_does_not_change_the_rate() {
        let (_, reads) = measured(3_000_000, usize::MAX);
        for preempted in (0..40).chain(reads - 40..reads) {
            let (rate, _) = measured(3_000_000, preempted);
            assert!((rate / 3.0 - 1.0).abs() < 0.001, "{preempted}: {rate}");
        }
    }

    #[test]
    fn a_measurement_that_began_early_does_not_wait() {
        let (time, reads) = (Cell::new(0), Cell::new(0));
        let clock = || {
            time.set(time.get() + 25);
            reads.set(reads.get() + 1);
            time.get()
        };
        let counter = || time.get() * 3;
        let start = both(&clock, &counter);
        time.set(time.get() + CALIBRATION);
        reads.set(0);
        assert!((rate(start, &clock, &counter) / 3.0 - 1.0).abs() < 0.001);
        assert!(reads.get() < 10, "{} reads", reads.get());
    }

    #[test]
    fn the_clock_advances() {
        let start = now();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(now() > start);
    }
}
