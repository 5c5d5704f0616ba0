//! Explicit tasks.
//!
//! Each member of a team has a queue of the tasks that it has made and nobody has begun (`queue`,
//! `tasks`), and blocks of memory for them (`memory`). It runs the newest of its own first; members
//! without tasks take the oldest of others. Only dependences (`depend`) and priorities need what
//! a team shares.
//!
//! A thread in a `taskwait` runs descendants of its task only: a tied task may not be begun by a
//! thread that has put aside another that it does not descend from. What lies in its own queue
//! above the *mark*, the queue's end when its task began, are such (`wait`).

mod counts;
mod event;
mod group;
mod memory;
mod queue;
mod tasks;
mod wait;

pub(crate) use event::fulfil;
pub(crate) use group::{Group, begin_group, end_group};
pub(crate) use tasks::Tasks;
pub(crate) use wait::{wait, wait_for_dependences};

use crate::context::Context;
use crate::depend::Links;
use crate::icv::Icv;
use crate::team::{Outlined, Team};
use counts::Counts;
use memory::{Arguments, Block};
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU8};

/// The body of a detached task has returned.
const RETURNED: u8 = 1;
/// Its event is fulfilled.
const FULFILLED: u8 = 2;

/// A task: implicit ones too. In the order of use, so that who runs a task that another thread has
/// made fetches few lines.
#[repr(C)]
pub(crate) struct Task {
    function: Option<Outlined>,
    arguments: Arguments,
    parent: *const Self,
    /// The group that the task's children are in, or null; its thread's.
    pub(crate) group: Cell<*const Group>,
    /// The group in which the task began, or null; explicit ones are counted there.
    counted_in: *const Group,
    /// Ready tasks with the largest priority run first.
    priority: i32,
    /// Ancestors, so that descendants are found in few steps.
    depth: u32,
    pub(crate) is_final: bool,
    detached: bool,
    /// Whether its arguments were made by the program's constructors: its function, which destroys them,
    /// is to be run even where tasks are dropped.
    constructed: bool,
    /// Whether it has dependences, so that siblings may find it by an address.
    pub(crate) listed: Cell<bool>,
    /// Whether children were found by address; its thread's.
    pub(crate) edged: Cell<bool>,
    /// Whether it has ended, if it is listed.
    pub(crate) done: AtomicBool,
    /// [`RETURNED`] and [`FULFILLED`].
    event: AtomicU8,
    /// The member that has its memory; null for implicit tasks.
    home: *const memory::Home,
    /// Where its thread's queue ended when it began; its thread's.
    mark: Cell<usize>,
    /// Only the thread that runs the task touches it.
    pub(crate) icv: Cell<Icv>,
    counts: Counts,
    /// The team in which it is; null for implicit tasks.
    team: *const Team,
    /// What the team's lock of dependences protects.
    links: UnsafeCell<Links>,
}

// SAFETY: the cells are its thread's, `links` belongs to the owner of the lock of dependences, and
// what is not in a cell is written before anybody else knows the task.
unsafe impl Sync for Task {}
// SAFETY: the same; its arguments are the program's, which shares them.
unsafe impl Send for Task {}

impl Task {
    #[inline(always)]
    fn new(function: Option<Outlined>, icv: Icv) -> Self {
        Self {
            function,
            arguments: Arguments::NONE,
            priority: 0,
            is_final: false,
            detached: false,
            constructed: false,
            depth: 0,
            parent: ptr::null(),
            team: ptr::null(),
            home: ptr::null(),
            icv: Cell::new(icv),
            group: Cell::new(ptr::null()),
            counted_in: ptr::null(),
            mark: Cell::new(0),
            counts: Counts::new(),
            event: AtomicU8::new(0),
            links: UnsafeCell::new(Links::default()),
            listed: Cell::new(false),
            edged: Cell::new(false),
            done: AtomicBool::new(false),
        }
    }

    /// What a member of a region is.
    pub(crate) fn implicit(icv: Icv) -> Self {
        Self::new(None, icv)
    }

