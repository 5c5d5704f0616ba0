//! The state that the kernel and the processor have of a thread, and how a rank (a thread of a team) keeps it when
//! another kernel thread (a worker) executes the rank.
//!
//! | state | whose | how a rank keeps it |
//! |---|---|---|
//! | general and vector registers, flags | the rank's | at a wait a call preserves them; at a cut (a signal makes the rank leave) the signal's frame has them |
//! | rounding modes, floating-point flags (MXCSR, x87, FPCR, FPSR, `fcsr`) | the rank's | [`enter`](super::switch::enter) exchanges them |
//! | thread pointer, GS base | the rank's | `enter` exchanges them |
//! | signal mask | the rank's | this library notes each change; a worker with another mask sets it |
//! | alternate signal stack | the rank's | the worker takes it off when the rank leaves, and sets it when the rank goes on |
//! | memory protection keys (PKRU) | the rank's | read when the rank leaves and set when it goes on, once the program has asked for a key |
//! | memory policy (`set_mempolicy`) | the rank's | likewise, once a thread has set one ([`policy`](super::policy)) |
//! | CPU number of `sched_getcpu` | the worker's | the rank has no area for it ([`parked`](super::parked)), so that the C library asks the kernel |
//! | user and group ids | the process's | [`setxid`](super::setxid) |
//! | matrix registers (AMX) | the rank's | no rank is cut once the program has asked for them; no call preserves them |
//! | `gettid`, CPU mask, nice value, scheduling policy, timer slack, thread name in the kernel | the worker's | |
//! | processor time of a thread (`CLOCK_THREAD_CPUTIME_ID`, `RUSAGE_THREAD`), `perf_event_open` | the worker's | |
//! | `setfsuid`, capabilities, seccomp filters, namespaces that one thread enters | the worker's | |
//! | pending signals that were sent to one thread, timers that signal one thread | the worker's | |
//! | robust lists, pointer of `set_tid_address` | the parked kernel thread's | |
//!
//! # Masks
//!
//! A worker does not read a rank's mask at each switch of ranks, since that would cost a system call. Instead, each
//! function that may change the mask is [replaced](super::interposed), and calls [`note`](super::current::note)
//! afterwards. After such a call, the worker reads the mask once more when the rank leaves: the caller may have been a
//! signal handler, and its return has then restored the old mask. A worker keeps the mask of its last rank. It sets the
//! mask of the next rank only if the two masks differ, so equal masks cost one comparison.
//!
//! A program may also change a mask by a system call without the C library, which is not noted. The handler that cuts a
//! rank finds such a change in the signal's frame, and a worker finds it before it sleeps. From then on, workers read
//! all state at each switch ([`CAREFUL`]). If the program's calls do not reach the functions of this library, because
//! the library was loaded late or linked against, workers read all state from the beginning.
//!
//! A worker has all signals blocked while it sleeps, and before its first rank. A worker that looks for a rank has the
//! mask of its last rank. Meanwhile that rank may change its mask on another worker: [`mask`](super::mask) has the
//! protocol for this. So if all threads of the program block a signal, all kernel threads of this library block it too.

use super::mask::{CHANGES, Mask};
use super::policy::{self, Policy};
use super::switch;
use crate::system::masks::{ALL, block_all, mask, set_mask};
use crate::system::next;
use manycore_platform::Native;
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};

/// Whether workers read masks and alternate stacks at each switch.
///
/// Relaxed, like all accesses here: a worker that sees the flag late reads late.
static CAREFUL: AtomicBool = AtomicBool::new(false);
/// How often threads that were not ranks may have changed their masks or stacks.
static BY_THREADS: AtomicU32 = AtomicU32::new(0);

/// The rank has called a function that may have changed its mask or stack.
const CHANGED: u8 = 1;
/// A signal's frame had another mask than the noted one. The other mask may be that of a signal handler.
const DOUBTED: u8 = 2;
/// The rank has an alternate stack.
const STACK: u8 = 4;

