//! The state of an interrupted rank (a thread of a team), as the kernel has saved it in the frame of a signal.

use super::vectors;
#[cfg(target_arch = "x86_64")]
use crate::system::next;
use std::array;

#[cfg(target_arch = "x86_64")]
const GENERAL: usize = 16;
#[cfg(target_arch = "aarch64")]
const GENERAL: usize = 32;
#[cfg(target_arch = "riscv64")]
const GENERAL: usize = 31;

/// The greatest distance in bytes between two instructions of a loop that waits.
const WAITING_LOOP: usize = 64;

/// The least size of a page in bytes.
pub(super) const PAGE: usize = 4096;

/// A rank's registers.
#[derive(Clone, Copy)]
pub(super) struct Registers {
    general: [u64; GENERAL],
    /// A hash of the floating-point and vector registers, if [`Registers::and_vectors`] has made one.
    vectors: u64,
    /// The next instruction's address.
    pub(super) at: usize,
}

/// The handler's notes on a rank that may spin.
#[derive(Clone, Copy)]
pub(super) struct Noted {
    pub(super) registers: Registers,
    /// The kernel thread's processor time at the last look, in ns.
    pub(super) time: i64,
    /// How many more looks there will be.
    pub(super) left: u32,
}

impl Registers {
    /// The registers in a frame.
    pub(super) fn of(frame: &libc::ucontext_t) -> Self {
        let saved = &frame.uc_mcontext;
        #[cfg(target_arch = "x86_64")]
        let (general, at) = (
            // The first sixteen saved values. The instruction's address comes after them.
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
            // The first saved value is the address of the instruction, in place of the register that is always 0.
            array::from_fn(|register| saved.__gregs[1 + register]),
            saved.__gregs[0] as usize,
        );
        Self {
            general,
            vectors: 0,
            at,
        }
    }

    /// The same registers, with a hash of the floating-point and vector registers. Reads some 2 KB.
    pub(super) fn and_vectors(self, frame: &libc::ucontext_t) -> Self {
        let vectors = vectors::hash(frame);
        Self { vectors, ..self }
    }

    /// The stack pointer.
    pub(super) fn stack(&self) -> usize {
        #[cfg(target_arch = "x86_64")]
        const STACK: usize = libc::REG_RSP as usize;
        #[cfg(target_arch = "aarch64")]
        const STACK: usize = 31;
        // The number of the register that is the stack pointer, less one.
        #[cfg(target_arch = "riscv64")]
        const STACK: usize = 1;
        self.general[STACK] as usize
    }

    /// Whether a signal has just broken off a system call that the kernel does not restart.
    ///
    /// # Safety
    ///
    /// The next instruction is in code that a thread executes.
    pub(super) unsafe fn is_broken_off(&self) -> bool {
        const BROKEN_OFF: u64 = -(libc::EINTR as i64) as u64;
        #[cfg(target_arch = "x86_64")]
        let (result, call): (_, &[u8]) = (
            self.general[libc::REG_RAX as usize],
            &[0x0f, 0x05], // syscall
        );
        #[cfg(target_arch = "aarch64")]
        let (result, call): (_, &[u8]) = (self.general[0], &[0x01, 0x00, 0x00, 0xd4]); // svc 0
        #[cfg(target_arch = "riscv64")]
        let (result, call): (_, &[u8]) = (self.general[9], &[0x73, 0x00, 0x00, 0x00]); // ecall
        // If the call's code begins in the page before, the answer is `false`: that page may not be readable.
        let is_within = self.at % PAGE >= call.len();
        let before = (self.at as *const u8).wrapping_sub(call.len());
        // SAFETY: the bytes are in the page of the next instruction, which is code, by the caller's promise.
        let is_call = || unsafe { std::slice::from_raw_parts(before, call.len()) } == call;
        result == BROKEN_OFF && is_within && is_call()
    }

    /// The general register that has this number in instructions.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn by_number(&self, number: u8) -> u64 {
        const FIRST: [i32; 8] = [
            libc::REG_RAX,
            libc::REG_RCX,
            libc::REG_RDX,
            libc::REG_RBX,
            libc::REG_RSP,
            libc::REG_RBP,
            libc::REG_RSI,
            libc::REG_RDI,
        ];
        let later = usize::from(number & 7);
        let place = if number < 8 {
            FIRST[later] as usize
        } else {
            later
        };
        self.general[place]
    }

    /// The arguments of a system call that was broken off.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn arguments(&self) -> [usize; 6] {
        [7, 6, 2, 10, 8, 9].map(|register| self.by_number(register) as usize)
    }

    /// Sets a system call's result, for the code that the frame returns to.
    pub(super) fn set_result(frame: &mut libc::ucontext_t, result: std::ffi::c_long) {
        let saved = &mut frame.uc_mcontext;
        #[cfg(target_arch = "x86_64")]
        (saved.gregs[libc::REG_RAX as usize] = result);
        #[cfg(target_arch = "aarch64")]
        (saved.regs[0] = result.cast_unsigned());
        #[cfg(target_arch = "riscv64")]
        (saved.__gregs[10] = result.cast_unsigned());
    }

    /// Whether a rank that had these registers, and has the registers `now`, has only waited meanwhile.
    pub(super) fn spin_until(&self, now: &Self) -> bool {
        self.general == now.general
            && self.vectors == now.vectors
            && self.at.abs_diff(now.at) < WAITING_LOOP
    }
}

