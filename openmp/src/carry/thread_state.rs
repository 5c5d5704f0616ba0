//! A rank takes along what the kernel keeps for a thread beside its registers.
//!
//! | what | whose | how |
//! |---|---|---|
//! | general and vector registers, flags | the rank's | at a wait a call preserves them; at a cut the signal's frame has them |
//! | rounding modes, floating-point flags (MXCSR, x87, FPCR, FPSR, `fcsr`) | the rank's | [`enter`](super::switch::enter) exchanges them |
//! | thread pointer, GS base | the rank's | the same |
//! | signal mask | the rank's | noted where the rank changes it; the worker sets it where it has another |
//! | alternate signal stack | the rank's | the worker takes it off when the rank leaves, and sets it when the rank goes on |
//! | memory protection keys (PKRU) | the rank's | read when the rank leaves and set when it goes on, once the program has asked for a key |
//! | memory policy (`set_mempolicy`) | the rank's | the same, once a thread has set one ([`policy`](super::policy)) |
//! | CPU number of `sched_getcpu` | right | the rank has no area for it ([`parked`](super::parked)), so that the C library asks the kernel |
//! | user and group ids | the process's | [`setxid`](super::setxid) |
//! | matrix registers (AMX) | the rank's | a rank that has used them is not cut; no call preserves them |
//! | `gettid`, CPU mask, nice value, scheduling policy, timer slack, thread name in the kernel | the worker's | |
//! | `setfsuid`, capabilities, seccomp filters, namespaces that one thread enters | the worker's | |
//! | pending signals that were sent to one thread, timers that signal one thread | the worker's | |
//! | robust lists, pointer of `set_tid_address` | the parked kernel thread's | |
//!
//! # Masks
//!
//! A mask is noted and not asked for at each switch, which would cost a system call. [`note`](super::current::note) is called after
//! each function of the C library that may change it ([`interposed`](super::interposed)). A rank that such a function
//! has changed is asked once more when it leaves: a signal handler that called it may have returned, with the mask of before.
//! A worker keeps the mask of the rank that it has run last, and sets another where the next rank's differs: one comparison.
//!
//! Changes that nothing notes, by a system call without the C library, are found by the signal's frame at a cut, and
//! by each worker before it sleeps. From then on all is asked at each switch: [`CAREFUL`]. The same holds from the
//! beginning where a program does not call the functions here: the library was loaded late, or linked against.
//!
//! A worker has all signals blocked while it sleeps, and before its first rank. A worker that looks for a rank has the mask of its last rank.
//! That rank may change its mask meanwhile, elsewhere: [`mask`](super::mask) has the protocol.
//! So no signal that the program has blocked in all its threads finds a kernel thread of this library's where it is open.

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

/// Masks and alternate stacks are asked for at each switch.
///
/// Relaxed, like all here: a worker that sees it late asks late.
static CAREFUL: AtomicBool = AtomicBool::new(false);
/// Changes that threads have made which were no ranks then.
static BY_THREADS: AtomicU32 = AtomicU32::new(0);

/// A function was called that may have changed the mask or the stack.
const CHANGED: u8 = 1;
/// A signal's frame has shown another mask. That may be a handler's mask.
const DOUBTED: u8 = 2;
/// The rank has an alternate stack.
const STACK: u8 = 4;

/// The kernel state of a rank. It belongs to the rank's worker.
pub(super) struct State {
    mask: Cell<u64>,
    odd: Cell<u8>,
    /// Known where all is asked for.
    keys: Cell<u32>,
    stack: Cell<libc::stack_t>,
    /// `None`: the rank has set none.
    policy: Cell<Option<&'static Policy>>,
    /// [`BY_THREADS`] when it was asked for last.
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
    /// The calling thread's.
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

    /// Asks the kernel for the calling thread's, which is this.
    fn ask(&self) {
        self.mask.set(mask());
        self.has_stack(change_stack(None));
        self.ask_rest();
    }

    /// Asks for what no signal's frame has.
    fn ask_rest(&self) {
        if has_keys() {
            // SAFETY: there are keys.
            self.keys.set(unsafe { switch::keys() });
        }
        self.policy.set(policy::ask());
    }