/// The kernel state of a rank. Only the worker that has taken the rank, or the rank itself while it runs, uses this.
pub(super) struct State {
    mask: Cell<u64>,
    odd: Cell<u8>,
    /// The protection keys. Known only if [`CAREFUL`] is set.
    keys: Cell<u32>,
    stack: Cell<libc::stack_t>,
    /// `None` if the rank has set no policy.
    policy: Cell<Option<&'static Policy>>,
    /// The value of [`BY_THREADS`] when the state was last read.
    seen: Cell<u32>,
}

const NO_STACK: libc::stack_t = libc::stack_t {
    ss_sp: std::ptr::null_mut(),
    ss_flags: libc::SS_DISABLE,
    ss_size: 0,
};

fn is_there(stack: &libc::stack_t) -> bool {
    stack.ss_flags & libc::SS_DISABLE == 0 && stack.ss_size > 0
}

fn is_within(stack: &libc::stack_t, address: usize) -> bool {
    is_there(stack) && address.wrapping_sub(stack.ss_sp as usize) < stack.ss_size
}

/// Whether ranks have protection keys.
fn has_keys() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(switch::has_keys)
}

impl State {
    /// The state of the calling thread.
    pub(super) fn of_thread() -> Self {
        let state = Self {
            mask: Cell::new(0),
            odd: Cell::new(0),
            keys: Cell::new(0),
            stack: Cell::new(NO_STACK),
            policy: Cell::new(None),
            seen: Cell::new(0),
        };
        state.ask();
        state
    }

    pub(super) fn mask(&self) -> u64 {
        self.mask.get()
    }

    /// Reads the calling thread's state from the kernel. The caller is the rank of this state.
    fn ask(&self) {
        self.mask.set(mask());
        self.has_stack(change_stack(None));
        self.ask_rest();
    }

    /// Reads the part of the state that the frame of a signal lacks.
    fn ask_rest(&self) {
        if has_keys() {
            // SAFETY: the processor has keys.
            self.keys.set(unsafe { switch::keys() });
        }
        self.policy.set(policy::ask());
    }

    fn has_stack(&self, stack: libc::stack_t) {
        self.stack.set(stack);
        let flag = if is_there(&stack) { STACK } else { 0 };
        self.odd.set(self.odd.get() & !STACK | flag);
    }

    /// Called after the calling rank may have changed its mask or its stack.
    pub(super) fn note(&self) {
        self.ask();
        self.will_change();
    }

    /// Called when the calling rank is about to change its mask by a jump that does not return.
    pub(super) fn will_change(&self) {
        self.odd.set(self.odd.get() | CHANGED);
    }

    /// The frame of a signal has another mask than the noted one.
    pub(super) fn doubt(&self) {
        self.odd.set(self.odd.get() | DOUBTED);
    }

    /// The rank is cut: it leaves in a signal handler. The signal's frame has this alternate stack. The kernel later
    /// restores the stack and the mask from the frame.
    pub(super) fn leaves_by_preemption(&self, stack: libc::stack_t) {
        self.has_stack(stack);
    }

    /// Whether the calling rank has the noted mask, and is not on an alternate stack. If so, it is probably not in a
    /// signal handler.
    pub(super) fn is_as_noted(&self) -> bool {
        self.is_noted(mask())
    }

    /// Like [`is_as_noted`](Self::is_as_noted). The caller has read its mask already: `mask`.
    pub(super) fn is_noted(&self, mask: u64) -> bool {
        let may_have_stack = self.odd.get() != 0 || CAREFUL.load(Relaxed);
        mask == self.mask.get()
            && !(may_have_stack && change_stack(None).ss_flags & libc::SS_ONSTACK != 0)
    }

    /// Returns `true` if the address `at` is on the rank's alternate stack, or on the alternate stack `framed` of a
    /// signal's frame.
    pub(super) fn is_on_stack(&self, framed: &libc::stack_t, at: usize) -> bool {
        is_within(framed, at) || is_within(&self.stack.get(), at)
    }

