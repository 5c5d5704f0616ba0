//! Finds the number of a system call that a signal broke off, on x86-64.
//!
//! The kernel's result has replaced the number in its register, and the signal's frame has no copy. So this module
//! reads the instructions before the call: one of them wrote the number, and later instructions did not overwrite it.
//! The module knows only the few kinds of instructions that prepare the arguments of a call.
//!
//! A program may also make a call by the function `syscall`, which gets the number from its caller. This library's own
//! `syscall` makes the call by [`make`], which keeps the number on the stack. A word of the rank (a thread of a team)
//! would not do: a kernel thread that has let the rank go still has the rank's thread pointer, and may make a call
//! while the rank makes its own on another kernel thread.

use super::frame::{PAGE, Registers};
use crate::system::masks::set_errno;
use std::ffi::{c_int, c_long};

/// How many bytes before the call are read.
const REACH: usize = 32;
/// The length of the instruction that makes a call.
const CALL: usize = 2;
/// [`by_number`] makes its call within this number of bytes.
const FUNCTION: usize = 32;
/// The numbers of all calls are below this.
const MOST: u32 = 1_024;

/// The number of the call before the frame's next instruction.
pub(super) fn of(registers: &Registers) -> Option<c_long> {
    let end = registers.at - CALL;
    if end.wrapping_sub(by_number as *const () as usize) < FUNCTION {
        // SAFETY: at its call the function has the number below the top of its stack.
        return Some(unsafe { *(registers.stack() as *const c_long).sub(1) });
    }
    let count = (end % PAGE).min(REACH);
    // SAFETY: the bytes are in the page that has the call.
    let before = unsafe { std::slice::from_raw_parts((end - count) as *const u8, count) };
    written(before, |register| registers.by_number(register))
}

/// Makes a system call for the program, which has called `syscall`.
///
/// # Safety
///
/// The caller promises what the system call requires.
pub(super) unsafe fn make(number: c_long, arguments: [usize; 6]) -> c_long {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: by the caller's promise.
    match unsafe { by_number(number, a, b, c, d, e, f) } {
        error @ -4095..0 => {
            set_errno(-error as c_int);
            -1
        }
        result => result,
    }
}

/// Makes a system call, and returns the kernel's result. During the call, the number is below the top of the stack,
/// where no signal writes: the kernel leaves 128 bytes there unchanged.
#[unsafe(naked)]
unsafe extern "C" fn by_number(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    std::arch::naked_asm!(
        ".cfi_startproc",
        "mov [rsp - 8], rdi",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rdx, rcx",
        "mov r10, r8",
        "mov r8, r9",
        "mov r9, [rsp + 8]",
        "syscall",
        "ret",
        ".cfi_endproc",
    )
}

/// The last value that these instructions write into `eax`. `value` returns the value of another register, by its
/// number.
fn written(code: &[u8], value: impl Fn(u8) -> u64) -> Option<c_long> {
    (0..code.len()).rev().find_map(|at| {
        let (length, number) = writes(&code[at..], &value)?;
        // After such a prefix, the same bytes are an instruction for another register.
        let is_prefixed = at > 0 && matches!(code[at - 1], 0x41 | 0x44 | 0x45 | 0x49 | 0x4c | 0x4d);
        (!is_prefixed && number < MOST && leave_it(&code[at + length..]))
            .then_some(c_long::from(number))
    })
}

