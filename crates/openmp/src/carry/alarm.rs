//! A worker's alarm: a timer whose signal makes a rank leave, at whatever instruction it is.
//!
//! The handler runs on the rank's stack, above the frame in which the kernel has saved all registers.
//! It goes to the worker as any rank does that waits; whichever worker takes the rank
//! again returns from the handler there, and the kernel restores the registers. What such a frame
//! restores of the kernel thread as well, its signal mask and its alternate stack, is exchanged for what
//! the new thread has.
//!
//! # When a rank leaves
//!
//! * Its next instruction is in the program's own code ([`code`]): not in a library that
//!   has locks, nor here. So the worker is not on its own stack either.
//! * It is not at a system call that goes on in the handler ([`calls`]).
//! * It has no lock of OpenMP's.
//! * The signals are blocked that the thread had blocked before. In a handler of the program's
//!   they are not.
//!
//! Otherwise the alarm is set again, later each time, and after some times no more.
//!
//! # Ranks that spin
//!
//! The handler follows the rank's next instructions by hand ([`waits`](super::waits)). A rank that only waits for
//! memory leaves with this as its condition. Where it has instructions that are not known, and another
//! thread has rung since the worker has stalled, the handler notes the rank's registers and looks again a
//! little later. A loop that computes has changed one; a loop that waits for a word of memory has not.
//! Time that another process had does not count.
//!
//! # Late and early
//!
//! On a virtual machine the signal comes some 17 us late, and setting the timer takes 8. Only 1 us of
//! the lateness is chance, so the timer is set early by what it was late before. Neither the handler nor the
//! rank waits: leaving a little too soon costs as much as waiting.

use super::frame::Registers;
use super::rank::Rank;
use super::typical::Typical;
use super::waits::Machine;
use super::worker::Worker;
use super::{calls, code, division};
use manycore_platform::{Native, Platform};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::{self, MaybeUninit};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

/// How late signals are: so much earlier the timer is set.
static LATE: Typical = Typical::at_first(Duration::from_micros(15));
/// How long it takes to set the timer.
static SET: Typical = Typical::at_first(Duration::from_micros(8));
/// The first delay where a rank cannot leave; it doubles each time.
const AGAIN: Duration = Duration::from_micros(30);
/// How often it is tried.
const TRIES: u32 = 6;

/// Between two looks at a rank that may spin.
const LOOK: Duration = Duration::from_micros(40);

/// What a cut takes of a worker's time, in ticks: to set the timer, its interrupt and the signal. It is as if
/// the rank were interrupted for as long as the signal is late.
pub(super) fn cost() -> u64 {
    SET.ticks() + LATE.ticks()
}

/// The part of it that comes after the timer was set.
pub(super) fn lateness() -> u64 {
    LATE.ticks()
}

/// See the module. Its worker's, and its handler's.
pub(super) struct Alarm {
    timer: Cell<Option<libc::timer_t>>,
    /// The kernel thread that it is made for.
    thread: Cell<libc::pid_t>,
    /// When the rank is to leave; 0: not at all.
    due: AtomicU64,
    /// When the timer ends: a signal that comes before was for another rank.
    end: Cell<u64>,
    tries: Cell<u32>,
    /// Somebody has rung, and the handler has not run since: the kernel thread waits for a core.
    rung: AtomicBool,
    /// The handler goes on with a system call: the rank is blocked, and no ring would change that.
    blocked: AtomicBool,
    /// The rank's registers when somebody rang, and the kernel thread's time, in ns.
    noted: Cell<Option<(Registers, i64)>>,
    /// The rank has left in the handler, so that the signal is blocked.
    in_handler: Cell<bool>,
    /// What the kernel thread has blocked, and its alternate stack.
    mask: Cell<u64>,
    alternate: Cell<libc::stack_t>,
}

/// The signal; `None` if all that could be are in use, or cuts are switched off.
fn signal() -> Option<c_int> {
    static SIGNAL: OnceLock<Option<c_int>> = OnceLock::new();
    *SIGNAL.get_or_init(|| {
        let wanted = crate::environment::settings().cuts;
        let all = (libc::SIGRTMIN()..=libc::SIGRTMAX()).rev();
        all.filter(|_| wanted).find(|&signal| install(signal))
    })
}

/// Takes a signal that nobody has.
fn install(signal: c_int) -> bool {
    // SAFETY: structures of the system's, all zeros are valid ones; the handler is a function for
    // three arguments.
    unsafe {
        let mut old: libc::sigaction = mem::zeroed();
        if libc::sigaction(signal, ptr::null(), &raw mut old) != 0
            || old.sa_sigaction != libc::SIG_DFL
        {
            return false;
        }
        let mut new: libc::sigaction = mem::zeroed();
        new.sa_sigaction = handler as *const () as usize;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigaction(signal, &raw const new, ptr::null_mut()) == 0
    }
}

