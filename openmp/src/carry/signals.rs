//! The signal by which an [alarm](super::alarm) makes a rank (a thread of a team) leave its worker, and programs that
//! use the number of this signal.
//!
//! Real-time signals have no meaning of their own. When this module chooses one, the program has no handler for it, and
//! no thread blocks it. The program may use the number later:
//!
//! * The program blocks the number, or waits for it, by a set that lacks other real-time numbers. Then this module
//!   chooses another number, and never uses the old one again. If the set has all real-time numbers, the number stays,
//!   and a rank that blocks it is not *cut* (made to leave).
//! * It sets an action other than the default. Then this module chooses another number too. Our handler stays installed
//!   for the old number, since one of our signals may still be pending. For other signals our handler calls the
//!   program's function.
//! * It sends a signal with the number. Our handler follows the program's action for it. Without an action, the signal
//!   ends the program.
//!
//! A signal is *ours* if it reaches the kernel thread of a worker and carries the address of this worker
//! ([`kernel_threads`]). Until that is known, the handler reads nothing at the address.

use super::kernel_threads;
use crate::system::masks::{self, bit};
use crate::system::next::{self, Next};
use crate::system::threads::number;
use crate::words::lock::Guarded;
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::Read;
use std::mem;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

/// The number of the signal, or 0 if there is none. Relaxed: a signal with an earlier number of this module is ours as
/// well.
static CURRENT: AtomicI32 = AtomicI32::new(0);
/// The signals for which our handler is installed in the kernel.
static OURS: AtomicU64 = AtomicU64::new(0);
/// The signals that the program uses.
static AVOIDED: AtomicU64 = AtomicU64::new(0);

/// The program's actions for the signals in [`OURS`]. Zeros stand for the default action.
static ACTIONS: Guarded<[libc::sigaction; 65]> = Guarded::new(
    // SAFETY: the fields are numbers or addresses that may be null.
    unsafe { mem::MaybeUninit::zeroed().assume_init() },
);
/// The functions and flags of [`ACTIONS`], for our handler.
static HANDLERS: [AtomicUsize; 65] = [const { AtomicUsize::new(libc::SIG_DFL) }; 65];
static FLAGS: [AtomicU32; 65] = [const { AtomicU32::new(0) }; 65];

/// Our handler, and the address of worker 0. Relaxed: [`choose`] writes both before it installs the handler.
static HANDLER: AtomicUsize = AtomicUsize::new(0);
static LEADERS: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

type Sigaction = unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
pub(super) type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Calls `sigaction` of the C library.
pub(super) fn action(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: the C library's function has this type. The pointers are null, or the caller vouches for them.
    unsafe { mem::transmute::<*mut c_void, Sigaction>(SIGACTION.get())(signal, new, old) }
}

static SIGACTION: Next = Next::new(c"sigaction");

/// Finds `sigaction` of the C library. The loader calls this before the first function of the program.
pub(super) fn find() {
    SIGACTION.find();
}

/// The signal that makes a rank leave, if there is one.
pub(super) fn current() -> Option<c_int> {
    let signal = CURRENT.load(Relaxed);
    (signal != 0).then_some(signal)
}

/// Whether this mask blocks the signal.
#[inline]
pub(super) fn is_blocked_in(mask: u64) -> bool {
    current().is_some_and(|signal| mask & bit(signal) != 0)
}

fn real_time() -> u64 {
    (libc::SIGRTMIN()..=libc::SIGRTMAX()).fold(0, |set, signal| set | bit(signal))
}

/// Chooses a signal, if there is none yet and ranks are to be cut. `handler` makes ranks leave. `leaders` is the
/// address of worker 0.
pub(super) fn choose(handler: Handler, leaders: *const c_void) {
    HANDLER.store(handler as *const () as usize, Relaxed);
    LEADERS.store(leaders.cast_mut(), Relaxed);
    if !crate::environment::settings().cuts {
        return;
    }
    if let Some(signal) = current() {
        check(signal);
    }
    if current().is_none() {
        AVOIDED.fetch_or(blocked_anywhere() & real_time(), Relaxed);
        move_on(0, 0);
    }
}

/// Whether a signal in `set` would have an effect: the program has a handler, or the signal's default is to end or stop
/// the program.
pub(super) fn is_heeded_in(set: u64) -> bool {
    const IGNORED: [c_int; 4] = [libc::SIGCHLD, libc::SIGCONT, libc::SIGURG, libc::SIGWINCH];
    (1..65)
        .filter(|&signal| set & bit(signal) != 0)
        .any(|signal| {
            let known = || HANDLERS[signal as usize].load(Relaxed);
            let is_ours = OURS.load(Relaxed) & bit(signal) != 0;
            match if is_ours { known() } else { handler_of(signal) } {
                libc::SIG_IGN => false,
                libc::SIG_DFL => !IGNORED.contains(&signal),
                _ => true,
            }
        })
}

