//! Explicit tasks.
//!
//! A team has one lock for all that has to do with its tasks: the queues, the dependences, and who
//! waits for whom. A task that is ready is in up to three queues: its team's, for members at a
//! barrier; its parent's, for a `taskwait`; its group's, for the end of a `taskgroup`. It is taken
//! from one of them and marked; the others drop it when they come to it, or when more than half
//! of what they hold is such.
//!
//! A thread in a `taskwait` runs children of its task only: a tied task may not be begun by a
//! thread that has put aside another that it does not descend from.

use crate::context::Context;
use crate::depend::{Blocks, Edges};
use crate::icv::Icv;
use crate::lock::Guarded;
use crate::team::{Outlined, Team};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::{Cell, RefCell, UnsafeCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};

/// So many unfinished tasks a member, and a further one is run at once.
const MOST_LIVE: usize = 64;

/// Where a task is in its life; changed under the team's lock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Waits for others, or was never queued.
    Held,
    Ready,
    Taken,
}

/// What the team's lock protects in a task.
pub(crate) struct Linked {
    stage: Stage,
    /// Children that are ready.
    children: Queue,
    pub(crate) blocks: Blocks,
    /// Who depends on what among the children.
    pub(crate) edges: Edges,
    /// For a detached task: its body has returned, its event is fulfilled.
    returned: bool,
    fulfilled: bool,
}

/// A task: implicit ones too.
pub(crate) struct Task {
    function: Option<Outlined>,
    arguments: Arguments,
    /// Of its children the first to be run has the largest.
    priority: i32,
    pub(crate) is_final: bool,
    detached: bool,
    pub(crate) parent: Option<Arc<Task>>,
    /// The team in which it is; null for implicit tasks.
    team: *const Team,
    /// Only the thread that runs the task touches it.
    pub(crate) icv: Cell<Icv>,
    /// The group that the task's children are in.
    pub(crate) group: RefCell<Option<Arc<Group>>>,
    /// The group that this task is counted in.
    counted_in: Option<Arc<Group>>,
    /// Children that have not ended.
    unfinished: AtomicUsize,
    /// Children that are ready: a hint to look into the queue.
    ready: AtomicUsize,
    linked: UnsafeCell<Linked>,
    /// Whether children were found by address; only the thread that runs it touches this.
    pub(crate) edged: AtomicBool,
    pub(crate) done: AtomicBool,
}

// SAFETY: the cells are its thread's, `linked` belongs to the owner of the team's lock.
unsafe impl Sync for Task {}
// SAFETY: the same; its arguments are the program's, which shares them.
unsafe impl Send for Task {}

/// A `taskgroup`.
pub(crate) struct Group {
    pub(crate) previous: Option<Arc<Group>>,
    unfinished: AtomicUsize,
    ready: AtomicUsize,
    cancelled: AtomicBool,
    /// Whether it is that of a work share with reductions over tasks.
    pub(crate) workshare: bool,
    /// The compiled program's description of reductions.
    pub(crate) reductions: AtomicPtr<usize>,
    queue: UnsafeCell<Queue>,
}

// SAFETY: the queue belongs to the owner of the team's lock.
unsafe impl Sync for Group {}
// SAFETY: the same.
unsafe impl Send for Group {}

impl Group {
    pub(crate) fn new(previous: Option<Arc<Self>>, workshare: bool) -> Arc<Self> {
        Arc::new(Self {
            previous,
            unfinished: AtomicUsize::new(0),
            ready: AtomicUsize::new(0),
            cancelled: AtomicBool::new(false),
            workshare,
            reductions: AtomicPtr::new(ptr::null_mut()),
            queue: UnsafeCell::new(Queue::default()),
        })
    }

    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, SeqCst);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(SeqCst)
    }
}

/// A copy of a task's arguments.
struct Arguments {
    memory: Option<(NonNull<u8>, Layout)>,
    pointer: *mut c_void,
}

impl Arguments {
    const NONE: Self = Self {
        memory: None,
        pointer: ptr::null_mut(),
    };

