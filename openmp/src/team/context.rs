//! The data that a thread has about itself: its team, its number in that team, its task.

use super::hot::Hot;
use super::share::{Plan, SLOTS, Share};
use super::{Team, slot};
#[cfg(target_arch = "x86_64")]
use super::{copies::Copies, pushed::Pushed};
use crate::environment::icv::Bind;
use crate::environment::places::Partition;
use crate::system::ending;
use crate::task::Task;
use crate::words::Carried;
use manycore_platform::{Native, Platform};
use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// The seat of a thread in a region: its team, its number and its progress. Only that thread accesses this.
#[derive(Clone)]
pub(crate) struct Seat {
    /// Never null. The team lives as long as a thread has this seat.
    pub(crate) team: Cell<*const Team>,
    pub(crate) id: Cell<u32>,
    /// The current task. The function that set this pointer keeps the task alive.
    pub(crate) task: Cell<*const Task>,
    /// The number of work shares that this thread has entered in this region.
    pub(crate) shares: Cell<u32>,
    /// How many `single` constructs this thread has reached, and how many of these it knows to be taken by a thread.
    pub(crate) singles: Cell<u32>,
    pub(crate) taken: Cell<u32>,
    /// The work share that this thread is in, or null.
    pub(crate) share: Cell<*const Share>,
    /// The work share of the doacross loop (iterations wait for earlier ones) that the program runs with LLVM's
    /// functions, and the number of that share.
    pub(crate) doacross: Cell<(*const Share, u32)>,
    /// The number of blocks of a static schedule that this thread has had.
    pub(crate) trip: Cell<u64>,
    /// The first iteration and the end of the thread's chunk, for ordered regions.
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

/// The state of a thread. It lives as long as the thread.
pub(crate) struct Context {
    pub(crate) seat: Seat,
    /// Seats of the outer regions that this thread began.
    outer: RefCell<Vec<Seat>>,
    /// Teams that this thread has led, indexed by [`depth`](Self::depth). The next region of the same size uses the
    /// same threads.
    pub(crate) hot: RefCell<Vec<Hot>>,
    /// Teams of this thread alone, indexed by `depth` too.
    serial: RefCell<Vec<Arc<Team>>>,
    /// Implicit tasks to be reused, indexed by `depth` too.
    pub(crate) implicit: RefCell<Vec<Arc<Task>>>,
    /// The number of other threads in regions that this thread has begun as an initial thread. It is counted while
    /// there is a limit.
    pub(crate) busy: RefCell<Arc<AtomicU32>>,
    /// The team's number in its league, and the number of teams in that league.
    pub(crate) league: Cell<(u32, u32)>,
    /// The number of this thread as a rank, while the thread is carried (while workers execute it).
    pub(crate) carried: Carried,
    /// The address in the program of the last barrier at which this thread arrived, or 0.
    pub(crate) site: Cell<usize>,
    /// Whether this is the first thread of the program. Other threads have `copies` of `threadprivate` variables.
    #[cfg(target_arch = "x86_64")]
    pub(crate) is_first: bool,
    #[cfg(target_arch = "x86_64")]
    pub(crate) copies: RefCell<Copies>,
    /// Settings for the next region, which the program has made with LLVM's functions.
    #[cfg(target_arch = "x86_64")]
    pub(crate) pushed: Cell<Pushed>,
    /// The place that this thread is bound to.
    pub(crate) place: Cell<Option<u32>>,
    /// The places for nested regions of this thread, or `None` for all places.
    pub(crate) partition: Cell<Option<Partition>>,
    /// The number of members, their binding and the leader's place in this thread's last region on the first level, if
    /// such regions print lines about members.
    pub(crate) displayed: Cell<Option<(u32, Bind, Option<u32>)>>,
    /// The last value of [`Platform::forks`] that this thread has read.
    forks: Cell<u32>,
    /// The team and task of this thread outside of regions. The seat points to them while the thread is in no region.
    root: (Arc<Team>, Arc<Task>),
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
            serial: RefCell::new(vec![]),
            implicit: RefCell::new(vec![]),
            busy: RefCell::default(),
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
            partition: Cell::new(None),
            displayed: Cell::new(None),
            forks: Cell::new(Native::forks()),
            root: (team, task),
        }
    }

    #[inline]
    pub(crate) fn team(&self) -> &Team {
        // SAFETY: the team of the seat lives while the thread has this seat.
        unsafe { &*self.seat.team.get() }
    }

    #[inline]
    pub(crate) fn task(&self) -> &Task {
        // SAFETY: the function that set the task keeps it alive.
        unsafe { &*self.seat.task.get() }
    }

    #[inline]
    pub(crate) fn id(&self) -> u32 {
        self.seat.id.get()
    }

    pub(crate) fn is_carried(&self) -> bool {
        self.carried.get().is_some()
    }

    /// The number of nested regions that this thread has begun and not ended.
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

    /// Called when a thread of the pool has left its team. The team may be freed.
    pub(crate) fn sit_outside(&self) {
        let (team, task) = &self.root;
        self.seat.sit(Arc::as_ptr(team), 0, Arc::as_ptr(task));
        self.league.set((0, 1));
    }

    /// Enters the next work share of the member: see [`Share::come`].
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

    /// Leaves the work share that the member entered last.
    pub(crate) fn leave(&self) {
        let (team, seat) = (self.team(), &self.seat);
        let number = seat.shares.get().wrapping_sub(1);
        seat.share.set(ptr::null());
        team.shares[(number % SLOTS) as usize].leave(number, team.size, &team.bell);
    }

    /// The team for a region of this thread alone.
    pub(crate) fn serial_team(&self, depth: usize) -> &'static Team {
        let mut teams = self.serial.borrow_mut();
        if teams.len() <= depth {
            teams.resize_with(depth + 1, Team::alone);
        }
        // SAFETY: the team stays in `serial` until this thread ends, and only this thread is ever in it.
        unsafe { &*Arc::as_ptr(&teams[depth]) }
    }

    /// In a child process after `fork`, forgets the hot teams, since their threads exist only in the parent.
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