/// Lets the signal come.
fn unblock(signal: c_int) {
    // SAFETY: a set of the system's.
    unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        libc::sigaddset(&raw mut set, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, ptr::null_mut());
    }
}

/// The calling thread's alternate stack.
fn alternate() -> libc::stack_t {
    let mut alternate = MaybeUninit::<libc::stack_t>::zeroed();
    // SAFETY: a structure of the system's, all zeros are a valid one.
    unsafe {
        libc::sigaltstack(ptr::null(), alternate.as_mut_ptr());
        alternate.assume_init()
    }
}

/// The signals that the calling thread has blocked.
fn blocked() -> u64 {
    // SAFETY: a set of the system's; the kernel's part of one is its first word.
    unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), &raw mut set);
        ptr::from_ref(&set).cast::<u64>().read()
    }
}

impl Alarm {
    pub(super) fn new() -> Self {
        Self {
            timer: Cell::new(None),
            thread: Cell::new(0),
            due: AtomicU64::new(0),
            end: Cell::new(0),
            tries: Cell::new(0),
            rung: AtomicBool::new(false),
            blocked: AtomicBool::new(false),
            noted: Cell::new(None),
            in_handler: Cell::new(false),
            mask: Cell::new(0),
            // SAFETY: numbers and a pointer.
            alternate: Cell::new(unsafe { mem::zeroed() }),
        }
    }

    /// Notes the signals that the calling kernel thread, the worker's, has blocked, and its alternate stack.
    pub(super) fn observe(&self) {
        self.mask.set(blocked());
        self.alternate.set(alternate());
    }

    /// Whether the calling kernel thread, the worker's, has the same signals blocked as then, and is not on its
    /// alternate stack.
    pub(super) fn may_leave(&self) -> bool {
        blocked() == self.mask.get() && alternate().ss_flags & libc::SS_ONSTACK == 0
    }

    /// Makes it for the calling kernel thread, which is the worker's.
    pub(super) fn make(&self, worker: &'static Worker) {
        let signal = signal().inspect(|&signal| unblock(signal));
        self.observe();
        let Some(signal) = signal else { return };
        // SAFETY: structures of the system's, all zeros are valid ones.
        unsafe {
            let thread = libc::gettid();
            if self.thread.replace(thread) == thread {
                return;
            }
            if let Some(timer) = self.timer.take() {
                libc::timer_delete(timer);
            }
            let mut event: libc::sigevent = mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = signal;
            event.sigev_notify_thread_id = thread;
            event.sigev_value.sival_ptr = ptr::from_ref(worker).cast_mut().cast();
            let mut timer: libc::timer_t = mem::zeroed();
            let made = libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer);
            // Without one, ranks run to the barrier.
            self.timer.set((made == 0).then_some(timer));
        }
    }

    /// The rank that begins now is to leave after so many ticks. Returns how long it took to say so.
    pub(super) fn set(&self, now: u64, budget: u64) -> u64 {
        self.tries.set(0);
        self.due.store(now + budget, Relaxed);
        self.start(budget.saturating_sub(LATE.ticks()));
        let took = Native::now() - now;
        SET.learn(took);
        took
    }

    /// Sets the timer.
    fn start(&self, ticks: u64) {
        let Some(timer) = self.timer.get() else {
            return;
        };
        let ticks = ticks.max(Native::duration_to_ticks(Duration::from_micros(1)));
        self.end.set(Native::now() + ticks);
        let ns = Native::ticks_to_ns(ticks) as i64;
        let time = libc::itimerspec {
            it_interval: libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: libc::timespec {
                tv_sec: ns / 1_000_000_000,
                tv_nsec: ns % 1_000_000_000,
            },
        };
        // SAFETY: this worker's timer.
        unsafe { libc::timer_settime(timer, 0, &raw const time, ptr::null_mut()) };
    }

    /// The rank is to leave now. Called by another thread, and late if it must be.
    pub(super) fn ring(&self, worker: &'static Worker) {
        let (Some(signal), thread) = (signal(), self.thread.get()) else {
            return;
        };
        // Relaxed, as `rung` is: a ring too many is one that the handler finds later.
        if self.blocked.load(Relaxed) {
            return;
        }
        // As the kernel has it: number, error, code, sender, value.
        #[repr(C)]
        struct Queued {
            head: [c_int; 6],
            value: *const Worker,
            rest: [u64; 12],
        }
        self.rung.store(true, Relaxed);
        // SAFETY: the system reads the structure.
        unsafe {
            let process = libc::getpid();
            let user = libc::getuid().cast_signed();
            let info = Queued {
                head: [signal, 0, libc::SI_QUEUE, 0, process, user],
                value: worker,
                rest: [0; 12],
            };
            libc::syscall(
                libc::SYS_rt_tgsigqueueinfo,
                process,
                thread,
                signal,
                &raw const info,
            );
        }
    }

    /// Whether the kernel thread has had no core since somebody rang. One that is blocked answers.
    pub(super) fn is_unanswered(&self) -> bool {
        self.rung.load(Relaxed)
    }

    /// The rank has left, by itself or not: what is due is so no more. Returns whether the handler made
    /// it leave.
    pub(super) fn rank_has_left(&self) -> bool {
        self.due.store(0, Relaxed);
        self.noted.set(None);
        let cut = self.in_handler.replace(false);
        if cut {
            signal().inspect(|&signal| unblock(signal));
        }
        cut
    }

    /// Tries again later.
    fn put_off(&self, now: u64) {
        let tries = self.tries.get();
        if tries < TRIES {
            self.tries.set(tries + 1);
            self.wake_after(now, Native::duration_to_ticks(AGAIN) << tries);
        }
    }

    /// Sets the alarm for the rank that is executed, from its handler.
    fn wake_after(&self, now: u64, delay: u64) {
        self.due.store(now + delay, Relaxed);
        self.start(delay);
    }
}