    /// # Safety
    ///
    /// `data` has `size` bytes, or `copy` knows how to copy what it has.
    unsafe fn copied(
        data: *const c_void,
        copy: Option<unsafe extern "C" fn(*mut c_void, *const c_void)>,
        size: usize,
        align: usize,
    ) -> Self {
        if size == 0 && copy.is_none() {
            return Self {
                memory: None,
                pointer: data.cast_mut(),
            };
        }
        let layout = Layout::from_size_align(size.max(1), align.max(1)).unwrap_or_else(|_| {
            crate::report::fatal(format_args!(
                "a task with {size} bytes of arguments, aligned to {align}; expected a power of two"
            ))
        });
        // SAFETY: the size is not 0.
        let Some(memory) = NonNull::new(unsafe { alloc(layout) }) else {
            handle_alloc_error(layout)
        };
        let pointer = memory.as_ptr().cast();
        match copy {
            // SAFETY: as the compiler has it.
            Some(copy) => unsafe { copy(pointer, data) },
            // SAFETY: `size` bytes there and here.
            None => unsafe { ptr::copy_nonoverlapping(data.cast(), memory.as_ptr(), size) },
        }
        Self {
            memory: Some((memory, layout)),
            pointer,
        }
    }
}

impl Drop for Arguments {
    fn drop(&mut self) {
        if let Some((memory, layout)) = self.memory {
            // SAFETY: allocated so.
            unsafe { dealloc(memory.as_ptr(), layout) };
        }
    }
}

/// Tasks that are ready, by priority; perhaps among others that were taken meanwhile.
#[derive(Default)]
struct Queue {
    plain: VecDeque<Arc<Task>>,
    urgent: BTreeMap<Reverse<i32>, VecDeque<Arc<Task>>>,
}

impl Queue {
    fn push(&mut self, task: &Arc<Task>, ready: usize) {
        let queue = match task.priority {
            0 => &mut self.plain,
            priority => self.urgent.entry(Reverse(priority)).or_default(),
        };
        if queue.len() > 2 * ready + 64 {
            queue.retain(|task| task.linked().stage == Stage::Ready);
        }
        queue.push_back(Arc::clone(task));
    }

    /// The most urgent; of those the oldest, or the `newest`.
    fn pop(&mut self, newest: bool) -> Option<Arc<Task>> {
        let queues = self.urgent.values_mut().chain([&mut self.plain]);
        for queue in queues {
            while let Some(task) = if newest {
                queue.pop_back()
            } else {
                queue.pop_front()
            } {
                if task.linked().stage == Stage::Ready {
                    return Some(task);
                }
            }
        }
        None
    }
}

/// The tasks of a team.
pub(crate) struct Tasks {
    /// Tasks that have not ended.
    live: AtomicUsize,
    /// Tasks that wait to be run.
    ready: AtomicUsize,
    queue: Guarded<Queue>,
}

impl Tasks {
    pub(crate) fn new() -> Self {
        Self {
            live: AtomicUsize::new(0),
            ready: AtomicUsize::new(0),
            queue: Guarded::new(Queue::default()),
        }
    }

    #[inline]
    pub(crate) fn live(&self) -> usize {
        self.live.load(SeqCst)
    }

    #[inline]
    pub(crate) fn has_ready(&self) -> bool {
        self.ready.load(SeqCst) != 0
    }

    /// Runs `body` with the team's lock, under which tasks may be linked.
    pub(crate) fn locked<R>(&self, body: impl FnOnce() -> R) -> R {
        self.queue.with(|_| body())
    }

    /// The task makes no further children: its children are no longer to be found by address.
    pub(crate) fn forget_edges(&self, task: &Task) {
        if !task.edged.load(Relaxed) {
            return;
        }
        // They are let go without the lock: the last count of a child may go with them.
        let edges = self.locked(|| std::mem::take(&mut task.linked().edges));
        task.edged.store(false, Relaxed);
        drop(edges);
    }

    pub(crate) fn take_any(&self) -> Option<Arc<Task>> {
        if !self.has_ready() {
            return None;
        }
        self.queue.with(|queue| self.taken(queue.pop(false)))
    }

    fn take_child(&self, parent: &Task) -> Option<Arc<Task>> {
        if parent.ready.load(SeqCst) == 0 {
            return None;
        }
        self.queue
            .with(|_| self.taken(parent.linked().children.pop(true)))
    }

