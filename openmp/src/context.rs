//! What a thread knows of itself: its team, its number, its task.

use crate::carry::Rank;
use crate::crew::Hot;
use crate::share::Share;
use crate::task::Task;
use crate::team::Team;
use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::Arc;

/// Where a thread is in a region. Only its thread touches it.
#[derive(Clone)]
pub(crate) struct Seat {
    /// Never null once the context is made; the team lives as long as the seat is taken.
    pub(crate) team: Cell<*const Team>,
    pub(crate) id: Cell<u32>,
    /// The task that runs. The caller that set it keeps it alive.
    pub(crate) task: Cell<*const Task>,
    /// Work shares that this thread has entered in this region.
    pub(crate) shares: Cell<u32>,
    /// Singles that it has come to, and that it knows to be taken.
    pub(crate) singles: Cell<u32>,
    pub(crate) taken: Cell<u32>,
    /// The work share that it is in.
    pub(crate) share: Cell<*const Share>,
    /// The share of a loop of LLVM's whose iterations wait for others, and its number.
    pub(crate) doacross: Cell<(*const Share, u32)>,
    /// Blocks of a static schedule that it has had.
    pub(crate) trip: Cell<u64>,
    /// The numbers of the iterations that it has, for the order of ordered regions.
    pub(crate) chunk: Cell<(u64, u64)>,
}

impl Seat {
    fn take(&self, from: &Self) {
        self.team.set(from.team.get());
        self.id.set(from.id.get());
        self.task.set(from.task.get());
        self.shares.set(from.shares.get());
        self.singles.set(from.singles.get());
        self.taken.set(from.taken.get());
        self.share.set(from.share.get());
        self.doacross.set(from.doacross.get());
        self.trip.set(from.trip.get());
        self.chunk.set(from.chunk.get());
    }

    /// The seat of so many's member at the beginning of a region.
    pub(crate) fn sit(&self, team: *const Team, id: u32, task: *const Task) {
        self.take(&Self {
            team: Cell::new(team),
            id: Cell::new(id),
            task: Cell::new(task),
            shares: Cell::new(0),
            singles: Cell::new(0),
            taken: Cell::new(0),
            share: Cell::new(ptr::null()),
            doacross: Cell::new((ptr::null(), 0)),
            trip: Cell::new(0),
            chunk: Cell::new((0, 0)),
        });
    }
}

/// A thread's own state. It lives as long as its thread.
pub(crate) struct Context {
    pub(crate) seat: Seat,
    /// Seats of the regions around this one that this thread began.
    outer: RefCell<Vec<Seat>>,
    /// Teams that this thread has led, by how deep in its own regions it was: the next region
    /// of the same size uses the same threads.
    pub(crate) hot: RefCell<Vec<Hot>>,
    /// Implicit tasks by the same depth, used again.
    pub(crate) implicit: RefCell<Vec<Arc<Task>>>,
    /// Threads that regions around a target region have, whose limit does not count them.
    pub(crate) outside: Cell<u32>,
    /// Number and count in a league of teams.
    pub(crate) league: Cell<(u32, u32)>,
    /// The rank that this thread is while it is carried.
    pub(crate) carried: Cell<Option<&'static Rank>>,
    /// The address in the program of the barrier that it has come to last; 0: not known.
    pub(crate) site: Cell<usize>,
    /// Whether it is the program's first thread; and copies of variables that others have.
    #[cfg(target_arch = "x86_64")]
    pub(crate) is_first: bool,
    #[cfg(target_arch = "x86_64")]
    pub(crate) copies: RefCell<crate::abi::Copies>,
    /// What the program has said of the next region, by functions of LLVM's.
    #[cfg(target_arch = "x86_64")]
    pub(crate) pushed: Cell<crate::abi::Pushed>,
    /// The place that it is bound to, if it is.
    pub(crate) place: Cell<Option<u32>>,
    /// [`forks`](crate::crew::forks) when it was looked at last.
    forks: Cell<u32>,
    /// The team of one that a thread is outside of regions, and its task.
    root: (Arc<Team>, Arc<Task>),
}

impl Context {
    fn new() -> Self {
        let icv = crate::environment::settings().icv;
        let team = Team::alone();
        let task = Arc::new(Task::implicit(icv));
        let seat = Seat {
            team: Cell::new(Arc::as_ptr(&team)),
            id: Cell::new(0),
            task: Cell::new(Arc::as_ptr(&task)),
            shares: Cell::new(0),
            singles: Cell::new(0),
            taken: Cell::new(0),
            share: Cell::new(ptr::null()),
            doacross: Cell::new((ptr::null(), 0)),
            trip: Cell::new(0),
            chunk: Cell::new((0, 0)),
        };
        Self {
            seat,
            outer: RefCell::new(vec![]),
            hot: RefCell::new(vec![]),
            implicit: RefCell::new(vec![]),
            outside: Cell::new(0),
            league: Cell::new((0, 1)),
            carried: Cell::new(None),
            site: Cell::new(0),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: two calls without arguments.
            is_first: unsafe { libc::gettid() == libc::getpid() },
            #[cfg(target_arch = "x86_64")]
            copies: RefCell::default(),
            #[cfg(target_arch = "x86_64")]
            pushed: Cell::default(),
            place: Cell::new(None),
            forks: Cell::new(crate::crew::forks()),
            root: (team, task),
        }
    }

