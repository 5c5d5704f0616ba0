//! System calls that a signal of this library breaks off. The library sends such a signal (*ours*) to make a rank (a
//! thread of a team) leave its worker (a kernel thread).
//!
//! The kernel restarts most calls by itself. But it breaks off calls that have a time limit or a signal mask of their
//! own: a sleep, `poll`, `epoll_wait`, `recv` on a socket with a limit. A rank that sleeps for a second would find that
//! it slept for some milliseconds, or would get `EINTR` although the program has no handler. So our handler makes the
//! rest of the call, and the program gets the result of this rest.
//!
//! * If the kernel has kept the remaining time, the handler calls `restart_syscall`.
//! * The handler makes other calls once more, by their number ([`call_number`](super::call_number)) and with the
//!   arguments in the frame. `ppoll` and `pselect` have written the remaining time into their argument. `epoll_wait`
//!   and calls on sockets have not, so they last longer by the time before our signal, which is some milliseconds.
//!
//! # The program's own signals
//!
//! The program's signals break off the call, as they would without ours. Our handler has all signals blocked from its
//! first instruction. If the call has a signal mask, the call itself unblocks signals, and none is missed. Otherwise
//! the handler looks for a pending signal that the program does not ignore. If there is one, the program gets `EINTR`.
//! A signal may still come in the roughly 0.3 us between this look and the call. The program then sees what it would
//! see if the signal had come before the call.
//!
//! While a handler of the program blocks all signals, our signal waits until that handler returns. If the program's
//! signal had broken off a call, the frame looks as if ours had, and our handler makes the call once more. The two
//! cases differ only if the kernel has kept the remaining time.
//!
//! # What remains broken off
//!
//! Calls with an unknown number or outside [`kind`] remain broken off. On processors other than x86-64 the kernel has
//! overwritten the first argument, so our handler restarts only calls whose time the kernel has kept.

use super::alarm::Alarm;
use super::frame::Registers;
use super::signals;
use crate::system::masks::{self, errno, set_errno, set_mask};
use crate::system::next;
use std::ffi::c_long;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

/// How the handler makes the rest of a call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Kind {
    /// By `restart_syscall`.
    Kept,
    /// By the same call, whose mask is this argument.
    Masked(usize),
    /// By the same call. This argument is the address of a word with the mask's address.
    Indirect(usize),
    /// By another call, which takes a mask in this argument.
    As(c_long, usize),
    /// By `ppoll` on no files.
    Pause,
    /// By the same call.
    Plain,
}

/// A call that was broken off.
#[derive(Clone, Copy)]
pub(super) struct Call {
    kind: Kind,
    number: c_long,
    arguments: [usize; 6],
}

/// How the rest of a call is made, on x86-64.
#[cfg(target_arch = "x86_64")]
pub(super) fn kind(number: c_long, arguments: &[usize; 6]) -> Option<Kind> {
    Some(match number {
        libc::SYS_poll | libc::SYS_nanosleep | libc::SYS_futex => Kind::Kept,
        // A sleep until a given time needs no remaining time.
        libc::SYS_clock_nanosleep if arguments[1] == 0 => Kind::Kept,
        libc::SYS_ppoll => Kind::Masked(3),
        libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => Kind::Masked(4),
        libc::SYS_rt_sigsuspend => Kind::Masked(0),
        libc::SYS_epoll_wait => Kind::As(libc::SYS_epoll_pwait, 4),
        libc::SYS_pselect6 => Kind::Indirect(5),
        libc::SYS_pause => Kind::Pause,
        libc::SYS_select
        | libc::SYS_clock_nanosleep
        | libc::SYS_accept
        | libc::SYS_accept4
        | libc::SYS_connect
        | libc::SYS_recvfrom
        | libc::SYS_recvmsg
        | libc::SYS_recvmmsg
        | libc::SYS_sendto
        | libc::SYS_sendmsg
        | libc::SYS_sendmmsg
        | libc::SYS_read
        | libc::SYS_readv
        | libc::SYS_write
        | libc::SYS_writev
        | libc::SYS_msgrcv
        | libc::SYS_msgsnd
        | libc::SYS_semop
        | libc::SYS_semtimedop
        | libc::SYS_rt_sigtimedwait
        | libc::SYS_io_getevents => Kind::Plain,
        _ => return None,
    })
}

