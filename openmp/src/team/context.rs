//! A thread's data about itself: its team, its number, its task.

use super::hot::Hot;
use super::share::{Plan, SLOTS, Share};
use super::{Team, slot};
#[cfg(target_arch = "x86_64")]
use super::{copies::Copies, pushed::Pushed};
use crate::system::ending;
use crate::task::Task;
use crate::words::Carried;
use manycore_platform::{Native, Platform};
use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::Arc;

/// A thread's place in a region. Only its thread touches it.
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
    /// The share of an LLVM loop with iterations that wait for others, and its number.
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

    /// The seat of member `id` of `team`, which begins a region.
    fn new(team: *const Team, id: u32, task: *const Task) -> Self {
        Self {
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
        }
    }

    /// Resets the seat for member `id` of `team`, which begins a region.
    pub(crate) fn sit(&self, team: *const Team, id: u32, task: *const Task) {
        self.take(&Self::new(team, id, task));
    }
}

/// A thread's own state. It lives as long as its thread.
pub(crate) struct Context {
    pub(crate) seat: Seat,
    /// Seats of the outer regions that this thread began.
    outer: RefCell<Vec<Seat>>,
    /// Teams that this thread has led, by how deep in its own regions it was: the next region
    /// of the same size uses the same threads.
    pub(crate) hot: RefCell<Vec<Hot>>,
    /// Implicit tasks by the same depth, used again.
    pub(crate) implicit: RefCell<Vec<Arc<Task>>>,
    /// The number of threads of regions outside a target region, whose limit does not count them.
    pub(crate) outside: Cell<u32>,
    /// Number and count in a league of teams.
    pub(crate) league: Cell<(u32, u32)>,
    /// The rank that this thread is while it is carried.
    pub(crate) carried: Carried,
    /// The address in the program of the barrier that it has come to last; 0: not known.
    pub(crate) site: Cell<usize>,
    /// Whether it is the program's first thread; and copies of variables that others have.
    #[cfg(target_arch = "x86_64")]
    pub(crate) is_first: bool,
    #[cfg(target_arch = "x86_64")]
    pub(crate) copies: RefCell<Copies>,
    /// The program's settings for the next region, by functions of LLVM's.
    #[cfg(target_arch = "x86_64")]
    pub(crate) pushed: Cell<Pushed>,
    /// The place that it is bound to, if it is.
    pub(crate) place: Cell<Option<u32>>,
    /// [`Platform::forks`] when it was looked at last.
    forks: Cell<u32>,
    /// The thread's own team, outside of regions, and its task. The seat has their addresses.
    _root: (Arc<Team>, Arc<Task>),
}

impl Context {
    fn new() -> Self {
        let icv = crate::environment::settings().icv;
        let team = Team::alone();
        let task = Arc::new(Task::implicit(icv));
        let seat = Seat::new(Arc::as_ptr(&team), 0, Arc::as_ptr(&task));
        Self {
            seat,
            outer: RefCell::new(vec![]),
            hot: RefCell::new(vec![]),
            implicit: RefCell::new(vec![]),
            outside: Cell::new(0),
            league: Cell::new((0, 1)),
            carried: Carried::default(),
            site: Cell::new(0),
            #[cfg(target_arch = "x86_64")]
            is_first: crate::system::threads::is_first(),
            #[cfg(target_arch = "x86_64")]
            copies: RefCell::default(),
            #[cfg(target_arch = "x86_64")]
            pushed: Cell::default(),
            place: Cell::new(None),
            forks: Cell::new(Native::forks()),
            _root: (team, task),
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

    /// The member comes to its next work share; see [`Share::come`].
    pub(crate) fn come(&self, make: impl FnOnce(&mut Plan)) -> bool {
        let (team, seat) = (self.team(), &self.seat);
        let number = seat.shares.get();
        seat.shares.set(number.wrapping_add(1));
        let share = &team.shares[(number % SLOTS) as usize];
        seat.share.set(share);
        seat.trip.set(0);
        seat.chunk.set((0, 0));
        share.come(number, &team.bell, &self.carried, make)
    }

    /// The member leaves the share that it came to last.
    pub(crate) fn leave(&self) {
        let (team, seat) = (self.team(), &self.seat);
        let number = seat.shares.get().wrapping_sub(1);
        seat.share.set(ptr::null());
        team.shares[(number % SLOTS) as usize].leave(number, team.size, &team.bell);
    }

    /// In a child after `fork` the threads that the hot teams had are gone.
    pub(crate) fn check_fork(&self) {
        let forks = Native::forks();
        if self.forks.replace(forks) == forks {
            return;
        }
        for hot in self.hot.borrow_mut().drain(..) {
            std::mem::forget(hot);
        }
    }
}

/// This thread's context; made at the first call.
///
/// The reference lives as long as safe code can keep it. Only [`free`] frees a context. The C library calls `free` as a
/// thread ends, after the destructors of all thread-locals ([`ending`]). A context is neither `Send` nor `Sync`. So
/// safe code can keep a reference only on its thread's stack or in a thread-local, and both are gone by then.
#[inline]
pub(crate) fn context() -> &'static Context {
    let pointer = slot::get();
    if pointer.is_null() {
        return make();
    }
    // SAFETY: this thread's word has null, or the context that this thread has made and not freed.
    unsafe { &*pointer }
}

/// This thread's context, if it was made. Signal handlers may call this.
#[allow(dead_code, reason = "where ranks cannot be carried nobody asks")]
#[inline]
pub(crate) fn known() -> Option<&'static Context> {
    // SAFETY: this thread's word has null, or the context that this thread has made and not freed.
    unsafe { slot::get().as_ref() }
}

#[cold]
fn make() -> &'static Context {
    // If forks cannot be watched, a child waits for threads of its parent's, as with GCC's library.
    let _ = Native::watch_forks();
    ending::attend(free);
    let context = Box::into_raw(Box::new(Context::new()));
    slot::set(context);
    // SAFETY: just made.
    unsafe { &*context }
}

/// Frees this thread's context, if there is one. Called at the thread's end: see [`context`].
pub(crate) fn free() {
    let context = slot::get().cast_mut();
    // A destructor of the program's may ask for a context below. It gets a new one.
    slot::set(ptr::null());
    if !context.is_null() {
        // SAFETY: made by `Box::into_raw`, and no look at the slot finds it any more. References to it are gone.
        drop(unsafe { Box::from_raw(context) });
    }
}
