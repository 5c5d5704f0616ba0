//! The alarm of a worker: a timer whose signal makes a rank (a thread of a team) leave the worker that executes it.
//! [`preempt`](super::preempt) has the signal's handler.
//!
//! # Late and early
//!
//! On a virtual machine the signal comes some 17 us late, and setting the timer takes 8 us. Only 1 us of the lateness
//! is random. So the timer is set earlier by the lateness that was measured so far. If the signal comes too early, the
//! rank leaves at once: to wait for the due time would gain nothing.

use super::costs::{LATE, SET};
use super::frame::Noted;
use super::signals;
use crate::system::clock::rest;
use crate::system::masks::bit;
use crate::system::next;
use crate::system::threads::number;
use manycore_platform::{Native, Platform};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64};
use std::time::Duration;

/// The delay until the first retry, if a rank cannot leave. The delay doubles with each retry.
const AGAIN: Duration = Duration::from_micros(30);
/// The most retries.
const TRIES: u32 = 6;

/// See the module. Only the worker and its signal handler use the cells.
pub(super) struct Alarm {
    timer: Cell<Option<libc::timer_t>>,
    /// The kernel thread that gets the timer's signal, and the signal's number.
    thread: AtomicI32,
    signal: Cell<c_int>,
    /// When the rank is to leave. 0 if the alarm is not set.
    pub(super) due: AtomicU64,
    /// The length of the timer, in ticks.
    length: Cell<u64>,
    /// When the timer ends.
    end: Cell<u64>,
    pub(super) tries: Cell<u32>,
    /// How often other threads have called [`ring`](Self::ring) since the handler last ran. If this is not 0, the
    /// kernel thread waits for a core.
    pub(super) rung: AtomicU32,
    /// Whether the rank has the signal blocked.
    deaf: AtomicBool,
    /// Whether the rank is blocked in an interrupted system call that the handler continues
    /// ([`restart`](super::restart)). No ring would change that.
    pub(super) blocked: AtomicBool,
    /// The notes of the handler about the rank, from the last ring by another thread.
    pub(super) noted: Cell<Option<Noted>>,
    /// Whether the handler made the rank leave. If so, the kernel thread has the signal blocked.
    pub(super) in_handler: Cell<bool>,
}

impl Alarm {
    pub(super) fn new() -> Self {
        Self {
            timer: Cell::new(None),
            thread: AtomicI32::new(0),
            signal: Cell::new(0),
            due: AtomicU64::new(0),
            length: Cell::new(0),
            end: Cell::new(0),
            tries: Cell::new(0),
            rung: AtomicU32::new(0),
            deaf: AtomicBool::new(false),
            blocked: AtomicBool::new(false),
            noted: Cell::new(None),
            in_handler: Cell::new(false),
        }
    }