    fn take_of(&self, group: &Group) -> Option<Arc<Task>> {
        if group.ready.load(SeqCst) == 0 {
            return None;
        }
        self.queue.with(|_| {
            // SAFETY: this thread has the lock.
            let queue = unsafe { &mut *group.queue.get() };
            self.taken(queue.pop(true))
        })
    }

    /// Marks it. With the lock.
    fn taken(&self, task: Option<Arc<Task>>) -> Option<Arc<Task>> {
        let task = task?;
        task.linked().stage = Stage::Taken;
        self.ready.fetch_sub(1, SeqCst);
        if let Some(parent) = &task.parent {
            parent.ready.fetch_sub(1, SeqCst);
        }
        if let Some(group) = &task.counted_in {
            group.ready.fetch_sub(1, SeqCst);
        }
        Some(task)
    }

    /// Nothing keeps the task any more. With the lock, of which `queue` is proof.
    fn queue(&self, queue: &mut Queue, task: &Arc<Task>) {
        task.linked().stage = Stage::Ready;
        let ready = self.ready.fetch_add(1, SeqCst) + 1;
        queue.push(task, ready);
        if let Some(parent) = &task.parent {
            let ready = parent.ready.fetch_add(1, SeqCst) + 1;
            parent.linked().children.push(task, ready);
        }
        if let Some(group) = &task.counted_in {
            let ready = group.ready.fetch_add(1, SeqCst) + 1;
            // SAFETY: this thread has the lock.
            unsafe { &mut *group.queue.get() }.push(task, ready);
        }
    }
}

