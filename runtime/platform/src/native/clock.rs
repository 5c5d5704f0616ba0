//! The clock: the processor's own counter, if it has a constant rate. Reading it takes 10 ns instead of the 25 ns of a
//! system clock.

use std::sync::atomic::{AtomicU64, Ordering};

/// The time in ticks: on x86-64 of the time-stamp counter, on 64-bit Arm of the virtual counter, on 64-bit RISC-V of
/// the timer, elsewhere nanoseconds.
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

/// The system's monotonic clock, since an arbitrary moment. The function asks the system directly. A stored `Instant`
/// would need a lock for its initialisation, and a fork during that would leave the lock locked in the child.
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

/// If the standard library has no clock either, calls are counted, so that time limits still end.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
fn nanoseconds() -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    // Relaxed: the number publishes nothing else.
    CALLS.fetch_add(A_CALL, Ordering::Relaxed)
}

/// The nanoseconds that the clock advances at each call: about the time of some instructions.
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

/// Ticks in a nanosecond, measured once against the system's monotonic clock.
pub(super) fn ticks_per_ns() -> f64 {
    /// The bits of the rate, or 0 while the rate is not known.
    static RATE: AtomicU64 = AtomicU64::new(0);
    // Relaxed, here and below: the number is the only shared data. There is no lock, for the reason given at
    // `nanoseconds`. Several threads may measure at once. The first to store decides the rate for all.
    let known = RATE.load(Ordering::Relaxed);
    if known != 0 {
        return f64::from_bits(known);
    }
    let mine = calibrate();
    let put = RATE.compare_exchange(0, mine.to_bits(), Ordering::Relaxed, Ordering::Relaxed);
    put.map_or_else(f64::from_bits, |_| mine)
}

/// The length of the measurement in nanoseconds. At both ends the two clocks are read within 50 ns, so the rate is
/// good to about 0.02%.
const CALIBRATION: u64 = 500_000;

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
    let (start, start_ticks) = (nanoseconds(), now());
    loop {
        let (elapsed, end_ticks) = (nanoseconds().wrapping_sub(start), now());
        if elapsed >= CALIBRATION {
            let rate = end_ticks.wrapping_sub(start_ticks) as f64 / elapsed as f64;
            // A stopped or absurd counter would make every decision nonsense. With a plausible rate decisions are only
            // coarse.
            return if (1e-3..=1e2).contains(&rate) {
                rate
            } else {
                1.0
            };
        }
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_plausible_and_cached() {
        let rate = ticks_per_ns();
        assert!((1e-3..=1e2).contains(&rate), "{rate}");
        assert_eq!(rate, ticks_per_ns());
    }

    #[test]
    fn the_clock_advances() {
        let start = now();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(now() > start);
    }
}
