//! Replacements for functions of the C library that change a thread's state in the kernel
//! ([`thread_state`](super::thread_state)) or use a signal's number ([`signals`](super::signals)). A program that
//! starts with this library preloaded calls these functions. Each of them calls the C library's function, and notes the
//! change.

#[cfg(target_arch = "x86_64")]
use super::call_number::make;
use super::current::{note, rank};
use super::rank::Rank;
use super::thread_state::be_careful;
use super::{blocking, pending, pins, policy, setxid, signals};
use crate::system::masks::{bit, errno};
#[cfg(not(target_arch = "x86_64"))]
use crate::system::next::syscall as make;
use crate::system::next::{self, Next};
use crate::system::threads::number;
use std::ffi::{c_int, c_long, c_uint, c_void};
use std::mem;
use std::ptr;
use std::time::Instant;

/// The signals in a program's set, in the kernel's form.
fn signals_in(set: *const libc::sigset_t) -> u64 {
    // SAFETY: the caller passes a set, or null. The kernel uses only the first word of a set.
    unsafe { set.cast::<u64>().as_ref() }.map_or(0, |&set| set)
}

/// Declares functions of the C library, by their names.
macro_rules! nexts {
    ($($function:ident = $name:literal;)*) => {
        $(static $function: Next = Next::new($name);)*

        /// Finds all these functions in advance: signal handlers may call some of them, and must not ask the loader.
        pub(super) fn find() {
            $($function.find();)*
            next::note_whether_preloaded(c"pthread_sigmask", pthread_sigmask as *const c_void);
        }
    };
}

nexts! {
    LONGJMP_CHK = c"__longjmp_chk";
    OLD_SYSV_SIGNAL = c"__sysv_signal";
    SHORT_LONGJMP = c"_longjmp";
    BSD_SIGNAL = c"bsd_signal";
    LONGJMP = c"longjmp";
    PKEY_ALLOC = c"pkey_alloc";
    PTHREAD_KILL = c"pthread_kill";
    PTHREAD_SIGQUEUE = c"pthread_sigqueue";
    PTHREAD_SIGMASK = c"pthread_sigmask";
    SETCONTEXT = c"setcontext";
    SIGALTSTACK = c"sigaltstack";
    SIGBLOCK = c"sigblock";
    SIGHOLD = c"sighold";
    SIGLONGJMP = c"siglongjmp";
    SIGNAL = c"signal";
    SIGNALFD = c"signalfd";
    SIGPROCMASK = c"sigprocmask";
    SIGRELSE = c"sigrelse";
    SIGSETMASK = c"sigsetmask";
    SIGTIMEDWAIT = c"sigtimedwait";
    SWAPCONTEXT = c"swapcontext";
    SYSV_SIGNAL = c"sysv_signal";
}

/// The C library's function, with its type.
macro_rules! next {
    ($function:ident as $type:ty) => {{
        // SAFETY: the C library's function of this name has this type.
        unsafe { mem::transmute::<*mut c_void, $type>($function.get()) }
    }};
}

/// Defines functions for programs. If a thread is cancelled while it waits for a signal, the C library unwinds the
/// frames of these functions.
macro_rules! define {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block)*) => {
        $(
            $(#[$attribute])*
            // Tests call the C library's functions.
            #[cfg_attr(not(any(test, miri)), unsafe(no_mangle))]
            #[cfg_attr(any(test, miri), allow(dead_code))]
            extern "C-unwind" fn $name($($argument: $type),*) $(-> $result)? $body
        )*
    };
}

type Change = extern "C" fn(c_int, *const libc::sigset_t, *mut libc::sigset_t) -> c_int;

fn change_mask(
    next: Change,
    how: c_int,
    new: *const libc::sigset_t,
    old: *mut libc::sigset_t,
) -> c_int {
    if !new.is_null() && how != libc::SIG_UNBLOCK {
        signals::avoid(signals_in(new));
    }
    let result = next(how, new, old);
    if !new.is_null() {
        note();
    }
    result
}