impl Task {
    fn new(function: Option<Outlined>, icv: Icv) -> Self {
        Self {
            function,
            arguments: Arguments::NONE,
            priority: 0,
            is_final: false,
            detached: false,
            parent: None,
            team: ptr::null(),
            icv: Cell::new(icv),
            group: RefCell::new(None),
            counted_in: None,
            unfinished: AtomicUsize::new(0),
            ready: AtomicUsize::new(0),
            linked: UnsafeCell::new(Linked {
                stage: Stage::Held,
                children: Queue::default(),
                blocks: Blocks::default(),
                edges: Edges::default(),
                returned: false,
                fulfilled: false,
            }),
            edged: AtomicBool::new(false),
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
        *self.group.get_mut() = group;
        self.is_final = is_final;
        self.linked.get_mut().children = Queue::default();
    }

    /// What the team's lock protects: to be called with that lock, or where nobody else can have
    /// the task; and the result used no longer.
    #[expect(clippy::mut_from_ref, reason = "the team's lock makes it exclusive")]
    pub(crate) fn linked(&self) -> &mut Linked {
        // SAFETY: by the contract above, which all callers in this crate keep.
        unsafe { &mut *self.linked.get() }
    }
}

/// How a task is to be made.
pub(crate) struct Order {
    pub(crate) function: Outlined,
    pub(crate) data: *mut c_void,
    pub(crate) copy: Option<unsafe extern "C" fn(*mut c_void, *const c_void)>,
    pub(crate) size: usize,
    pub(crate) align: usize,
    pub(crate) deferred: bool,
    pub(crate) is_final: bool,
    pub(crate) priority: i32,
    /// The compiler's array of dependences, or null.
    pub(crate) depend: *mut *mut c_void,
    /// Where the handle of its event goes, or null.
    pub(crate) event: *mut *const Task,
}

/// Makes a task, and runs it if it is not to be deferred.
///
/// # Safety
///
/// The order is as compiled programs make it.
pub(crate) unsafe fn make(context: &Context, order: &Order) {
    let team = context.team();
    let current = context.task();
    if is_discarded(team, current) {
        return;
    }
    let crowded = team.tasks.live() > MOST_LIVE * team.size as usize;
    let at_once = team.size == 1 || crowded || current.is_final;
    // What depends on a detached task may not be run here: its event may be fulfilled by a task
    // that this one makes later.
    let free = || {
        // SAFETY: the compiler's array.
        let awaited = || unsafe { crate::depend::awaited(current, order.depend) };
        order.depend.is_null() || team.tasks.locked(awaited).is_empty()
    };
    let detached = !order.event.is_null();
    if !order.deferred || (at_once && !detached && free()) {
        // SAFETY: as above.
        unsafe { run_at_once(context, order) };
        return;
    }
    // SAFETY: the current task is in an `Arc`, as all are; its count is raised for the new one.
    let parent = unsafe {
        Arc::increment_strong_count(current);
        Arc::from_raw(current)
    };
    let mut task = Task::new(Some(order.function), current.icv.get());
    task.is_final = order.is_final;
    task.priority = order.priority;
    task.detached = detached;
    task.team = team;
    task.counted_in = current.group.borrow().clone();
    *task.group.get_mut() = task.counted_in.clone();
    task.parent = Some(parent);
    let mut task = Arc::new(task);
    if detached {
        // The event's handle is the task; the event has a count of its own until it is fulfilled.
        let handle = Arc::into_raw(Arc::clone(&task));
        // SAFETY: the compiler's pointer; the data begins with a copy of the handle.
        unsafe {
            order.event.write(handle);
            if !order.data.is_null() {
                order.data.cast::<*const Task>().write(handle);
            }
        }
    }
    // SAFETY: the data is as the order says; nobody else looks at the arguments of a task that is
    // not queued.
    unsafe {
        let arguments = Arguments::copied(order.data, order.copy, order.size, order.align);
        (*Arc::as_ptr(&task).cast_mut()).arguments = arguments;
    }
    // Counted before anybody can end it.
    current.unfinished.fetch_add(1, SeqCst);
    if let Some(group) = &task.counted_in {
        group.unfinished.fetch_add(1, SeqCst);
    }
    team.tasks.live.fetch_add(1, SeqCst);
    let ready = team.tasks.queue.with(|queue| {
        if !order.depend.is_null() {
            // SAFETY: the compiler's array.
            unsafe { crate::depend::link(&mut task, order.depend) };
        }
        let ready = task.linked().blocks.is_free();
        if ready {
            team.tasks.queue(queue, &task);
        }
        ready
    });
    if ready {
        team.bell.ring_after_rmw();
    }
}

/// A task that its thread runs here and now.
unsafe fn run_at_once(context: &Context, order: &Order) {
    let (team, current) = (context.team(), context.task());
    if !order.depend.is_null() {
        // SAFETY: the compiler's array.
        unsafe { wait_for_dependences(context, order.depend) };
    }
    let mut task = Task::new(Some(order.function), current.icv.get());
    task.is_final = order.is_final || current.is_final;
    task.detached = !order.event.is_null();
    task.team = team;
    *task.group.get_mut() = current.group.borrow().clone();
    let task = Arc::new(task);
    if task.detached {
        let handle = Arc::into_raw(Arc::clone(&task));
        // SAFETY: as in `make`.
        unsafe {
            order.event.write(handle);
            if !order.data.is_null() {
                order.data.cast::<*const Task>().write(handle);
            }
        }
    }
    let arguments = if order.copy.is_some() {
        // SAFETY: the data is as the order says.
        unsafe { Arguments::copied(order.data, order.copy, order.size, order.align) }
    } else {
        Arguments {
            memory: None,
            pointer: order.data,
        }
    };
    let seat = &context.seat;
    let before = seat.task.replace(Arc::as_ptr(&task));
    // SAFETY: compiled code with the arguments made for it.
    unsafe { (order.function)(arguments.pointer) };
    seat.task.set(before);
    if task.detached {
        team.bell
            .wait_until(context, &|| team.tasks.locked(|| task.linked().fulfilled));
    }
}

/// Whether tasks that are not begun are to be dropped here.
fn is_discarded(team: &Team, current: &Task) -> bool {
    if team.is_cancelled() {
        return true;
    }
    let group = current.group.borrow();
    group.as_ref().is_some_and(|group| {
        group.is_cancelled()
            || (group.workshare && group.previous.as_ref().is_some_and(|g| g.is_cancelled()))
    })
}

/// Runs a task that was taken, to its end.
pub(crate) fn run(context: &Context, task: Arc<Task>) {
    let team = context.team();
    if !is_discarded(team, &task) {
        let seat = &context.seat;
        let before = seat.task.replace(Arc::as_ptr(&task));
        if let Some(function) = task.function {
            // SAFETY: compiled code with the arguments made for it.
            unsafe { function(task.arguments.pointer) };
        }
        seat.task.set(before);
    } else if task.detached {
        // Nobody may ever fulfil the event of a task that was not run.
        team.tasks.locked(|| task.linked().fulfilled = true);
    }
    if task.detached {
        let fulfilled = team.tasks.locked(|| {
            task.linked().returned = true;
            task.linked().fulfilled
        });
        if !fulfilled {
            return; // Whoever fulfils the event ends the task.
        }
    }
    end(team, &task);
}

/// The task is over: who depends on it may go on.
fn end(team: &Team, task: &Arc<Task>) {
    if !task.linked_edges_are_empty() {
        team.tasks.queue.with(|queue| {
            for freed in crate::depend::release(task) {
                team.tasks.queue(queue, &freed);
            }
        });
    } else {
        task.done.store(true, SeqCst);
    }
    team.tasks.forget_edges(task);
    if let Some(group) = &task.counted_in {
        group.unfinished.fetch_sub(1, SeqCst);
    }
    if let Some(parent) = &task.parent {
        parent.unfinished.fetch_sub(1, SeqCst);
    }
    if team.tasks.live.fetch_sub(1, SeqCst) == 1 {
        team.barrier.try_open(team);
    }
    team.bell.ring_after_rmw();
}

impl Task {
    /// A task without dependences of its own is in nobody's list.
    fn linked_edges_are_empty(&self) -> bool {
        !self.linked().blocks.is_listed()
    }
}

/// `omp_fulfill_event`.
///
/// # Safety
///
/// The handle is one that `make` gave out, and this the only call for it.
pub(crate) unsafe fn fulfil(handle: *const Task) {
    // SAFETY: the count that the event had.
    let task = unsafe { Arc::from_raw(handle) };
    // SAFETY: the team of a task that has not ended lives.
    let team = unsafe { &*task.team };
    let returned = team.tasks.locked(|| {
        task.linked().fulfilled = true;
        task.linked().returned
    });
    if returned {
        end(team, &task);
    }
    team.bell.ring();
}

/// `taskwait`.
pub(crate) fn wait(context: &Context) {
    let (team, task) = (context.team(), context.task());
    while task.unfinished.load(SeqCst) != 0 {
        match team.tasks.take_child(task) {
            Some(child) => run(context, child),
            None => team.bell.wait_until(context, &|| {
                task.unfinished.load(SeqCst) == 0 || task.ready.load(SeqCst) != 0
            }),
        }
    }
}

/// `taskwait depend`: the same for children that what is in the compiler's array depends on.
///
/// # Safety
///
/// The array is as compiled programs make it.
pub(crate) unsafe fn wait_for_dependences(context: &Context, depend: *mut *mut c_void) {
    let (team, task) = (context.team(), context.task());
    // SAFETY: as above.
    let awaited = team
        .tasks
        .locked(|| unsafe { crate::depend::awaited(task, depend) });
    let ended = || awaited.iter().all(|task| task.done.load(SeqCst));
    while !ended() {
        match team.tasks.take_child(task) {
            Some(child) => run(context, child),
            None => team
                .bell
                .wait_until(context, &|| ended() || task.ready.load(SeqCst) != 0),
        }
    }
}

/// `taskgroup`, its beginning.
pub(crate) fn begin_group(context: &Context, workshare: bool) {
    let current = &context.task().group;
    let previous = current.borrow().clone();
    *current.borrow_mut() = Some(Group::new(previous, workshare));
}

/// `taskgroup`, its end.
pub(crate) fn end_group(context: &Context) {
    let (team, task) = (context.team(), context.task());
    let Some(group) = task.group.borrow().clone() else {
        return;
    };
    while group.unfinished.load(SeqCst) != 0 {
        match team.tasks.take_of(&group) {
            Some(task) => run(context, task),
            None => team.bell.wait_until(context, &|| {
                group.unfinished.load(SeqCst) == 0 || group.ready.load(SeqCst) != 0
            }),
        }
    }
    (*task.group.borrow_mut()).clone_from(&group.previous);
}