/// Returns this thread's context. The first call makes it.
///
/// The reference lives as long as safe code can keep it. Only [`free`] frees a context. The C library calls `free` when
/// a thread ends, after the destructors of all thread-locals ([`ending`]). A context is neither `Send` nor `Sync`. So
/// safe code can keep a reference only on its thread's stack or in a thread-local, and both are gone at that time.
#[inline]
pub(crate) fn context() -> &'static Context {
    let pointer = slot::get();
    if pointer.is_null() {
        return make();
    }
    // SAFETY: this thread's word is null, or points to the context that this thread has made and not freed.
    unsafe { &*pointer }
}

/// Returns this thread's context, or `None` if it was not made yet. Signal handlers may call this.
#[inline]
pub(crate) fn known() -> Option<&'static Context> {
    // SAFETY: this thread's word is null, or points to the context that this thread has made and not freed.
    unsafe { slot::get().as_ref() }
}

/// Notes that the calling thread is no rank (thread that workers execute). It is the only thread of a child process
/// after `fork`, even if it was a rank in the parent.
pub(crate) fn is_no_rank() {
    known().inspect(|context| context.carried.set(None));
}

#[cold]
fn make() -> &'static Context {
    ending::attend(free);
    let context = Box::into_raw(Box::new(Context::new()));
    slot::set(context);
    // SAFETY: the pointer was just made from a box.
    unsafe { &*context }
}

/// Frees the context of this thread. The C library calls this when the thread ends: see [`context`].
pub(crate) fn free() {
    let context = slot::get().cast_mut();
    // A destructor of the program may call `context` during the `drop` below. The call returns a new context.
    slot::set(ptr::null());
    if !context.is_null() {
        // SAFETY: `make` got it from `Box::into_raw`, the slot no longer has it, and all references to it are gone.
        drop(unsafe { Box::from_raw(context) });
    }
}