// Functions that change masks and alternate stacks.
define! {
    fn pthread_sigmask(how: c_int, new: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int {
        change_mask(next!(PTHREAD_SIGMASK as Change), how, new, old)
    }

    fn sigprocmask(how: c_int, new: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int {
        change_mask(next!(SIGPROCMASK as Change), how, new, old)
    }

    fn sigaltstack(new: *const libc::stack_t, old: *mut libc::stack_t) -> c_int {
        let next = next!(SIGALTSTACK as extern "C" fn(*const libc::stack_t, *mut libc::stack_t) -> c_int);
        let result = next(new, old);
        if !new.is_null() {
            note();
        }
        result
    }

    fn sighold(signal: c_int) -> c_int {
        if (1..65).contains(&signal) {
            signals::avoid(bit(signal));
        }
        let result = next!(SIGHOLD as extern "C" fn(c_int) -> c_int)(signal);
        note();
        result
    }

    fn sigrelse(signal: c_int) -> c_int {
        let result = next!(SIGRELSE as extern "C" fn(c_int) -> c_int)(signal);
        note();
        result
    }

    fn sigblock(mask: c_int) -> c_int {
        let old = next!(SIGBLOCK as extern "C" fn(c_int) -> c_int)(mask);
        note();
        old
    }

    fn sigsetmask(mask: c_int) -> c_int {
        let old = next!(SIGSETMASK as extern "C" fn(c_int) -> c_int)(mask);
        note();
        old
    }

    /// A program may make a system call in place of the functions above.
    fn syscall(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long {
        match number {
            libc::SYS_set_mempolicy => {
                policy::will_change();
                be_careful();
            }
            libc::SYS_rt_sigaction => {
                if let Some(result) = raw_action(a as c_int, b as *const usize, c as *mut usize) {
                    return result.into();
                }
            }
            libc::SYS_gettid => note_number(),
            libc::SYS_futex => blocking::will_wait_at(a as *const u32, b, c as u32),
            _ => {}
        }
        if let Some(result) = pins::raw(number, [a, b, c, d, e, f]) {
            return result;
        }
        // SAFETY: the caller promises what this call requires.
        let result = unsafe { make(number, [a, b, c, d, e, f]) };
        match number {
            libc::SYS_rt_sigprocmask | libc::SYS_sigaltstack | libc::SYS_set_mempolicy => {
                note();
            }
            libc::SYS_pkey_alloc => be_careful(),
            _ => {}
        }
        result
    }

    /// The library notes no changes of protection keys. After this call, workers read the keys at each switch of ranks.
    fn pkey_alloc(flags: c_uint, rights: c_uint) -> c_int {
        be_careful();
        next!(PKEY_ALLOC as extern "C" fn(c_uint, c_uint) -> c_int)(flags, rights)
    }
}

define! {
    fn pthread_kill(thread: libc::pthread_t, signal: c_int) -> c_int {
        let result = next!(PTHREAD_KILL as extern "C" fn(libc::pthread_t, c_int) -> c_int)(thread, signal);
        was_sent(thread, signal, result);
        result
    }

    fn pthread_sigqueue(thread: libc::pthread_t, signal: c_int, value: libc::sigval) -> c_int {
        let next = next!(PTHREAD_SIGQUEUE as extern "C" fn(libc::pthread_t, c_int, libc::sigval) -> c_int);
        let result = next(thread, signal, value);
        was_sent(thread, signal, result);
        result
    }
}

/// If the signal was sent (`result` is 0), summons the rank of `thread` (a thread of a team) to its own kernel thread,
/// where the signal waits. A caller that signals itself is not summoned: the C library sends that signal to the kernel
/// thread that executes the caller.
fn was_sent(thread: libc::pthread_t, signal: c_int, result: c_int) {
    // SAFETY: the call has no arguments.
    if result == 0 && signal != 0 && thread != unsafe { libc::pthread_self() } {
        Rank::summon(thread);
    }
}

/// Notes that the caller asks for the number of its kernel thread. From then on the program may send signals to that
/// thread.
fn note_number() {
    if rank().is_some() {
        pending::number_is_asked_for();
    }
}

define! {
    fn gettid() -> libc::pid_t {
        note_number();
        number()
    }
}

/// Notes that the caller is about to jump. The target may restore another mask, and the jump may leave a signal
/// handler.
fn will_jump() {
    if let Some(rank) = rank() {
        rank.state.will_change();
        rank.worker().alarm.is_not_blocked();
    }
}

type Jump = extern "C" fn(*mut c_void, c_int) -> !;

// Functions that jump.
define! {
    fn longjmp(to: *mut c_void, value: c_int) -> ! {
        will_jump();
        next!(LONGJMP as Jump)(to, value)
    }

    fn _longjmp(to: *mut c_void, value: c_int) -> ! {
        will_jump();
        next!(SHORT_LONGJMP as Jump)(to, value)
    }

    fn siglongjmp(to: *mut c_void, value: c_int) -> ! {
        will_jump();
        next!(SIGLONGJMP as Jump)(to, value)
    }

    fn __longjmp_chk(to: *mut c_void, value: c_int) -> ! {
        will_jump();
        next!(LONGJMP_CHK as Jump)(to, value)
    }

    fn setcontext(to: *const libc::ucontext_t) -> c_int {
        will_jump();
        next!(SETCONTEXT as extern "C" fn(*const libc::ucontext_t) -> c_int)(to)
    }

    fn swapcontext(from: *mut libc::ucontext_t, to: *const libc::ucontext_t) -> c_int {
        will_jump();
        let next = next!(SWAPCONTEXT as extern "C" fn(*mut libc::ucontext_t, *const libc::ucontext_t) -> c_int);
        next(from, to)
    }
}

type Wait = extern "C-unwind" fn(
    *const libc::sigset_t,
    *mut libc::siginfo_t,
    *const libc::timespec,
) -> c_int;

fn nanoseconds(time: &libc::timespec) -> u128 {
    time.tv_sec as u128 * 1_000_000_000 + time.tv_nsec as u128
}

fn timespec(nanoseconds: u128) -> libc::timespec {
    libc::timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanoseconds % 1_000_000_000) as c_long,
    }
}

/// Waits for a signal in `set`, for at most `timeout` in sum. Ignores signals of this library's [alarms](super::alarm).
fn wait(
    set: *const libc::sigset_t,
    info: *mut libc::siginfo_t,
    mut timeout: *const libc::timespec,
) -> c_int {
    signals::avoid(signals_in(set));
    let next = next!(SIGTIMEDWAIT as Wait);
    // SAFETY: all zeros are a valid `siginfo_t`.
    let mut got: libc::siginfo_t = unsafe { mem::zeroed() };
    // SAFETY: the caller passes the address of a time, or null.
    let limit = unsafe { timeout.as_ref() }.map(nanoseconds);
    let began = Instant::now();
    let mut left;
    loop {
        let result = next(set, &raw mut got, timeout);
        // If this holds, an alarm for this kernel thread came while the caller blocked its signal.
        if result > 0 && signals::addressee(&got).is_some() {
            if let Some(limit) = limit {
                left = timespec(limit.saturating_sub(began.elapsed().as_nanos()));
                timeout = &raw const left;
            }
            continue;
        }
        if !info.is_null() {
            // SAFETY: the caller passes the address of a structure.
            unsafe { info.write(got) };
        }
        return result;
    }
}

type Set = extern "C" fn(c_int, *const libc::sigset_t, c_int) -> c_int;

// Functions that wait for signals.
define! {
    fn sigtimedwait(set: *const libc::sigset_t, info: *mut libc::siginfo_t, timeout: *const libc::timespec) -> c_int {
        wait(set, info, timeout)
    }

    fn sigwaitinfo(set: *const libc::sigset_t, info: *mut libc::siginfo_t) -> c_int {
        wait(set, info, ptr::null())
    }

    fn sigwait(set: *const libc::sigset_t, signal: *mut c_int) -> c_int {
        loop {
            let result = wait(set, ptr::null_mut(), ptr::null());
            if result > 0 {
                // SAFETY: the caller passes the address of a number.
                unsafe { signal.write(result) };
                return 0;
            }
            match errno() {
                // A handler that ran does not make `sigwait` fail.
                libc::EINTR => {}
                error => return error,
            }
        }
    }

    fn signalfd(file: c_int, set: *const libc::sigset_t, flags: c_int) -> c_int {
        signals::avoid(signals_in(set));
        next!(SIGNALFD as Set)(file, set, flags)
    }
}

/// Sets the program's handler for a signal that this library uses. `flags` are the flags that `signal`, `bsd_signal` or
/// `sysv_signal` implies. Returns `None` for other signals.
fn set_handler(signal: c_int, handler: usize, flags: c_int) -> Option<usize> {
    // SAFETY: all zeros are a valid `sigaction`.
    let (mut new, mut old): (libc::sigaction, libc::sigaction) =
        unsafe { (mem::zeroed(), mem::zeroed()) };
    new.sa_sigaction = handler;
    new.sa_flags = flags;
    let result = signals::programs_action(signal, &raw const new, &raw mut old)?;
    Some(if result == 0 {
        old.sa_sigaction
    } else {
        libc::SIG_ERR
    })
}

/// Does the system call `rt_sigaction` for a signal that this library uses. Returns `None` for other signals. The
/// kernel's structure has a handler, flags, on most processors the address that a handler returns to, and the set of
/// signals that are blocked in the handler.
fn raw_action(signal: c_int, new: *const usize, old: *mut usize) -> Option<c_int> {
    // SAFETY: all zeros are a valid `sigaction`. The caller's structures have the kernel's layout, or are null.
    unsafe {
        let (mut action, mut before): (libc::sigaction, libc::sigaction) =
            (mem::zeroed(), mem::zeroed());
        let given = if new.is_null() {
            ptr::null()
        } else {
            &raw const action
        };
        if !new.is_null() {
            action.sa_sigaction = new.read();
            action.sa_flags = new.add(1).read() as c_int;
            let set = (&raw mut action.sa_mask).cast::<usize>();
            set.write(new.add(setxid::BLOCKED).read());
        }
        let result = signals::programs_action(signal, given, &raw mut before)?;
        if !old.is_null() {
            old.write(before.sa_sigaction);
            old.add(1).write(before.sa_flags as usize);
            let set = (&raw const before.sa_mask).cast::<usize>();
            old.add(setxid::BLOCKED).write(set.read());
        }
        Some(result)
    }
}

type Signal = extern "C" fn(c_int, usize) -> usize;
const SYSTEM_V: c_int = libc::SA_RESETHAND | libc::SA_NODEFER;

// Functions that set actions.
define! {
    fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
        signals::programs_action(signal, new, old).unwrap_or_else(|| signals::action(signal, new, old))
    }

    fn signal(signal: c_int, handler: usize) -> usize {
        set_handler(signal, handler, libc::SA_RESTART)
            .unwrap_or_else(|| next!(SIGNAL as Signal)(signal, handler))
    }

    fn bsd_signal(signal: c_int, handler: usize) -> usize {
        set_handler(signal, handler, libc::SA_RESTART)
            .unwrap_or_else(|| next!(BSD_SIGNAL as Signal)(signal, handler))
    }

    fn sysv_signal(signal: c_int, handler: usize) -> usize {
        set_handler(signal, handler, SYSTEM_V)
            .unwrap_or_else(|| next!(SYSV_SIGNAL as Signal)(signal, handler))
    }

    fn __sysv_signal(signal: c_int, handler: usize) -> usize {
        set_handler(signal, handler, SYSTEM_V)
            .unwrap_or_else(|| next!(OLD_SYSV_SIGNAL as Signal)(signal, handler))
    }
}