    fn has_stack(&self, stack: libc::stack_t) {
        self.stack.set(stack);
        let flag = if is_there(&stack) { STACK } else { 0 };
        self.odd.set(self.odd.get() & !STACK | flag);
    }

    /// The rank, which calls this, may have changed its mask or its stack.
    pub(super) fn note(&self) {
        self.ask();
        self.will_change();
    }

    /// The rank, which calls this, is about to change its mask and not to come back here.
    pub(super) fn will_change(&self) {
        self.odd.set(self.odd.get() | CHANGED);
    }

    /// A signal's frame, of the rank, has another mask than was noted.
    pub(super) fn doubt(&self) {
        self.odd.set(self.odd.get() | DOUBTED);
    }

    /// The rank leaves in a signal's frame, which has this stack. It will be restored from there, and the mask.
    pub(super) fn leaves_by_preemption(&self, stack: libc::stack_t) {
        self.has_stack(stack);
    }

    /// Whether the calling rank has the noted mask, and is not on an alternate stack: it is in no
    /// signal's handler, as far as the kernel can tell.
    pub(super) fn is_as_noted(&self) -> bool {
        mask() == self.mask.get() && change_stack(None).ss_flags & libc::SS_ONSTACK == 0
    }

    /// Whether the rank is on the alternate stack that it has, or that the frame of a signal has.
    pub(super) fn is_on_stack(&self, framed: &libc::stack_t, at: usize) -> bool {
        is_within(framed, at) || is_within(&self.stack.get(), at)
    }

    /// The leader begins a region: the changes since its last region are known.
    pub(super) fn refresh(&self, is_another_thread: bool) {
        let changes = BY_THREADS.load(Relaxed);
        if self.seen.replace(changes) != changes || is_another_thread || CAREFUL.load(Relaxed) {
            self.ask();
        }
    }

    /// The calling kernel thread is to execute the rank: it gets what is the rank's. `has` is the mask that it has.
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
            // SAFETY: there are keys, and all memory of this library has the first one, which no
            // program takes from itself.
            unsafe {
                if switch::keys() != self.keys.get() {
                    switch::set_keys(self.keys.get());
                }
            }
        }
        // The stack first: with the mask comes the first signal.
        if self.odd.get() & STACK != 0 {
            change_stack(Some(&self.stack.get()));
        }
        if self.mask.get() != has.get() {
            set_mask(self.mask.get());
            has.set(self.mask.get());
        }
    }

    /// The rank has left the calling kernel thread, by a cut or because it waits. No other worker executes it yet.
    #[inline]
    pub(super) fn take_off(&self, has: &Mask<Native>, was_preempted: bool) {
        if self.odd.get() != 0 || CAREFUL.load(Relaxed) {
            self.take_off_slowly(has, was_preempted);
        }
    }

    #[cold]
    fn take_off_slowly(&self, has: &Mask<Native>, was_preempted: bool) {
        let odd = self.odd.get();
        // At a cut the frame has all, and restores it.
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
        // Another kernel thread is to have it, and two may not have the same.
        if self.odd.get() & STACK != 0 {
            change_stack(Some(&NO_STACK));
        }
    }
}

/// Asks for masks and stacks at each switch from now on.
pub(super) fn be_careful() {
    CAREFUL.store(true, Relaxed);
}

/// The calling worker executes no rank for long: all signals are blocked.
pub(super) fn rest(has: &Mask<Native>) {
    has.rest(&CHANGES, ALL, || {
        if block_all() != has.get() {
            be_careful();
        }
    });
}

/// A thread that is no rank may have changed its mask or its alternate stack.
pub(super) fn note_of_thread() {
    BY_THREADS.fetch_add(1, Relaxed);
}

fn change_stack(new: Option<&libc::stack_t>) -> libc::stack_t {
    let mut old = MaybeUninit::<libc::stack_t>::zeroed();
    let new = new.map_or(0, |new| std::ptr::from_ref(new) as usize);
    // SAFETY: the kernel reads and writes a structure. All zeros are a valid structure. A stack that is set is the rank's own.
    unsafe {
        next::syscall(
            libc::SYS_sigaltstack,
            [new, old.as_mut_ptr() as usize, 0, 0, 0, 0],
        );
        old.assume_init()
    }
}