/// The kernel's handler for a signal.
fn handler_of(signal: c_int) -> usize {
    // SAFETY: all zeros are a valid `sigaction`.
    let mut now: libc::sigaction = unsafe { mem::zeroed() };
    action(signal, ptr::null(), &raw mut now);
    now.sa_sigaction
}

/// Chooses a signal other than `from` that is not in `others`. If there is no such signal, ranks are no longer cut.
fn move_on(from: c_int, others: u64) {
    let not = others | AVOIDED.load(Relaxed);
    let all = (libc::SIGRTMIN()..=libc::SIGRTMAX()).rev();
    let found = all
        .filter(|&signal| not & bit(signal) == 0 && signal != from)
        .find(|&signal| install(signal));
    _ = CURRENT.compare_exchange(from, found.unwrap_or(0), Relaxed, Relaxed);
}

/// Installs our handler for a signal, if the signal has no handler. Returns whether it was installed.
fn install(signal: c_int) -> bool {
    if OURS.load(Relaxed) & bit(signal) != 0 {
        return false;
    }
    // SAFETY: these are structures of the system, and all zeros are valid. The handler has three arguments.
    unsafe {
        let mut old: libc::sigaction = mem::zeroed();
        if action(signal, ptr::null(), &raw mut old) != 0 || old.sa_sigaction != libc::SIG_DFL {
            return false;
        }
        OURS.fetch_or(bit(signal), Relaxed);
        let mut new: libc::sigaction = mem::zeroed();
        new.sa_sigaction = HANDLER.load(Relaxed);
        new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        (&raw mut new.sa_mask)
            .cast::<u64>()
            .write(masks::blocked_in_handler());
        action(signal, &raw const new, ptr::null_mut()) == 0
    }
}

/// Returns whether the kernel still has our handler for the signal. If not, the program has bypassed the functions of
/// this library, and this function chooses another signal.
pub(super) fn check(signal: c_int) -> bool {
    let is_ours = handler_of(signal) == HANDLER.load(Relaxed);
    if !is_ours {
        OURS.fetch_and(!bit(signal), Relaxed);
        AVOIDED.fetch_or(bit(signal), Relaxed);
        move_on(signal, 0);
    }
    is_ours
}

/// Called when the program blocks the signals in `set`, or waits for them.
pub(super) fn avoid(set: u64) {
    let Some(now) = current().filter(|&now| set & bit(now) != 0) else {
        return;
    };
    if real_time() & !set != 0 {
        AVOIDED.fetch_or(set & real_time(), Relaxed);
        move_on(now, set);
    }
}

/// The signals that any thread of the process blocks now.
fn blocked_anywhere() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let of_task = |path: std::path::PathBuf| {
        // The system does not know the file's length, and `take` keeps the standard library from asking.
        let mut text = Vec::with_capacity(4096);
        let file = File::open(path.join("status")).ok()?;
        file.take(1 << 20).read_to_end(&mut text).ok()?;
        // The thread's name need not be UTF-8.
        let lines = text.split(|&byte| byte == b'\n');
        let line = { lines }.find_map(|line| line.strip_prefix(b"SigBlk:"))?;
        let mask = u64::from_str_radix(str::from_utf8(line).ok()?.trim(), 16).ok()?;
        // This library's own threads block all signals.
        (mask & masks::ALL != masks::ALL).then_some(mask)
    };
    tasks
        .flatten()
        .filter_map(|task| of_task(task.path()))
        .fold(masks::mask(), |all, mask| all | mask)
}