    /// Makes the timer for the calling kernel thread, which is that of the worker.
    pub(super) fn make(&self, worker: *const c_void) {
        let Some(signal) = signals::current() else {
            return;
        };
        let thread = number();
        let is_same = self.thread.load(Relaxed) == thread && self.signal.get() == signal;
        if is_same && self.timer.get().is_some() {
            return;
        }
        // SAFETY: these are structures of the system, and all zeros are valid.
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
            // Without a timer, each rank runs to the barrier.
            self.timer.set((made == 0).then_some(timer));
        }
        self.signal.set(signal);
        // Relaxed: if a ring reads the old thread, that thread's handler finds that the signal is not its own.
        self.thread.store(thread, Relaxed);
    }

    /// Prepares the alarm for a rank with this signal mask. The alarm's signal may have changed since the timer was
    /// made, and the rank may block that signal.
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
    /// might find it. The same holds for an earlier number of the signal.
    pub(super) fn has_mask(&self, mask: u64) {
        let mine = self.signal.get();
        if mine != 0 && mask & bit(mine) != 0 {
            self.set_timer(0);
            signals::drain(mine);
        }
        self.hush(signals::is_blocked_in(mask));
    }

    /// Notes whether the rank blocks the signal. If it does, no alarm may come: the rank might itself wait for that
    /// signal.
    #[cold]
    fn hush(&self, is_deaf: bool) {
        // Relaxed: a thread that rings without seeing the store sends a signal that is drained later, or has no effect.
        self.deaf.store(is_deaf, Relaxed);
        if is_deaf {
            self.set_timer(0);
            signals::current().inspect(|&signal| signals::drain(signal));
            self.rung.store(0, Relaxed);
        }
    }

    /// Makes the rank that begins at `now` leave after `budget` ticks. Returns the ticks that this call took.
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
        self.due.store(now.saturating_add(budget), Relaxed);
        self.start(budget.saturating_sub(LATE.ticks()));
        // The kernel thread may have moved to a CPU with an earlier time.
        let took = Native::now().saturating_sub(now);
        SET.learn(took);
        took
    }

    /// Starts the timer, for this number of ticks.
    fn start(&self, ticks: u64) {
        // If the program now uses the timer's signal itself, the next rank gets another timer.
        if signals::current() != Some(self.signal.get()) {
            return;
        }
        let ticks = ticks.max(Native::duration_to_ticks(Duration::from_micros(1)));
        self.length.set(ticks);
        self.end.set(Native::now().saturating_add(ticks));
        self.set_timer(Native::ticks_to_ns(ticks) as i64);
    }

    /// Whether the rank is to leave, now that the timer's signal has come. A signal that comes early was for another
    /// rank, or the timer's clock is faster than the processor's counter. Then the timer is set for the rest.
    pub(super) fn has_ended(&self, now: u64) -> bool {
        if self.due.load(Relaxed) == 0 {
            return false;
        }
        let rest = rest(self.length.get(), self.end.get(), now);
        rest.inspect(|&rest| self.start(rest)).is_none()
    }

    /// Sets the timer to end after `ns`. 0 stops it.
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
        // SAFETY: the timer belongs to this worker.
        unsafe { libc::timer_settime(timer, 0, &raw const time, ptr::null_mut()) };
    }

    /// Makes the worker's rank leave now. Another thread calls this, sometimes after the rank has left.
    pub(super) fn ring(&self, worker: *const c_void) {
        let (Some(signal), thread) = (signals::current(), self.thread.load(Relaxed)) else {
            return;
        };
        // Relaxed, like the accesses to `rung`: at worst the handler gets one signal too many.
        if self.blocked.load(Relaxed) || self.deaf.load(Relaxed) || thread == 0 {
            return;
        }
        // An unanswered signal waits in the kernel. A signal for each ring would fill the kernel's queue, but a single
        // one may be lost. So signals become rarer.
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

    /// A mask with the timer's signal, or an empty mask before the timer is made.
    pub(super) fn signal(&self) -> u64 {
        match self.signal.get() {
            0 => 0,
            signal => bit(signal),
        }
    }

    /// The kernel's number of the worker's thread, or 0 if it is not known yet. Relaxed: this is an estimate.
    pub(super) fn thread(&self) -> libc::pid_t {
        self.thread.load(Relaxed)
    }

    /// Whether the kernel thread has had no core since another thread rang. A thread that is blocked in the kernel
    /// answers: the signal interrupts its system call.
    pub(super) fn is_unanswered(&self) -> bool {
        self.rung.load(Relaxed) != 0
    }

    /// Notes that the handler is not continuing a system call. Either the rank has left, or it has jumped out of a
    /// handler of the program that had interrupted the alarm's handler.
    pub(super) fn is_not_blocked(&self) {
        self.blocked.store(false, Relaxed);
    }

    /// Notes that the rank has left, by itself or by the alarm. Returns whether the handler made the rank leave. If so,
    /// the alarm's signal is blocked.
    pub(super) fn rank_has_left(&self) -> bool {
        self.due.store(0, Relaxed);
        self.noted.set(None);
        self.is_not_blocked();
        self.in_handler.replace(false)
    }

    /// Sets the alarm again, since the rank cannot leave now.
    pub(super) fn put_off(&self, now: u64) {
        let tries = self.tries.get();
        if tries < TRIES {
            self.tries.set(tries + 1);
            self.wake_after(now, Native::duration_to_ticks(AGAIN) << tries);
        }
    }

    /// Sets the alarm for the rank that this worker executes. The alarm's handler calls this.
    pub(super) fn wake_after(&self, now: u64, delay: u64) {
        self.due.store(now.saturating_add(delay), Relaxed);
        self.start(delay);
    }
}