    /// The same one for another region: nothing of the last is left.
    pub(crate) fn renew(&mut self, icv: Icv, group: Option<Arc<Group>>, is_final: bool) {
        self.icv.set(icv);
        // A cancelled region may have left groups open.
        group::abandon(self.group.get(), self.counted_in);
        // The region keeps it.
        self.counted_in = group.as_ref().map_or(ptr::null(), Arc::as_ptr);
        self.group.set(self.counted_in);
        self.is_final = is_final;
        self.counts = Counts::new();
    }

    /// What the lock of dependences protects: to be called with that lock, or where nobody else
    /// can have the task; and the result used no longer.
    #[expect(clippy::mut_from_ref, reason = "the lock makes it exclusive")]
    pub(crate) fn links(&self) -> &mut Links {
        // SAFETY: by the contract above, which all callers in this crate keep.
        unsafe { &mut *self.links.get() }
    }

    /// Whether a construct for tasks has made it.
    pub(crate) fn is_explicit(&self) -> bool {
        !self.home.is_null()
    }

    /// The task that made it; for tasks whose parent lives.
    pub(crate) fn parent(&self) -> Option<&Self> {
        // SAFETY: a task's memory keeps that of its parent.
        unsafe { self.parent.as_ref() }
    }

    /// The group that its children are in.
    pub(crate) fn current_group(&self) -> Option<&Group> {
        // SAFETY: a group lives until all tasks in it have ended, and this one is in it.
        unsafe { self.group.get().as_ref() }
    }

    /// Whether the task descends from `ancestor`.
    fn descends_from(&self, ancestor: &Self) -> bool {
        let mut task = self;
        while task.depth > ancestor.depth {
            let Some(parent) = task.parent() else {
                return false;
            };
            task = parent;
        }
        ptr::eq(task, ancestor)
    }
}

/// A reference to a task that may have ended.
pub(crate) struct Kept(NonNull<Task>);

impl Kept {
    /// Keeps a task that has a reference.
    pub(crate) fn new(task: &Task) -> Self {
        task.counts.keep();
        Self(NonNull::from(task))
    }
}

impl Clone for Kept {
    fn clone(&self) -> Self {
        Self::new(self)
    }
}

impl Deref for Kept {
    type Target = Task;

    fn deref(&self) -> &Task {
        // SAFETY: the reference keeps it.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: the reference is this one's.
        unsafe { let_go(self.0, Counts::drop_one) };
    }
}

/// Gives something back that keeps the task: `give` says whether it was the last. Its memory goes
/// with the last, and with that a reference of its parent.
///
/// # Safety
///
/// What is given back is the caller's.
unsafe fn let_go(mut task: NonNull<Task>, give: impl FnOnce(&Counts) -> bool) {
    // SAFETY: what is given back keeps it.
    let mut last = give(&unsafe { task.as_ref() }.counts);
    while last {
        // SAFETY: nobody else has it; its memory keeps its parent. Implicit tasks keep themselves.
        let parent = unsafe {
            let parent = NonNull::new(task.as_ref().parent.cast_mut());
            Block::give_back(task);
            parent
        };
        let Some(parent) = parent else { return };
        task = parent;
        // SAFETY: the child's reference.
        last = unsafe { task.as_ref() }.counts.drop_one();
    }
}

/// How a task is to be made.
pub(crate) struct Order {
    pub(crate) function: Outlined,
    pub(crate) data: *mut c_void,
    pub(crate) copy: Option<unsafe extern "C" fn(*mut c_void, *const c_void)>,
    pub(crate) size: usize,
    pub(crate) align: usize,
    /// What a task of a loop has as the first two words of its arguments: a copy function leaves
    /// these alone.
    pub(crate) bounds: Option<[u64; 2]>,
    pub(crate) deferred: bool,
    pub(crate) is_final: bool,
    pub(crate) priority: i32,
    /// The compiler's array of dependences, or null.
    pub(crate) depend: *mut *mut c_void,
    /// Where the handle of its event goes, or null.
    pub(crate) event: *mut *const Task,
}

