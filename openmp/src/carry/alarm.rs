//! A worker's alarm: a timer whose signal makes a rank leave, at whatever instruction it is.
//!
//! The handler runs on the rank's stack, above the frame in which the kernel has saved all registers.
//! It goes to the worker as any rank does that waits; whichever worker takes the rank
//! again returns from the handler there, and the kernel restores the registers. The frame restores the signal mask
//! and the alternate stack as well, which are the rank's ([`state`](super::state)).
//!
//! # When a rank leaves
//!
//! * Its next instruction is in the program's own code ([`code`]): not in a library that
//!   has locks, nor here. So the worker is not on its own stack either.
//! * It is not at a system call that goes on in the handler ([`calls`]).
//! * It has no lock of OpenMP's.
//! * The signals are blocked that the rank is known to have blocked. In a handler of the program's
//!   others are.
//! * It is not on an alternate stack. A handler of the program's may run there with no more signals blocked.
//! * It has not used the matrix registers (AMX): a kernel thread that has not used them does not restore them.
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

use super::frame::{Registers, has_matrices};
use super::state::{bit, errno, set_errno};
use super::typical::Typical;
use super::waits::Machine;
use super::worker::Worker;
use super::{calls, code, division, interposed, kernel, next, signals};
use manycore_platform::{Native, Platform};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64};
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
    /// The kernel thread that it is made for, and the timer's signal.
    thread: AtomicI32,
    signal: Cell<c_int>,
    /// When the rank is to leave; 0: not at all.
    due: AtomicU64,
    /// When the timer ends: a signal that comes before was for another rank.
    end: Cell<u64>,
    tries: Cell<u32>,
    /// How often the handler was called by a ring and has not run since: the kernel thread waits for a core.
    rung: AtomicU32,
    /// The rank has the signal blocked.
    deaf: AtomicBool,
    /// The handler goes on with a system call: the rank is blocked, and no ring would change that.
    blocked: AtomicBool,
    /// The rank's registers when somebody rang, and the kernel thread's time, in ns.
    noted: Cell<Option<(Registers, i64)>>,
    /// The rank has left in the handler, so that the signal is blocked.
    in_handler: Cell<bool>,
}

impl Alarm {
    pub(super) fn new() -> Self {
        Self {
            timer: Cell::new(None),
            thread: AtomicI32::new(0),
            signal: Cell::new(0),
            due: AtomicU64::new(0),
            end: Cell::new(0),
            tries: Cell::new(0),
            rung: AtomicU32::new(0),
            deaf: AtomicBool::new(false),
            blocked: AtomicBool::new(false),
            noted: Cell::new(None),
            in_handler: Cell::new(false),
        }
    }