/// Whether the frame's signal has broken off a call that the kernel does not restart. If so, returns how to make the
/// rest of the call, or an inner `None` if the call stays broken off.
pub(super) fn broken_off(frame: &libc::ucontext_t) -> Option<Option<Call>> {
    // SAFETY: the address of the frame's next instruction is an address of code.
    unsafe { Registers::of(frame).is_broken_off() }.then(|| call(frame))
}

#[cfg(target_arch = "x86_64")]
fn call(frame: &libc::ucontext_t) -> Option<Call> {
    let registers = Registers::of(frame);
    let number = super::call_number::of(&registers)?;
    let arguments = registers.arguments();
    let kind = kind(number, &arguments)?;
    Some(Call {
        kind,
        number,
        arguments,
    })
}

/// On these processors the frame has the call's number, but not the first argument.
#[cfg(not(target_arch = "x86_64"))]
fn call(_frame: &libc::ucontext_t) -> Option<Call> {
    Some(Call {
        kind: Kind::Kept,
        number: 0,
        arguments: [0; 6],
    })
}

impl Call {
    /// Makes the rest of the call, and puts its result into the frame. The calling kernel thread made the first part of
    /// the call too.
    pub(super) fn go_on(self, alarm: &Alarm, frame: &mut libc::ucontext_t) {
        let error = errno();
        // SAFETY: the frame has the kernel's part of the mask, a word.
        let mask = unsafe { (&raw const frame.uc_sigmask).cast::<u64>().read() };
        alarm.blocked.store(true, Relaxed);
        let result = self.rest(mask, alarm.signal());
        alarm.blocked.store(false, Relaxed);
        set_errno(error);
        // A simulated kernel may lack `restart_syscall`.
        if let Some(result) = result.filter(|&result| result != -c_long::from(libc::ENOSYS)) {
            Registers::set_result(frame, result);
        }
    }

    /// Makes the rest of the call, and returns its result. The caller has all signals blocked, and had `mask` before.
    /// Returns `None` if a signal of the program is pending.
    fn rest(self, mask: u64, ours: u64) -> Option<c_long> {
        const SIZE: usize = size_of::<u64>();
        let open = mask | ours;
        let mut arguments = self.arguments;
        match self.kind {
            Kind::Kept | Kind::Plain if signals::is_heeded_in(masks::pending() & !open) => None,
            Kind::Kept => {
                set_mask(open);
                Some(make(libc::SYS_restart_syscall, [0; 6]))
            }
            Kind::Plain => {
                set_mask(open);
                Some(make(self.number, arguments))
            }
            Kind::Masked(at) => {
                let mask = of_program(arguments[at], open) | ours;
                (arguments[at], arguments[at + 1]) = (&raw const mask as usize, SIZE);
                Some(make(self.number, arguments))
            }
            Kind::Indirect(at) => {
                // SAFETY: null, or the address of a word of the program with its mask's address. The kernel has read
                // this word.
                let given =
                    unsafe { ptr::with_exposed_provenance::<usize>(arguments[at]).as_ref() };
                let mask = of_program(given.map_or(0, |&at| at), open) | ours;
                let both = [&raw const mask as usize, SIZE];
                arguments[at] = both.as_ptr() as usize;
                Some(make(self.number, arguments))
            }
            Kind::As(number, at) => {
                (arguments[at], arguments[at + 1]) = (&raw const open as usize, SIZE);
                Some(make(number, arguments))
            }
            Kind::Pause => {
                let arguments = [0, 0, 0, &raw const open as usize, SIZE, 0];
                Some(make(libc::SYS_ppoll, arguments))
            }
        }
    }
}

/// The program's mask at the address, or `otherwise` if the address is null.
fn of_program(address: usize, otherwise: u64) -> u64 {
    // SAFETY: the address is null, or that of a mask of the program. The kernel has read this mask.
    unsafe { ptr::with_exposed_provenance::<u64>(address).as_ref() }.map_or(otherwise, |&mask| mask)
}

/// Makes a call. Returns the kernel's result.
fn make(number: c_long, arguments: [usize; 6]) -> c_long {
    // SAFETY: this continues the thread's own call, with the program's arguments.
    match unsafe { next::syscall(number, arguments) } {
        -1 => -c_long::from(errno()),
        result => result,
    }
}