impl Order {
    /// A task of this kind, child of the one that runs, which is to count it.
    /// It is put into a block of this home.
    #[inline(always)]
    fn task(&self, context: &Context, home: &memory::Home) -> NonNull<Task> {
        let current = context.task();
        let group = current.group.get();
        home.put(|| Task {
            function: Some(self.function),
            priority: self.priority,
            depth: current.depth + 1,
            is_final: self.is_final || current.is_final,
            detached: !self.event.is_null(),
            constructed: self.copy.is_some(),
            parent: current,
            team: context.team(),
            home,
            group: Cell::new(group),
            counted_in: group,
            ..Task::new(None, current.icv.get())
        })
    }

    /// Hands out the task as the handle of its event, which keeps the team. The task does not end
    /// before.
    ///
    /// # Safety
    ///
    /// The order is as compiled programs make it, and has an event.
    unsafe fn hand_out(&self, task: NonNull<Task>) {
        let handle = task.as_ptr().cast_const();
        // SAFETY: teams are in an `Arc`; the compiler's pointer; data that is to be copied begins with a
        // copy of the handle.
        unsafe {
            Arc::increment_strong_count((*handle).team);
            self.event.write(handle);
            if self.size > 0 {
                self.data.cast::<*const Task>().write(handle);
            }
        }
    }
}

/// Makes a task, and runs it if it is not to be deferred.
///
/// # Safety
///
/// The order is as compiled programs make it.
pub(crate) unsafe fn make(context: &Context, order: &Order) {
    let (team, current) = (context.team(), context.task());
    if is_discarded(team, current) {
        // SAFETY: by the caller's word.
        return unsafe { crate::abi::discard(order.function, order.data) };
    }
    let (tasks, member) = (&team.tasks, context.id());
    let detached = !order.event.is_null();
    let crowded = || tasks.is_crowded(member, !order.depend.is_null());
    // What depends on a detached task may not be run here: its event may be fulfilled by a task
    // that this one makes later.
    let free = || {
        // SAFETY: the compiler's array.
        let awaited = || unsafe { crate::depend::awaited(current, order.depend) };
        order.depend.is_null() || tasks.linked(awaited).is_empty()
    };
    let at_once = || !detached && (team.size == 1 || current.is_final || crowded()) && free();
    if !order.deferred || at_once() {
        // SAFETY: as above.
        unsafe { run_at_once(context, order) };
        return;
    }
    let task = order.task(context, tasks.home(member));
    if detached {
        // SAFETY: as above.
        unsafe { order.hand_out(task) };
    }
    // SAFETY: the data is as the order says, and nobody else knows the task yet.
    unsafe { Block::copy_arguments(task, order) };
    // Counted before anybody can end it.
    current.counts.add_child();
    // SAFETY: the group lives while the current task is in it.
    if let Some(group) = unsafe { current.group.get().as_ref() } {
        group.enter();
    }
    tasks.count_made(member);
    // SAFETY: just made.
    let this = unsafe { task.as_ref() };
    let ready = order.depend.is_null()
        || tasks.linked(|| {
            // SAFETY: the compiler's array.
            unsafe { crate::depend::link(this, order.depend) };
            this.links().is_free()
        });
    if ready {
        tasks.push(Some(member), task);
        team.bell.ring_after_rmw();
    }
}

/// A task that its thread runs here and now.
unsafe fn run_at_once(context: &Context, order: &Order) {
    // SAFETY: by the caller's word.
    unsafe { begin_here(context, order) };
    let this = context.task();
    let mut data = order.data;
    if order.copy.is_some() {
        // SAFETY: as in `make`.
        unsafe { Block::copy_arguments(NonNull::from(this), order) };
        data = this.arguments.pointer();
    }
    // SAFETY: compiled code with the arguments made for it.
    unsafe { (order.function)(data) };
    if this.detached {
        let fulfilled = || this.event.load(SeqCst) & FULFILLED != 0;
        context.team().bell.wait_until(context, &fulfilled);
    }
    // SAFETY: begun here.
    unsafe { end_here(context) };
}