/// Whether the frames of this process may have two sizes. If so, only the kernel thread that has made a frame may
/// restore it.
///
/// Frames may differ once the program may use the matrix registers (AMX). When a kernel thread first uses these
/// registers, its frames get room for them. From a large frame, a kernel thread without the room restores only the
/// registers of the oldest processors. On Linux 6.15 to 7.0, a thread with the room does so too from a small frame.
#[cfg(target_arch = "x86_64")]
pub(super) fn has_matrices(frame: &libc::ucontext_t) -> bool {
    // SAFETY: null, or the kernel's floating-point state of at least 512 bytes.
    let state = unsafe { frame.uc_mcontext.fpregs.cast::<[u8; 512]>().as_ref() };
    state.is_some_and(are_configurations_in) && may_use_matrices()
}

/// The kernel's number of the component of a thread's state that has the matrix registers' contents. The component
/// before has their configuration.
#[cfg(target_arch = "x86_64")]
const TILES: u32 = 18;

/// Whether a frame has the matrix registers' configuration: whether the processor has these registers.
#[cfg(target_arch = "x86_64")]
fn are_configurations_in(state: &[u8; 512]) -> bool {
    // The processor leaves these bytes to the kernel. The kernel writes a number (to mark their use), a size, and the
    // set of saved components.
    const USED: usize = 464;
    const NUMBER: u32 = 0x4650_5853;
    let number = u32::from_le_bytes(std::array::from_fn(|at| state[USED + at]));
    let saved = u64::from_le_bytes(std::array::from_fn(|at| state[USED + 8 + at]));
    number == NUMBER && saved >> (TILES - 1) & 1 != 0
}

/// Whether the kernel lets the program use the matrix registers, because the program has asked for them.
#[cfg(target_arch = "x86_64")]
fn may_use_matrices() -> bool {
    const GET_PERMISSIONS: usize = 0x1022;
    let mut granted = 0_u64;
    let arguments = [GET_PERMISSIONS, &raw mut granted as usize, 0, 0, 0, 0];
    // SAFETY: the kernel writes one word.
    let result = unsafe { next::syscall(libc::SYS_arch_prctl, arguments) };
    result == 0 && granted >> TILES & 1 != 0
}

/// Only x86-64 has matrix registers in its frames.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn has_matrices(_frame: &libc::ucontext_t) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn frames_show_whether_the_processor_has_matrices() {
        let mut state = [0; 512];
        assert!(!are_configurations_in(&state));
        state[464..468].copy_from_slice(&0x4650_5853_u32.to_le_bytes());
        state[472..480].copy_from_slice(&0xe7_u64.to_le_bytes());
        assert!(!are_configurations_in(&state));
        state[472..480].copy_from_slice(&0x200e7_u64.to_le_bytes());
        assert!(are_configurations_in(&state));
        // A kernel may not mark these bytes as used.
        state[464] = 0;
        assert!(!are_configurations_in(&state));
    }

    /// On processors with matrix registers too.
    #[test]
    #[cfg_attr(miri, ignore = "Miri has no signals")]
    fn frames_of_threads_that_use_no_matrices_have_none() {
        use std::ffi::{c_int, c_void};
        use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
        static FOUND: AtomicU32 = AtomicU32::new(2);
        extern "C" fn handler(_: c_int, _: *mut libc::siginfo_t, frame: *mut c_void) {
            // SAFETY: the kernel passes the signal's frame.
            FOUND.store(has_matrices(unsafe { &*frame.cast() }).into(), Relaxed);
        }
        // SAFETY: the handler has three arguments, and this process uses the signal for nothing else.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(libc::SIGIO, &raw const action, std::ptr::null_mut());
            libc::raise(libc::SIGIO);
        }
        assert_eq!(FOUND.load(Relaxed), 0);
    }

    #[test]
    fn a_loop_that_counts_does_not_spin() {
        let mut then = Registers {
            general: array::from_fn(|register| register as u64),
            vectors: 1,
            at: 16,
        };
        let mut now = then;
        now.at += 12;
        assert!(then.spin_until(&now));
        now.general[3] += 1;
        assert!(!then.spin_until(&now));
        // A loop may compute in other registers.
        now.general[3] -= 1;
        assert!(then.spin_until(&now));
        now.vectors = 2;
        assert!(!then.spin_until(&now));
        now.vectors = 1;
        // The rank is in other code by now.
        (then.general[3], then.at) = (now.general[3], 1_000);
        assert!(!then.spin_until(&now));
    }
}
