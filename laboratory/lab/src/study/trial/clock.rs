//! Lets time pass on a core.

use manycore_platform::Platform;

/// Computes until `time`, on a simulated core with `cpi` cycles an instruction. On this host, spins.
pub(in crate::study) fn pass_until<P: Platform>(time: u64, cpi: f64) {
    loop {
        let left = time.saturating_sub(P::now());
        if left == 0 {
            return;
        }
        // There is at least one instruction, since the quotient is 0 if less than `cpi` cycles are left.
        P::compute(((left as f64 / cpi) as u64).max(1));
        std::hint::spin_loop();
    }
}