/// A task begins of which the calling thread does the work itself, until [`end_here`].
///
/// # Safety
///
/// The order is as compiled programs make it.
pub(crate) unsafe fn begin_here(context: &Context, order: &Order) {
    let tasks = &context.team().tasks;
    if !order.depend.is_null() {
        // SAFETY: the compiler's array.
        unsafe { wait_for_dependences(context, order.depend) };
    }
    let task = order.task(context, tasks.home(context.id()));
    // SAFETY: it keeps its own reference until it ends.
    let this = unsafe { task.as_ref() };
    if this.detached {
        // SAFETY: as in `make`.
        unsafe { order.hand_out(task) };
    }
    this.mark.set(tasks.end_of(context.id()));
    context.seat.task.set(task.as_ptr());
}

/// The task that [`begin_here`] has begun is over.
///
/// # Safety
///
/// It is the current one.
pub(crate) unsafe fn end_here(context: &Context) {
    let this = context.task();
    let Some(parent) = this.parent() else { return };
    context.seat.task.set(parent);
    let tasks = &context.team().tasks;
    tasks.forget_edges(this);
    let task = NonNull::from(this);
    if this.counts.is_alone() {
        // SAFETY: nobody else has it.
        unsafe { tasks.home(context.id()).take_back(task) };
    } else {
        // Its children outlive it, and its memory keeps its parent's.
        parent.counts.keep();
        // SAFETY: its own, once.
        unsafe { let_go(task, Counts::end) };
    }
}

/// Runs the task's function as the current task.
fn execute(context: &Context, task: &Task, data: *mut c_void) {
    let seat = &context.seat;
    task.mark.set(context.team().tasks.end_of(context.id()));
    let before = seat.task.replace(task);
    if let Some(function) = task.function {
        // SAFETY: compiled code with the arguments made for it.
        unsafe { function(data) };
    }
    seat.task.set(before);
}

/// Whether tasks that are not begun are to be dropped here.
fn is_discarded(team: &Team, current: &Task) -> bool {
    team.is_cancelled() || current.current_group().is_some_and(Group::is_discarded)
}

/// Runs a task that was taken from a queue of the context's team, to its end.
pub(crate) fn run(context: &Context, task: NonNull<Task>) {
    let team = context.team();
    // SAFETY: it keeps its own reference until it ends.
    let this = unsafe { task.as_ref() };
    if this.constructed || !is_discarded(team, this) {
        execute(context, this, this.arguments.pointer());
        // AcqRel: who comes second ends it, after all that the other did.
        if this.detached && this.event.fetch_or(RETURNED, AcqRel) & FULFILLED == 0 {
            return;
        }
    } else if let Some(function) = this.function {
        // SAFETY: it was taken once, and is not run.
        unsafe { crate::abi::discard(function, this.arguments.pointer()) };
    }
    // SAFETY: it was taken once, and runs no more.
    unsafe { end(team, task, Some(context.id())) };
}

/// The task is over: what depends on it may go on.
///
/// # Safety
///
/// Called once for a task, by `member` of its team, or by a thread that may be none.
unsafe fn end(team: &Team, task: NonNull<Task>, member: Option<u32>) {
    // SAFETY: its own reference keeps it, until that is given back below.
    let this = unsafe { task.as_ref() };
    let tasks = &team.tasks;
    if this.listed.get() {
        for freed in tasks.linked(|| crate::depend::release(this)) {
            tasks.push(member, freed);
        }
    }
    tasks.forget_edges(this);
    // SAFETY: the group lives until this task has left it.
    if let Some(group) = unsafe { this.counted_in.as_ref() } {
        group.leave();
    }
    let parent = NonNull::new(this.parent.cast_mut());
    let alone = this.counts.is_alone();
    // A task that was dropped leaves its memory to the event, until the team is no more.
    let awaited = this.detached && this.event.load(SeqCst) & FULFILLED == 0;
    // SAFETY: the task has a reference of its parent, and is counted by it.
    unsafe {
        if alone {
            if !awaited {
                tasks.give_back(member, task);
            }
            if let Some(parent) = parent {
                let_go(parent, Counts::drop_child);
            }
        } else {
            if let Some(parent) = parent {
                // Its memory keeps the parent's.
                parent.as_ref().counts.end_child();
            }
            if !awaited {
                let_go(task, Counts::end);
            }
        }
    }
    tasks.count_ended(member);
    // The last task to end finds none that is ready.
    if !tasks.has_ready() {
        team.barrier.try_open(team);
    }
    team.bell.ring_after_rmw();
}
