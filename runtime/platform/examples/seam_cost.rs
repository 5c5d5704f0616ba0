//! One claim loop in two versions: over `Platform`, and with `std::sync::atomic`. `ci/seam-cost.sh` counts
//! the instructions of both.

use manycore_platform::{Atomic, AtomicInteger, Native, Ordering, Platform};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

const CLAIMS: u64 = 100_000;

/// A helper's operations in a loop: it joins a gate, claims blocks until none is left, takes some back by
/// compare-and-swap, and leaves.
#[inline(never)]
fn over_platform<P: Platform>(
    open: &P::AtomicBool,
    count: &P::AtomicU32,
    next: &P::AtomicU64,
) -> u64 {
    count.fetch_add(1, Ordering::Relaxed);
    P::fence_after_rmw();
    let mut sum = 1;
    if open.load(Ordering::Acquire) {
        loop {
            let start = next.fetch_add(16, Ordering::Relaxed);
            if start >= CLAIMS * 16 {
                break;
            }
            P::compute(16);
            sum += start;
            let seen = next.load(Ordering::Relaxed);
            let swap = next.compare_exchange(seen, seen, Ordering::Relaxed, Ordering::Relaxed);
            sum += u64::from(swap.is_ok());
        }
    }
    count.fetch_sub(1, Ordering::Release);
    sum
}

/// The same with `std::sync::atomic`.
#[inline(never)]
fn by_hand(open: &AtomicBool, count: &AtomicU32, next: &AtomicU64) -> u64 {
    count.fetch_add(1, Ordering::Relaxed);
    if cfg!(target_arch = "x86_64") {
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
    } else {
        std::sync::atomic::fence(Ordering::SeqCst);
    }
    let mut sum = 2; // With 1, the compiler would merge the equal functions.
    if open.load(Ordering::Acquire) {
        loop {
            let start = next.fetch_add(16, Ordering::Relaxed);
            if start >= CLAIMS * 16 {
                break;
            }
            sum += start;
            let seen = next.load(Ordering::Relaxed);
            let swap = next.compare_exchange(seen, seen, Ordering::Relaxed, Ordering::Relaxed);
            sum += u64::from(swap.is_ok());
        }
    }
    count.fetch_sub(1, Ordering::Release);
    sum
}

fn main() {
    let cells = || (AtomicBool::new(true), AtomicU32::new(0), AtomicU64::new(0));
    let (open, count, next) = cells();
    let platform = over_platform::<Native>(black_box(&open), &count, &next);
    let (open, count, next) = cells();
    let hand = by_hand(black_box(&open), &count, &next);
    assert_eq!(platform + 1, hand);
}
