//! A worker's alarm: a timer whose signal makes a rank leave. [`preempt`](super::preempt) has the signal's handler.
//!
//! # Late and early
//!
//! On a virtual machine the signal comes some 17 us late, and setting the timer takes 8 us. Only 1 us of the lateness
//! is random. So the timer is set earlier, by the lateness measured so far. If the signal comes too early, the rank
//! leaves at once: to wait for the due time would gain nothing.

use super::costs::{LATE, SET};
use super::frame::Noted;
use super::{kernel_threads, signals};
use crate::system::masks::bit;
use crate::system::next;
use manycore_platform::{Native, Platform};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64};
use std::time::Duration;

/// The delay until the first retry, if a rank cannot leave. It doubles with each retry.
const AGAIN: Duration = Duration::from_micros(30);
/// The most retries.
const TRIES: u32 = 6;

/// See the module. The worker and its signal handler own the cells.
pub(super) struct Alarm {
    timer: Cell<Option<libc::timer_t>>,
    /// The kernel thread that the timer signals, and the timer's signal.
    thread: AtomicI32,
    signal: Cell<c_int>,
    /// When the rank is to leave. 0: never.
    pub(super) due: AtomicU64,
    /// When the timer ends. A signal that comes earlier was for another rank.
    pub(super) end: Cell<u64>,
    pub(super) tries: Cell<u32>,
    /// The number of rings since the handler last ran. If it is not 0, the kernel thread waits for a core.
    pub(super) rung: AtomicU32,
    /// The rank has the signal blocked.
    deaf: AtomicBool,
    /// The handler is continuing the rank's interrupted system call ([`restart`](super::restart)). The rank is blocked
    /// in that call, and no ring would change that.
    pub(super) blocked: AtomicBool,
    /// What the handler noted about the rank when another thread rang.
    pub(super) noted: Cell<Option<Noted>>,
    /// The handler made the rank leave. The kernel thread then has the signal blocked.
    pub(super) in_handler: Cell<bool>,
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

    /// Makes the timer for the calling kernel thread, which is the worker's.
    pub(super) fn make(&self, worker: *const c_void) {
        let Some(signal) = signals::current() else {
            return;
        };
        let thread = kernel_threads::number();
        let is_same = self.thread.load(Relaxed) == thread && self.signal.get() == signal;
        if is_same && self.timer.get().is_some() {
            return;
        }
        // SAFETY: the structures are the system's, and all zeros are valid.
        unsafe {
            if let Some(timer) = self.timer.take() {
                libc::timer_delete(timer);
            }
            let mut event: libc::sigevent = mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = signal;
            event.sigev_notify_thread_id = thread;
            event.sigev_value.sival_ptr = worker.cast_mut();
            let mut timer: libc::timer_t = mem::zeroed();
            let made = libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer);
            // Without a timer, ranks run to the barrier.
            self.timer.set((made == 0).then_some(timer));
        }
        self.signal.set(signal);
        // Relaxed: if a ring reads the old thread, that thread's handler finds that the signal is not its own.
        self.thread.store(thread, Relaxed);
    }

    /// A rank with this mask begins. Since the timer was made, the alarm's signal may have changed. The rank may also
    /// block that signal.
    #[inline]
    pub(super) fn begin(&self, worker: *const c_void, mask: u64) {
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

    /// The rank has this mask now. If the mask blocks the timer's signal, no such signal may stay pending: the rank
    /// might find it. That holds for an earlier signal number as well.
    pub(super) fn has_mask(&self, mask: u64) {
        let mine = self.signal.get();
        if mine != 0 && mask & bit(mine) != 0 {
            self.set_timer(0);
            signals::drain(mine);
        }
        self.hush(signals::is_blocked_in(mask));
    }

    /// Notes whether the rank blocks the signal. If it does, no alarm may come: the rank might wait for that signal
    /// itself.
    #[cold]
    fn hush(&self, is_deaf: bool) {
        // Relaxed: a ring that does not see the store sends a signal that is drained later, or has no effect.
        self.deaf.store(is_deaf, Relaxed);
        if is_deaf {
            self.set_timer(0);
            signals::current().inspect(|&signal| signals::drain(signal));
            self.rung.store(0, Relaxed);
        }
    }

    /// Makes the rank that begins now leave after this number of ticks. Returns the ticks that the call took.
    pub(super) fn set(&self, worker: *const c_void, now: u64, budget: u64) -> u64 {
        let signal = self.signal.get();
        // The program may have taken the signal's number for itself.
        if !next::is_preloaded() && signal != 0 {
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
        // If the program now uses the timer's signal itself, the next rank gets another timer.
        if signals::current() != Some(self.signal.get()) {
            return;
        }
        let ticks = ticks.max(Native::duration_to_ticks(Duration::from_micros(1)));
        self.end.set(Native::now() + ticks);
        self.set_timer(Native::ticks_to_ns(ticks) as i64);
    }

    /// Sets the timer to end after `ns`. 0: never.
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

    /// Makes the rank leave now. Another thread calls this, sometimes for a rank that has left already.
    pub(super) fn ring(&self, worker: *const c_void) {
        let (Some(signal), thread) = (signals::current(), self.thread.load(Relaxed)) else {
            return;
        };
        // Relaxed, as `rung` is: at worst the handler gets one ring too many.
        if self.blocked.load(Relaxed) || self.deaf.load(Relaxed) || thread == 0 {
            return;
        }
        // A signal without an answer waits in the kernel. More signals would fill the kernel's queue, but a single one
        // may be lost. So fewer and fewer signals are sent.
        if !(self.rung.fetch_add(1, Relaxed) + 1).is_power_of_two() {
            return;
        }
        // The kernel's layout: number, error, code, sender, value.
        #[repr(C)]
        struct Queued {
            head: [c_int; 6],
            value: *const c_void,
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

    /// The timer's signal as a mask. The mask is empty before the timer is made.
    pub(super) fn signal(&self) -> u64 {
        match self.signal.get() {
            0 => 0,
            signal => bit(signal),
        }
    }

    /// The kernel's number of the worker's thread. 0: not known yet. Relaxed: an estimate.
    pub(super) fn thread(&self) -> libc::pid_t {
        self.thread.load(Relaxed)
    }

    /// Whether the kernel thread has had no core since another thread rang. If it is blocked in the kernel, the signal
    /// interrupts the call, so it answers.
    pub(super) fn is_unanswered(&self) -> bool {
        self.rung.load(Relaxed) != 0
    }

    /// Notes that the handler is not continuing a system call: the rank has left, or has jumped out of a handler of the
    /// program's that interrupted this library's.
    pub(super) fn is_not_blocked(&self) {
        self.blocked.store(false, Relaxed);
    }

    /// The rank has left, by itself or by the alarm: the alarm is no longer due. Returns whether the handler made the
    /// rank leave; the alarm's signal is blocked then.
    pub(super) fn rank_has_left(&self) -> bool {
        self.due.store(0, Relaxed);
        self.noted.set(None);
        self.is_not_blocked();
        self.in_handler.replace(false)
    }

    /// Sets the alarm again, for a rank that cannot leave now.
    pub(super) fn put_off(&self, now: u64) {
        let tries = self.tries.get();
        if tries < TRIES {
            self.tries.set(tries + 1);
            self.wake_after(now, Native::duration_to_ticks(AGAIN) << tries);
        }
    }

    /// Sets the alarm for the rank that this worker executes. The alarm's handler calls this.
    pub(super) fn wake_after(&self, now: u64, delay: u64) {
        self.due.store(now + delay, Relaxed);
        self.start(delay);
    }
}
