//! Whether a thread of a team shares its core with another thread of the team, and how it leaves that core.
//!
//! The kernel may wake a member of a team on the core of the team's leader. The leader and the member then take turns
//! on this core, and the team waits for both. When another core is idle, the kernel moves a thread there. But threads of
//! other libraries may wait on the other cores by yielding, such as the threads of OpenBLAS. Then no core is idle, and
//! the leader and the member stay on one core. A member that shares a core with a yielding thread has nearly the whole
//! core.
//!
//! So each thread notes its core in a *slot* when it begins a region, and while it waits. Before it sleeps, it clears
//! the slot. If a waiting thread finds its own core in the slot of another thread, it moves to a core that no slot has.
//! The leader stays. If neither thread is the leader, the thread with the lower address of its slot stays. If a thread
//! cannot move, it calls `sched_yield`. If no slot has the thread's core, it does not yield: a thread of another process
//! would get a time slice of some milliseconds, and the team may wait for this thread.
//!
//! All leaders that are threads of the program have one slot, so only the last of them is known. A slot may be wrong if
//! the kernel has moved a thread since. Then a move or a yield is in vain.

use super::cpus::Cpus;
use super::masks::{errno, set_errno, with_signals_blocked};
use super::threads;
use crate::system::clock::has_passed;
use manycore_platform::{Native, Platform};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The number of a thread's core, or [`NONE`]. Accesses are relaxed: no other data depends on a slot.
pub(super) type Slot = AtomicU32;

/// The thread sleeps, or has not noted its core yet.
pub(super) const NONE: u32 = u32::MAX;

/// The slot of all leaders that are threads of the program.
static LEADERS: Slot = Slot::new(NONE);
/// The slot of the threads that workers execute, which no thread reads: these threads have no cores of their own.
static RANKS: Slot = Slot::new(NONE);

/// A thread moves at most once in this time.
const REST: Duration = Duration::from_millis(1);

thread_local! {
    /// The calling thread's slot. `None` stands for [`LEADERS`].
    static SLOT: Cell<Option<&'static Slot>> = const { Cell::new(None) };
    /// When the calling thread last moved.
    static MOVED: Cell<u64> = const { Cell::new(0) };
}

/// Gives the calling thread a slot.
pub(super) fn take(slot: &'static Slot) {
    SLOT.set(Some(slot));
}

/// The calling thread executes on the kernel thread of a leader from now on.
pub(crate) fn lead() {
    SLOT.set(None);
}

/// Workers execute the calling thread from now on.
pub(crate) fn become_rank() {
    forget();
    SLOT.set(Some(&RANKS));
}

fn slot() -> &'static Slot {
    SLOT.get().unwrap_or(&LEADERS)
}

/// Notes the core of the calling thread.
#[inline]
pub(crate) fn note() {
    note_here();
}

/// Notes the core of the calling thread, and returns it.
#[inline]
fn note_here() -> u32 {
    let (slot, core) = (slot(), Native::core() as u32);
    // Mostly the core is the same as before. Then other threads keep their copies of the cache line.
    if slot.load(Relaxed) != core {
        slot.store(core, Relaxed);
    }
    core
}

/// The calling thread is about to sleep.
pub(crate) fn forget() {
    slot().store(NONE, Relaxed);
}

/// The slots of all other threads.
fn others() -> impl Iterator<Item = &'static Slot> {
    let mine = slot();
    let all = threads::slots().chain([&LEADERS]);
    all.filter(move |&other| !ptr::eq(other, mine))
}

/// Whether another thread of the team is on the calling thread's core. If so, and if it `may_move`, the calling thread
/// leaves the core if it can. Then the answer is `false`. Does not change `errno`.
pub(crate) fn is_shared(may_move: bool) -> bool {
    let (here, mine) = (note_here(), slot());
    let (mut is_shared, mut is_last) = (false, false);
    for other in others().filter(|other| other.load(Relaxed) == here) {
        is_shared = true;
        is_last |= ptr::eq(other, &LEADERS) || ptr::from_ref(other) < ptr::from_ref(mine);
    }
    let stays = [&LEADERS, &RANKS].iter().any(|&it| ptr::eq(it, mine));
    is_shared && !(may_move && is_last && !stays && try_to_leave())
}

/// Moves the calling thread to a core that no slot has. Returns whether there was one.
#[cold]
fn try_to_leave() -> bool {
    let now = Native::now();
    if !has_passed(Native::duration_to_ticks(REST), MOVED.get(), now) {
        return false;
    }
    MOVED.set(now);
    let before = errno();
    let has_moved = Cpus::of_thread(0).is_some_and(|all| {
        let mut free = all;
        others().for_each(|other| free.remove(other.load(Relaxed) as usize));
        free.remove(Native::core());
        free.count() > 0 && visit(&free, &all)
    });
    set_errno(before);
    note();
    has_moved
}

/// Moves the calling thread to a CPU of the set `free`. Afterwards the thread may run on `all` again, unless another
/// thread has bound it meanwhile. The kernel has no call that compares and sets, so a binding within these few
/// microseconds may be lost. Signals are blocked, so no handler sees the CPUs in between.
fn visit(free: &Cpus, all: &Cpus) -> bool {
    with_signals_blocked(|| {
        // The kernel moves the thread before the call returns.
        if !free.put_on(0) {
            return false;
        }
        let is = |cpus: &Cpus| Cpus::of_thread(0).is_some_and(|now| now == *cpus);
        // The kernel keeps a mask that was set, even if the process's control group gets CPUs later. If only the group
        // limits the thread, a mask of all CPUs is as good.
        if is(free) && !(Cpus::ALL.put_on(0) && is(all)) {
            all.put_on(0);
        }
        true
    })
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    /// Whether a thread with the slot `mine` leaves a core that is also in the slot `its`.
    fn leaves(mine: Option<&'static Slot>, its: &'static Slot) -> bool {
        let thread = std::thread::spawn(move || {
            let all = Cpus::of_thread(0).expect("a thread has CPUs");
            let one = all.numbers()[0];
            mine.inspect(|slot| take(slot));
            its.store(one as u32, Relaxed);
            // The kernel may move this thread too.
            let has_left = (0..100).any(|_| {
                Cpus::of(&[one]).put_on(0);
                all.put_on(0);
                MOVED.set(0);
                set_errno(7);
                let is_shared = is_shared(true);
                assert_eq!(errno(), 7);
                !is_shared && Native::core() != one
            });
            assert!(Cpus::of_thread(0) == Some(all));
            forget();
            its.store(NONE, Relaxed);
            has_left
        });
        thread.join().expect("it does not panic")
    }

    #[test]
    fn a_thread_leaves_the_core_of_its_leader() {
        if Cpus::of_thread(0).expect("a thread has CPUs").count() < 2 {
            return;
        }
        let slot = |_| threads::new_slot();
        let mut slots = [(); 2].map(slot);
        slots.sort_by_key(|&slot| ptr::from_ref(slot));
        let [low, high] = slots;
        assert!(leaves(Some(low), &LEADERS));
        assert!(leaves(Some(high), low));
        // The leader stays.
        assert!(!leaves(None, low));
    }
}