/// Does what `sigaction` does, for a signal in [`OURS`]: reads and sets the program's action. Returns `None` for other
/// signals.
pub(super) fn programs_action(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> Option<c_int> {
    let is_ours = (1..65).contains(&signal) && OURS.load(Relaxed) & bit(signal) != 0;
    is_ours.then(|| {
        // A signal handler may call this function.
        masks::with_signals_blocked(|| {
            ACTIONS.with(|actions| {
                let known = &mut actions[signal as usize];
                // SAFETY: the caller passes addresses of structures, or null.
                let (new, old) = unsafe { (new.as_ref().copied(), old.as_mut()) };
                if let Some(old) = old {
                    *old = *known;
                }
                new.map_or(0, |new| {
                    *known = new;
                    set(signal, new)
                })
            })
        })
    })
}

fn set(signal: c_int, new: libc::sigaction) -> c_int {
    if new.sa_sigaction != libc::SIG_DFL {
        AVOIDED.fetch_or(bit(signal), Relaxed);
        if current() == Some(signal) {
            move_on(signal, 0);
        }
    }
    HANDLERS[signal as usize].store(new.sa_sigaction, Relaxed);
    FLAGS[signal as usize].store(new.sa_flags.cast_unsigned(), Relaxed);
    let mut kernels = new;
    match new.sa_sigaction {
        // A pending alarm with this number is obsolete, and may be ignored as well.
        libc::SIG_IGN => {}
        _ => {
            kernels.sa_sigaction = HANDLER.load(Relaxed);
            kernels.sa_flags = (new.sa_flags & !libc::SA_RESETHAND) | libc::SA_SIGINFO;
        }
    }
    if new.sa_sigaction == libc::SIG_DFL {
        kernels.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
    }
    action(signal, &raw const kernels, ptr::null_mut())
}

/// The address that a signal carries, if a timer or `sigqueue` has sent the signal.
fn value(info: &libc::siginfo_t) -> Option<*const c_void> {
    let is_either = info.si_code == libc::SI_TIMER || info.si_code == libc::SI_QUEUE;
    // SAFETY: such signals carry a value.
    is_either.then(|| unsafe { info.si_value().sival_ptr }.cast_const())
}

/// The address of the calling kernel thread's worker, if the signal carries that address. If so, the signal is ours.
pub(super) fn addressee(info: &libc::siginfo_t) -> Option<*const c_void> {
    value(info).filter(|&worker| kernel_threads::is_of(worker))
}

/// Whether the signal was an alarm for worker 0, which now runs on the kernel thread of another leader.
fn is_stray(info: &libc::siginfo_t) -> bool {
    value(info)
        .is_some_and(|worker| !worker.is_null() && worker == LEADERS.load(Relaxed).cast_const())
}

/// Follows the program's action for a signal that is not ours.
pub(super) fn pass_on(signal: c_int, info: &mut libc::siginfo_t, context: *mut c_void) {
    if is_stray(info) {
        return;
    }
    let handler = HANDLERS[signal as usize].load(Relaxed);
    let flags = FLAGS[signal as usize].load(Relaxed).cast_signed();
    match handler {
        libc::SIG_DFL => end_by(signal, info),
        libc::SIG_IGN => {}
        _ => {
            if flags & libc::SA_RESETHAND != 0 {
                HANDLERS[signal as usize].store(libc::SIG_DFL, Relaxed);
            }
            // SAFETY: the function is the program's handler. A handler with one parameter ignores the other arguments.
            unsafe { mem::transmute::<usize, Handler>(handler)(signal, info, context) }
        }
    }
}

/// Makes the signal end the process when the handler returns.
fn end_by(signal: c_int, info: &mut libc::siginfo_t) {
    // SAFETY: these are structures of the system. A process may send itself any signal that it has received.
    unsafe {
        let new: libc::sigaction = mem::zeroed();
        action(signal, &raw const new, ptr::null_mut());
        next::syscall(
            libc::SYS_rt_tgsigqueueinfo,
            [
                libc::getpid() as usize,
                number() as usize,
                signal as usize,
                ptr::from_mut(info) as usize,
                0,
                0,
            ],
        );
    }
}

/// Removes our pending signals of this number. The calling kernel thread has the number blocked.
pub(super) fn drain(signal: c_int) {
    let (set, at_once, error) = (bit(signal), [0_i64; 2], masks::errno());
    // SAFETY: the kernel reads the set and the time, and writes the signal's description.
    unsafe {
        let mut foreign = None;
        loop {
            let mut info: libc::siginfo_t = mem::zeroed();
            let arguments = [
                &raw const set as usize,
                &raw mut info as usize,
                at_once.as_ptr() as usize,
                size_of::<u64>(),
                0,
                0,
            ];
            if next::syscall(libc::SYS_rt_sigtimedwait, arguments) <= 0 {
                break;
            }
            if addressee(&info).is_none() && !is_stray(&info) {
                foreign = Some(info);
                break;
            }
        }
        // A signal that is not ours is sent again, to the process. This module does not know if it was sent to this
        // thread alone.
        if let Some(info) = foreign {
            let arguments = [
                libc::getpid() as usize,
                signal as usize,
                &raw const info as usize,
                0,
                0,
                0,
            ];
            next::syscall(libc::SYS_rt_sigqueueinfo, arguments);
        }
    }
    masks::set_errno(error);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_not_heeded() {
        find();
        assert!(!is_heeded_in(0));
        assert!(!is_heeded_in(bit(libc::SIGCHLD) | bit(libc::SIGCONT)));
        assert!(is_heeded_in(bit(libc::SIGCHLD) | bit(libc::SIGTERM)));
        // SAFETY: this process uses the signal for nothing else.
        unsafe { libc::signal(libc::SIGUSR2, libc::SIG_IGN) };
        assert!(!is_heeded_in(bit(libc::SIGUSR2)));
        // SAFETY: likewise.
        unsafe { libc::signal(libc::SIGUSR2, libc::SIG_DFL) };
        assert!(is_heeded_in(bit(libc::SIGUSR2)));
    }
}
