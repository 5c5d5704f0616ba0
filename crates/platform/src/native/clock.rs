//! The clock: the processor's own counter where it has a constant rate, for it
//! costs 10 ns where a system clock costs 25.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Ticks. On x86-64 the time-stamp counter, on 64-bit Arm the virtual counter,
/// elsewhere nanoseconds.
#[inline(always)]
pub(super) fn now() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        // SAFETY: `rdtsc` has no preconditions on x86-64. On a processor
        // without a constant rate (none since 2008) the ticks are wrong as
        // time, which the trait allows: they feed decisions, not correctness.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    {
        let ticks: u64;
        // SAFETY: the virtual counter is readable from user mode on every
        // operating system that Rust's standard library supports.
        unsafe {
            core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack));
        }
        ticks
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }
}

/// Ticks a nanosecond, measured once against the system's monotonic clock.
pub(super) fn ticks_per_ns() -> f64 {
    static RATE: OnceLock<f64> = OnceLock::new();
    *RATE.get_or_init(calibrate)
}

/// Half a millisecond: the two clock reads at either end are each within
/// 50 ns, so the rate is good to about 0.02%.
const CALIBRATION: Duration = Duration::from_micros(500);

fn calibrate() -> f64 {
    let (start, start_ticks) = (Instant::now(), now());
    loop {
        let (elapsed, end_ticks) = (start.elapsed(), now());
        if elapsed >= CALIBRATION {
            let rate = end_ticks.wrapping_sub(start_ticks) as f64 / elapsed.as_nanos() as f64;
            // A stopped or absurd counter would turn every decision into
            // nonsense; a plausible rate keeps them merely coarse.
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
        std::thread::sleep(Duration::from_millis(1));
        assert!(now() > start);
    }
}