    /// Makes it for the calling kernel thread, which is the worker's.
    pub(super) fn make(&self, worker: *const Worker) {
        let Some(signal) = signals::current() else {
            return;
        };
        let thread = kernel::number();
        let is_same = self.thread.load(Relaxed) == thread && self.signal.get() == signal;
        if is_same && self.timer.get().is_some() {
            return;
        }
        // SAFETY: structures of the system's, all zeros are valid ones.
        unsafe {
            if let Some(timer) = self.timer.take() {
                libc::timer_delete(timer);
            }
            let mut event: libc::sigevent = mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = signal;
            event.sigev_notify_thread_id = thread;
            event.sigev_value.sival_ptr = worker.cast_mut().cast();
            let mut timer: libc::timer_t = mem::zeroed();
            let made = libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer);
            // Without one, ranks run to the barrier.
            self.timer.set((made == 0).then_some(timer));
        }
        self.signal.set(signal);
        // Relaxed: a ring that reads the thread before reaches a handler that finds the signal is not its own.
        self.thread.store(thread, Relaxed);
    }

    /// A rank with this mask begins. The alarm may have another signal by now, or the rank may have it blocked.
    #[inline]
    pub(super) fn begin(&self, worker: *const Worker, mask: u64) {
        let (current, mine) = (signals::current(), self.signal.get());
        if mine != 0 && current.is_some_and(|current| current != mine) {
            self.set_timer(0);
            self.make(worker);
        }
        let is_deaf = signals::is_blocked_in(mask);
        if is_deaf || self.deaf.load(Relaxed) {
            self.hush(is_deaf);
        }
    }

    /// The rank has this mask now. No alarm is to wait where the rank may find it, also of a signal of before.
    pub(super) fn has_mask(&self, mask: u64) {
        let mine = self.signal.get();
        if mine != 0 && mask & bit(mine) != 0 {
            self.set_timer(0);
            signals::drain(mine);
        }
        self.hush(signals::is_blocked_in(mask));
    }

    /// Whether the rank has the signal blocked. If it has, none is to come, which the rank might wait for.
    #[cold]
    fn hush(&self, is_deaf: bool) {
        // Relaxed: a ring that does not see it sends a signal that is taken later, or never heard.
        self.deaf.store(is_deaf, Relaxed);
        if is_deaf {
            self.set_timer(0);
            signals::current().inspect(|&signal| signals::drain(signal));
            self.rung.store(0, Relaxed);
        }
    }

    /// The rank that begins now is to leave after so many ticks. Returns how long it took to say so.
    pub(super) fn set(&self, worker: *const Worker, now: u64, budget: u64) -> u64 {
        let signal = self.signal.get();
        // The program may have taken the signal's number for itself.
        if !interposed::are_effective() && signal != 0 {
            signals::check(signal);
        }
        if signals::current() != Some(signal) {
            self.make(worker);
        }
        if self.deaf.load(Relaxed) || signals::current() != Some(self.signal.get()) {
            return 0;
        }
        self.tries.set(0);
        self.due.store(now + budget, Relaxed);
        self.start(budget.saturating_sub(LATE.ticks()));
        let took = Native::now() - now;
        SET.learn(took);
        took
    }

    /// Sets the timer.
    fn start(&self, ticks: u64) {
        // The program has use for the timer's signal; the next rank gets another timer.
        if signals::current() != Some(self.signal.get()) {
            return;
        }
        let ticks = ticks.max(Native::duration_to_ticks(Duration::from_micros(1)));
        self.end.set(Native::now() + ticks);
        self.set_timer(Native::ticks_to_ns(ticks) as i64);
    }

    /// The timer ends after `ns`; 0: never.
    fn set_timer(&self, ns: i64) {
        let Some(timer) = self.timer.get() else {
            return;
        };
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
        let (Some(signal), thread) = (signals::current(), self.thread.load(Relaxed)) else {
            return;
        };
        // Relaxed, as `rung` is: a ring too many is one that the handler finds later.
        if self.blocked.load(Relaxed) || self.deaf.load(Relaxed) || thread == 0 {
            return;
        }
        // A signal without an answer waits in the kernel. More signals would fill its queue, but a signal may be lost. So fewer and fewer are sent.
        if !(self.rung.fetch_add(1, Relaxed) + 1).is_power_of_two() {
            return;
        }
        // As the kernel has it: number, error, code, sender, value.
        #[repr(C)]
        struct Queued {
            head: [c_int; 6],
            value: *const Worker,
            rest: [u64; 12],
        }
        // SAFETY: the system reads the structure.
        unsafe {
            let process = libc::getpid();
            let user = libc::getuid().cast_signed();
            let info = Queued {
                head: [signal, 0, libc::SI_QUEUE, 0, process, user],
                value: worker,
                rest: [0; 12],
            };
            let arguments = [
                process as usize,
                thread as usize,
                signal as usize,
                &raw const info as usize,
                0,
                0,
            ];
            next::syscall(libc::SYS_rt_tgsigqueueinfo, arguments);
        }
    }

    /// Whether the kernel thread has had no core since somebody rang. One that is blocked answers.
    pub(super) fn is_unanswered(&self) -> bool {
        self.rung.load(Relaxed) != 0
    }

    /// No handler goes on with a call, whatever was said before: the rank has left, or has jumped out of a handler of its
    /// own that interrupted ours.
    pub(super) fn is_not_blocked(&self) {
        self.blocked.store(false, Relaxed);
    }

    /// The rank has left, by itself or not: what is due is so no more. Returns whether the handler made
    /// it leave: its signal is blocked then.
    pub(super) fn rank_has_left(&self) -> bool {
        self.due.store(0, Relaxed);
        self.noted.set(None);
        self.is_not_blocked();
        self.in_handler.replace(false)
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
pub(super) extern "C" fn handler(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's description of the signal, and the frame that it restores.
    let (info, frame) = unsafe { (&mut *info, &mut *context.cast::<libc::ucontext_t>()) };
    let Some(worker) = signals::worker_of(info) else {
        return signals::pass_on(signal, info, context);
    };
    let by_timer = info.si_code == libc::SI_TIMER;
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
    alarm.rung.store(0, Relaxed);
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
    // SAFETY: the frame has the kernel's part of the mask, a word.
    let mask = unsafe { (&raw const frame.uc_sigmask).cast::<u64>().read() };
    let has_other_mask = mask != rank.state.mask();
    if has_other_mask {
        rank.state.doubt();
    }
    let is_elsewhere = broken_off
        || !code::is_programs(registers.at)
        || rank.state.is_on_stack(&frame.uc_stack, registers.stack());
    if is_elsewhere || rank.held.get() > 0 || has_other_mask || has_matrices(frame) {
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
    rank.state.leaves_by_cut(frame.uc_stack);
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
}