/// The length of the first instruction, and the value that it writes into `eax`. `None` if it does not write `eax`.
fn writes(code: &[u8], value: impl Fn(u8) -> u64) -> Option<(usize, u32)> {
    let constant = |from: usize| {
        let bytes = code.get(from..from + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    match code {
        [0xb8, ..] => Some((5, constant(1)?)),
        [0x48, 0xc7, 0xc0, ..] => Some((7, constant(3)?)),
        [0x31 | 0x33, 0xc0, ..] => Some((2, 0)),
        // A copy of another register is accepted only as the last instruction before the call: a later instruction
        // might write that register.
        [0x44, 0x89, modrm] if modrm & 0xc7 == 0xc0 => {
            Some((3, value(8 + (modrm >> 3 & 7)) as u32))
        }
        [0x89, modrm] if modrm & 0xc7 == 0xc0 => Some((2, value(modrm >> 3 & 7) as u32)),
        _ => None,
    }
}

/// Whether all instructions in `code` are known and do not write `eax`.
fn leave_it(mut code: &[u8]) -> bool {
    while !code.is_empty() {
        match length(code) {
            Some(length) if length <= code.len() => code = &code[length..],
            _ => return false,
        }
    }
    true
}

/// The length of a known instruction that does not write `eax`.
fn length(code: &[u8]) -> Option<usize> {
    let (prefix, rest) = match code {
        [prefix @ 0x40..=0x4f, rest @ ..] => (*prefix, rest),
        _ => (0, code),
    };
    let (extends_register, extends_other) = (prefix & 4 != 0, prefix & 1 != 0);
    let before = usize::from(prefix != 0) + 1;
    let (&operation, operands) = rest.split_first()?;
    let modrm = || operands.first().copied();
    let is_register = |modrm: u8| modrm >> 6 == 3;
    let first = modrm().unwrap_or(0);
    let writes_register = first >> 3 & 7 == 0 && !extends_register;
    let writes_other = is_register(first) && first & 7 == 0 && !extends_other;
    let long = prefix & 8 != 0;
    match operation {
        // The instruction writes the second operand.
        0x89 | 0x31 if !writes_other => Some(before + reach(operands)?),
        // The instruction writes the first operand.
        0x8b | 0x33 | 0x8d if !writes_register => Some(before + reach(operands)?),
        // The instruction writes a constant to a register.
        0xb9..=0xbf if !long => Some(before + 4),
        0xb8 if extends_other && !long => Some(before + 4),
        0xc7 if is_register(modrm()?) && !writes_other => Some(before + 5),
        // The instruction combines a byte with a constant.
        0x80 if is_register(modrm()?) && !writes_other => Some(before + 2),
        _ => None,
    }
}

/// The length of the operands of an instruction, in registers and memory.
fn reach(operands: &[u8]) -> Option<usize> {
    let modrm = *operands.first()?;
    let has_index = modrm & 7 == 4;
    let index = usize::from(has_index);
    Some(match modrm >> 6 {
        3 => 1,
        0 if has_index => 2 + if operands.get(1)? & 7 == 5 { 4 } else { 0 },
        0 if modrm & 7 == 5 => 5,
        0 => 1,
        1 => 2 + index,
        _ => 5 + index,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: &[u8]) -> Option<c_long> {
        written(code, |register| 200 + u64::from(register))
    }

    #[test]
    fn the_number_is_what_was_written_last() {
        // mov $271, %eax
        assert_eq!(of(&[0x90, 0xb8, 0x0f, 0x01, 0, 0]), Some(271));
        // xor %eax, %eax
        assert_eq!(of(&[0x90, 0x90, 0x31, 0xc0]), Some(0));
        // mov $45, %eax; xor %r9d, %r9d; mov %rbp, %rsi; mov 8(%rsp), %edi
        let long = [
            0xb8, 0x2d, 0, 0, 0, 0x45, 0x31, 0xc9, 0x48, 0x89, 0xee, 0x8b, 0x7c, 0x24, 0x08,
        ];
        assert_eq!(of(&long), Some(45));
        // mov $202, %eax; xor $0x80, %sil
        assert_eq!(
            of(&[0xb8, 0xca, 0, 0, 0, 0x40, 0x80, 0xf6, 0x80]),
            Some(202)
        );
        // mov %r9d, %eax
        assert_eq!(of(&[0x44, 0x89, 0xc8]), Some(209));
        // mov $7, %rax
        assert_eq!(of(&[0x48, 0xc7, 0xc0, 7, 0, 0, 0]), Some(7));
    }

    #[test]
    fn unknown_instructions_give_no_number() {
        // mov $45, %eax; mov %rdi, %rax; mov %rsi, %rdi
        let of_caller = [0xb8, 0x2d, 0, 0, 0, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7];
        assert_eq!(of(&of_caller), None);
        // mov $45, %r8d
        assert_eq!(of(&[0x41, 0xb8, 0x2d, 0, 0, 0]), None);
        // mov $45, %eax; call
        assert_eq!(of(&[0xb8, 0x2d, 0, 0, 0, 0xe8, 0, 0, 0, 0]), None);
        // mov $0x12345, %eax
        assert_eq!(of(&[0xb8, 0x45, 0x23, 1, 0]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn the_number_of_a_call_by_number_is_found() {
        use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
        static FOUND: AtomicBool = AtomicBool::new(false);
        extern "C" fn handler(_: c_int, _: *mut libc::siginfo_t, frame: *mut std::ffi::c_void) {
            // SAFETY: the kernel passes the signal's frame.
            let registers = Registers::of(unsafe { &*frame.cast() });
            // SAFETY: the next instruction is code of this program.
            let is_broken_off = unsafe { registers.is_broken_off() };
            if is_broken_off && super::of(&registers) == Some(libc::SYS_ppoll) {
                FOUND.store(true, SeqCst);
            }
        }
        // SAFETY: the handler has three arguments, and the calls have their arguments as the kernel expects them.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(libc::SIGURG, &raw const action, std::ptr::null_mut());
            let waiter = libc::pthread_self();
            let sender = std::thread::spawn(move || {
                while !FOUND.load(SeqCst) {
                    libc::pthread_kill(waiter, libc::SIGURG);
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            });
            // The kernel writes the remaining time here.
            let mut minute = [60_i64, 0];
            let arguments = [0, 0, (&raw mut minute).expose_provenance(), 0, 8, 0];
            assert_eq!(make(libc::SYS_ppoll, arguments), -1);
            assert_eq!(crate::system::masks::errno(), libc::EINTR);
            sender.join().unwrap();
        }
    }
}