/// How long this kernel thread has been executed, in ns.
fn thread_time() -> i64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes the time.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Nothing here may lock, allocate or wait, but for what the rank itself was waiting for.
extern "C" fn handler(_: c_int, info: *mut libc::siginfo_t, frame: *mut c_void) {
    // SAFETY: the kernel's description of the signal, and the frame that it restores.
    let (info, frame) = unsafe { (&*info, &mut *frame.cast::<libc::ucontext_t>()) };
    let by_timer = info.si_code == libc::SI_TIMER;
    if !by_timer && info.si_code != libc::SI_QUEUE {
        return;
    }
    // SAFETY: the value that both senders give; workers live for ever.
    let worker = unsafe { &*info.si_value().sival_ptr.cast::<Worker>() };
    let broken_off = calls::is_broken_off(frame);
    look(worker, by_timer, broken_off, frame);
    if broken_off {
        // The rank has not left: the worker is its own.
        worker.alarm.blocked.store(true, Relaxed);
        calls::go_on(frame);
        worker.alarm.blocked.store(false, Relaxed);
    }
}

/// The worker's rank leaves, if it is to and can.
fn look(worker: &'static Worker, by_timer: bool, broken_off: bool, frame: &mut libc::ucontext_t) {
    let alarm = &worker.alarm;
    alarm.rung.store(false, Relaxed);
    // SAFETY: ranks live for ever.
    let Some(rank) = (unsafe { worker.current.load(Relaxed).as_ref() }) else {
        return;
    };
    let now = Native::now();
    if by_timer {
        let due = alarm.due.load(Relaxed);
        if due == 0 || now < alarm.end.get() {
            return;
        }
        if alarm.tries.get() == 0 && alarm.noted.get().is_none() {
            LATE.learn((now + LATE.ticks()).saturating_sub(due));
        }
    }
    let (registers, machine) = (Registers::of(frame), Machine::of(frame));
    let mask = (&raw mut frame.uc_sigmask).cast::<u64>();
    // SAFETY: the frame has the kernel's part of the mask, a word.
    let blocked = unsafe { mask.read() };
    let is_elsewhere = broken_off || !code::is_programs(registers.at);
    if is_elsewhere || rank.held.get() > 0 || blocked != alarm.mask.get() {
        alarm.put_off(now);
        return;
    }
    let (waits, revoked) = (machine.waits(), worker.is_revoked());
    match alarm.noted.take() {
        _ if waits => {
            division::of_hall().inspect(|it| it.found_waiting(!by_timer));
        }
        None if !by_timer && !revoked => {
            alarm.noted.set(Some((registers, thread_time())));
            return alarm.wake_after(now, Native::duration_to_ticks(LOOK));
        }
        Some((noted, then))
            if noted.spin_until(&registers)
                && thread_time() - then > LOOK.as_nanos() as i64 / 2 =>
        {
            division::of_hall().inspect(|it| it.found_waiting(true));
        }
        _ => {}
    }
    if !revoked {
        division::of_hall().inspect(|it| it.end_turn());
    }
    alarm.alternate.set(frame.uc_stack);
    let error = errno();
    alarm.in_handler.set(true);
    if waits {
        rank.unrung.set(true);
        rank.leave_until(&|| !machine.waits());
        rank.unrung.set(false);
    } else {
        rank.wait_once(None);
    }
    set_errno(error);
    let alarm = &current_worker(rank).alarm;
    frame.uc_stack = alarm.alternate.get();
    // SAFETY: as above.
    unsafe { mask.write(alarm.mask.get()) };
}

fn current_worker(rank: &Rank) -> &'static Worker {
    // SAFETY: workers live for ever; the rank is executed by this one.
    unsafe { &*rank.worker.get() }
}

/// The rank's: by the thread pointer, which is the rank's wherever it runs.
#[inline(never)]
fn errno() -> c_int {
    // SAFETY: the C library's word of this thread.
    unsafe { *libc::__errno_location() }
}

#[inline(never)]
fn set_errno(error: c_int) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = error };
}
