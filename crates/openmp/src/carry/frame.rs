//! What the kernel has saved of a rank that a signal interrupts.

use std::array;

#[cfg(target_arch = "x86_64")]
const GENERAL: usize = 16;
#[cfg(target_arch = "aarch64")]
const GENERAL: usize = 32;
#[cfg(target_arch = "riscv64")]
const GENERAL: usize = 31;

/// A loop that waits lies within so many bytes.
const WAITING_LOOP: usize = 64;

/// A rank's registers.
#[derive(Clone, Copy)]
pub(super) struct Registers {
    general: [u64; GENERAL],
    /// The next instruction's address.
    pub(super) at: usize,
}

impl Registers {
    /// Those in a frame.
    pub(super) fn of(frame: &libc::ucontext_t) -> Self {
        let saved = &frame.uc_mcontext;
        #[cfg(target_arch = "x86_64")]
        let (general, at) = (
            // The first sixteen; the instruction's address comes after them.
            array::from_fn(|register| saved.gregs[register].cast_unsigned()),
            saved.gregs[libc::REG_RIP as usize] as usize,
        );
        #[cfg(target_arch = "aarch64")]
        let (general, at) = (
            array::from_fn(|register| *saved.regs.get(register).unwrap_or(&saved.sp)),
            saved.pc as usize,
        );
        #[cfg(target_arch = "riscv64")]
        let (general, at) = (
            // The first is the instruction's address, in the place of the register that is zero.
            array::from_fn(|register| saved.__gregs[1 + register]),
            saved.__gregs[0] as usize,
        );
        Self { general, at }
    }

    /// Whether a rank that had these and has those `now` has only waited meanwhile.
    pub(super) fn spin_until(&self, now: &Self) -> bool {
        self.general == now.general && self.at.abs_diff(now.at) < WAITING_LOOP
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_counts_does_not_spin() {
        let mut then = Registers {
            general: array::from_fn(|register| register as u64),
            at: 16,
        };
        let mut now = then;
        now.at += 12;
        assert!(then.spin_until(&now));
        now.general[3] += 1;
        assert!(!then.spin_until(&now));
        // Elsewhere by now.
        (then.general[3], then.at) = (now.general[3], 1_000);
        assert!(!then.spin_until(&now));
    }
}
