//! Time that passes on a core.

use manycore_platform::Platform;

/// Computes until `time`, on a simulated core that takes `cpi` cycles an
/// instruction; natively, spins.
pub(in crate::study) fn pass_until<P: Platform>(time: u64, cpi: f64) {
    loop {
        let left = time.saturating_sub(P::now());
        if left == 0 {
            return;
        }
        // At least one: a fraction of a cycle is left of odd numbers.
        P::compute(((left as f64 / cpi) as u64).max(1));
        std::hint::spin_loop();
    }
}