    #[inline]
    pub(crate) fn team(&self) -> &Team {
        // SAFETY: the seat's team lives while the seat is taken.
        unsafe { &*self.seat.team.get() }
    }

    #[inline]
    pub(crate) fn task(&self) -> &Task {
        // SAFETY: the task that runs lives.
        unsafe { &*self.seat.task.get() }
    }

    #[inline]
    pub(crate) fn id(&self) -> u32 {
        self.seat.id.get()
    }

    pub(crate) fn is_carried(&self) -> bool {
        self.carried.get().is_some()
    }

    /// How deep in regions of its own this thread is.
    pub(crate) fn depth(&self) -> usize {
        self.outer.borrow().len()
    }

    pub(crate) fn push_seat(&self) {
        self.outer.borrow_mut().push(self.seat.clone());
    }

    pub(crate) fn pop_seat(&self) {
        if let Some(seat) = self.outer.borrow_mut().pop() {
            self.seat.take(&seat);
        }
    }

    /// In a child after `fork` the threads that the hot teams had are gone.
    pub(crate) fn check_fork(&self) {
        let forks = crate::crew::forks();
        if self.forks.replace(forks) == forks {
            return;
        }
        for hot in self.hot.borrow_mut().drain(..) {
            std::mem::forget(hot);
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        debug_assert!(Arc::strong_count(&self.root.0) > 0);
    }
}

/// Owns a thread's context, and is dropped at the thread's end.
struct Owner(*mut Context);

impl Drop for Owner {
    fn drop(&mut self) {
        slot::set(ptr::null());
        // SAFETY: made by `Box::into_raw`, and no look at the slot finds it any more.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

std::thread_local! {
    static OWNER: Cell<Option<Owner>> = const { Cell::new(None) };
}

/// This thread's context; made at the first call.
#[inline]
pub(crate) fn context() -> &'static Context {
    let pointer = slot::get();
    if pointer.is_null() {
        return make();
    }
    // SAFETY: it lives until its thread ends, which is also how long the result is used.
    unsafe { &*pointer }
}

/// This thread's context, if it was made. Signal handlers may call this.
#[allow(dead_code, reason = "where ranks cannot be carried nobody asks")]
#[inline]
pub(crate) fn known() -> Option<&'static Context> {
    // SAFETY: as above.
    unsafe { slot::get().as_ref() }
}

#[cold]
fn make() -> &'static Context {
    crate::crew::watch_forks();
    crate::ending::attend();
    let context = Box::into_raw(Box::new(Context::new()));
    slot::set(context);
    // A thread whose thread-locals are being destroyed keeps it.
    let _ = OWNER.try_with(|owner| owner.set(Some(Owner(context))));
    // SAFETY: just made.
    unsafe { &*context }
}

/// One word a thread.
///
/// In the model of executables (one load), not of libraries that are loaded late (a call): that
/// is two nanoseconds at each entry. It takes 8 bytes of what the loader sets aside for such.
/// Inline assembly also keeps the compiler from remembering its address across a switch of
/// stacks, after which it would be another thread's.
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod slot {
    use super::Context;
    use std::arch::{asm, global_asm};

    global_asm!(
        ".pushsection .tbss,\"awT\",@nobits",
        ".p2align 3",
        ".globl manycore_openmp_slot",
        ".hidden manycore_openmp_slot",
        ".type manycore_openmp_slot, @object",
        ".size manycore_openmp_slot, 8",
        "manycore_openmp_slot:",
        ".zero 8",
        ".popsection",
    );

    #[inline(always)]
    pub(super) fn get() -> *const Context {
        let pointer;
        // SAFETY: reads this thread's word.
        unsafe {
            asm!(
                "mov {0}, qword ptr [rip + manycore_openmp_slot@GOTTPOFF]",
                "mov {0}, qword ptr fs:[{0}]",
                out(reg) pointer,
                options(nostack, preserves_flags, readonly),
            );
        }
        pointer
    }

    #[inline(always)]
    pub(super) fn set(pointer: *const Context) {
        // SAFETY: writes this thread's word.
        unsafe {
            asm!(
                "mov {0}, qword ptr [rip + manycore_openmp_slot@GOTTPOFF]",
                "mov qword ptr fs:[{0}], {1}",
                out(reg) _,
                in(reg) pointer,
                options(nostack, preserves_flags),
            );
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod slot {
    use super::Context;
    use std::cell::Cell;
    use std::ptr;

    std::thread_local! {
        static SLOT: Cell<*const Context> = const { Cell::new(ptr::null()) };
    }

    #[inline(never)]
    pub(super) fn get() -> *const Context {
        SLOT.get()
    }

    #[inline(never)]
    pub(super) fn set(pointer: *const Context) {
        SLOT.set(pointer);
    }
}