    /// Called when the leader begins a region. Reads the leader's state, if the state may have changed since the last
    /// region.
    pub(super) fn refresh(&self, is_another_thread: bool) {
        let changes = BY_THREADS.load(Relaxed);
        if self.seen.replace(changes) != changes || is_another_thread || CAREFUL.load(Relaxed) {
            self.ask();
        }
    }

    /// Gives the rank's state to the calling kernel thread, which is about to execute the rank. `has` is the mask of
    /// the kernel thread.
    #[inline]
    pub(super) fn put_on(&self, has: &Mask<Native>) {
        if self.mask.get() != has.get() || self.odd.get() != 0 || CAREFUL.load(Relaxed) {
            self.put_on_slowly(has);
        }
    }

    #[cold]
    fn put_on_slowly(&self, has: &Mask<Native>) {
        if CAREFUL.load(Relaxed) {
            policy::put_on(self.policy.get());
        }
        if CAREFUL.load(Relaxed) && has_keys() {
            // SAFETY: the processor has keys. All memory of this library has the first key, and no program forbids
            // itself the use of that key.
            unsafe {
                if switch::keys() != self.keys.get() {
                    switch::set_keys(self.keys.get());
                }
            }
        }
        // The stack is set before the mask: once the mask is set, a signal may come.
        if self.odd.get() & STACK != 0 {
            change_stack(Some(&self.stack.get()));
        }
        if self.mask.get() != has.get() {
            set_mask(self.mask.get());
            has.set(self.mask.get());
        }
    }

    /// Takes the rank's state off the calling kernel thread, after a cut or at a wait. No other worker executes the
    /// rank yet.
    #[inline]
    pub(super) fn take_off(&self, has: &Mask<Native>, was_preempted: bool) {
        if self.odd.get() != 0 || CAREFUL.load(Relaxed) {
            self.take_off_slowly(has, was_preempted);
        }
    }

    #[cold]
    fn take_off_slowly(&self, has: &Mask<Native>, was_preempted: bool) {
        let odd = self.odd.get();
        // After a cut the kernel restores the mask and the stack from the signal's frame.
        if !was_preempted && (odd & (CHANGED | DOUBTED) != 0 || CAREFUL.load(Relaxed)) {
            let noted = self.mask.get();
            self.ask();
            self.odd.set(self.odd.get() & STACK);
            if odd & CHANGED == 0 && noted != self.mask.get() {
                be_careful();
            }
            has.set(self.mask.get());
        } else if CAREFUL.load(Relaxed) {
            self.ask_rest();
        }
        // Another kernel thread will use the alternate stack, and no two threads may have the same one.
        if self.odd.get() & STACK != 0 {
            change_stack(Some(&NO_STACK));
        }
    }
}

/// From now on, workers read masks and stacks at each switch.
pub(super) fn be_careful() {
    CAREFUL.store(true, Relaxed);
}

/// Blocks all signals of the calling worker, which will execute no rank for some time.
pub(super) fn rest(has: &Mask<Native>) {
    has.rest(&CHANGES, ALL, || {
        if block_all() != has.get() {
            be_careful();
        }
    });
}

/// A thread that is not a rank may have changed its mask or its alternate stack.
pub(super) fn note_of_thread() {
    BY_THREADS.fetch_add(1, Relaxed);
}

fn change_stack(new: Option<&libc::stack_t>) -> libc::stack_t {
    let mut old = MaybeUninit::<libc::stack_t>::zeroed();
    let new = new.map_or(0, |new| std::ptr::from_ref(new) as usize);
    // SAFETY: the kernel reads and writes a structure, for which all zeros are valid. If a stack is set, it is the
    // rank's own.
    unsafe {
        next::syscall(
            libc::SYS_sigaltstack,
            [new, old.as_mut_ptr() as usize, 0, 0, 0, 0],
        );
        old.assume_init()
    }
}
