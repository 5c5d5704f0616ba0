//! System calls that a signal of ours breaks off.
//!
//! The kernel begins most calls again by itself. It does not where a call has a time limit or a signal mask of its own: a sleep, `poll`,
//! `epoll_wait`, `recv` on a socket with a limit. A program that sleeps for a second in a rank would find that
//! it has slept for some milliseconds, or would see `EINTR` without a handler of its own. So our handler makes the rest of the call, and the
//! program sees that call's result.
//!
//! * Where the kernel has kept the time that is left, its `restart_syscall` goes on.
//! * Other calls are made once more, by their number ([`call_number`](super::call_number)) with the arguments that the frame has.
//!   `ppoll` and `pselect` have written the time that is left into their argument. `epoll_wait` and sockets have not: such a call lasts
//!   longer by the time until our signal came, some milliseconds.
//!
//! # The program's own signals
//!
//! They break off the call, as they would without ours. Our handler has all signals blocked from its first instruction. It
//! opens them by the call itself where the call has a mask: no signal is lost then. Otherwise it looks whether a signal waits, and leaves
//! `EINTR` to the program if one does. A signal may come between this look and the call, in some 0.3 us. The
//! program then sees what it would see if the signal had come before the call.
//!
//! A signal of ours may have waited until a handler of the program's returned, since that handler
//! blocks all signals. If this handler had broken off a call, the frame looks the same, and the
//! call is made once more. The kernel tells the two cases apart only if it has kept the time.
//!
//! # What remains broken off
//!
//! Calls with an unknown number, and calls that are not in [`kind`]. On other processors than
//! x86-64 the kernel has overwritten the first argument, and only calls of the first kind go on.

use super::alarm::Alarm;
use super::frame::Registers;
use crate::system::masks::{self, errno, set_errno, set_mask};
use crate::system::next;
use std::ffi::c_long;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

/// How a call goes on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Kind {
    /// By `restart_syscall`.
    Kept,
    /// By the same call. This argument is its mask.
    Masked(usize),
    /// The same, and this argument is the address of the mask's address.
    Indirect(usize),
    /// By another call, which takes a mask in this argument.
    As(c_long, usize),
    /// By `ppoll` for nothing.
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

/// Calls on x86-64.
#[cfg(target_arch = "x86_64")]
pub(super) fn kind(number: c_long, arguments: &[usize; 6]) -> Option<Kind> {
    Some(match number {
        libc::SYS_poll | libc::SYS_nanosleep | libc::SYS_futex => Kind::Kept,
        // Until a time: nothing needs to be kept.
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

/// Whether the frame's signal has broken off a call that the kernel does not begin again, and how the call goes on. The inner `None`: not at
/// all.
pub(super) fn broken_off(frame: &libc::ucontext_t) -> Option<Option<Call>> {
    // SAFETY: the frame's next instruction, and so the one before it, is code.
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

/// The number is there, and the first argument is not.
#[cfg(not(target_arch = "x86_64"))]
fn call(_frame: &libc::ucontext_t) -> Option<Call> {
    Some(Call {
        kind: Kind::Kept,
        number: 0,
        arguments: [0; 6],
    })
}

impl Call {
    /// Makes the rest of the call, and puts its result into the frame. The calling kernel thread is
    /// the same as in the first part of the call.
    pub(super) fn go_on(self, alarm: &Alarm, frame: &mut libc::ucontext_t) {
        let error = errno();
        // SAFETY: the frame has the kernel's part of the mask, a word.
        let mask = unsafe { (&raw const frame.uc_sigmask).cast::<u64>().read() };
        alarm.blocked.store(true, Relaxed);
        let result = self.rest(mask, alarm.signal());
        alarm.blocked.store(false, Relaxed);
        set_errno(error);
        // A simulated kernel may not have `restart_syscall`.
        if let Some(result) = result.filter(|&result| result != -c_long::from(libc::ENOSYS)) {
            Registers::set_result(frame, result);
        }
    }

    /// The result of the call's rest; the caller has all signals blocked, and had `mask` before. `None`: a signal of the program's has come.
    fn rest(self, mask: u64, ours: u64) -> Option<c_long> {
        const SIZE: usize = size_of::<u64>();
        let open = mask | ours;
        let mut arguments = self.arguments;
        match self.kind {
            Kind::Kept | Kind::Plain if masks::pending() & !open != 0 => None,
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
                // SAFETY: the program's address of its mask's address, or null; the kernel has read it.
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

/// The mask at the address, if the program has given one.
fn of_program(address: usize, otherwise: u64) -> u64 {
    // SAFETY: a mask of the program's, or null; the kernel has read it.
    unsafe { ptr::with_exposed_provenance::<u64>(address).as_ref() }.map_or(otherwise, |&mask| mask)
}

/// Makes a call; its result as the kernel gives it.
fn make(number: c_long, arguments: [usize; 6]) -> c_long {
    // SAFETY: goes on with this thread's last call; its arguments are the program's.
    match unsafe { next::syscall(number, arguments) } {
        -1 => -c_long::from(errno()),
        result => result,
    }
}
