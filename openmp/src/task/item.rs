//! A task, and the references that keep it.

use super::counts::Counts;
use super::depend::Links;
use super::group::{self, Group};
use super::memory::{self, Arguments, Block};
use super::order::Order;
use super::tasks::Key;
use crate::environment::icv::Icv;
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8};

/// A function that the compiler made from the body of a construct.
pub(crate) type Outlined = unsafe extern "C" fn(*mut c_void);

/// The bit of `event` that is set when the body of a detached task has returned.
pub(crate) const RETURNED: u8 = 1;
/// The bit of `event` that is set when the event of a detached task is fulfilled.
pub(crate) const FULFILLED: u8 = 2;

/// An explicit or implicit task. The fields are in the order of their use, so that a thread which runs a task of
/// another thread fetches few cache lines.
#[repr(C)]
pub(crate) struct Task {
    pub(crate) function: Option<Outlined>,
    pub(crate) arguments: Arguments,
    /// The task that made this task, or the nearest ancestor that this task still refers to. See
    /// [`Tasks::forget_ancestors`](super::Tasks::forget_ancestors), which also changes `depth`.
    pub(crate) parent: Cell<*const Self>,
    /// The group of the task's children, or null. Only the task's thread accesses this field.
    pub(crate) group: Cell<*const Group>,
    /// The parent's group when the task was made, or null. This group counts the task if it is explicit.
    pub(crate) counted_in: *const Group,
    /// Ready tasks with the largest priority run first.
    pub(crate) priority: i32,
    /// The number of ancestors, so that `descends_from` needs few steps.
    pub(crate) depth: Cell<u32>,
    /// Whether `parent` does not count the task as a child, since another task made it.
    pub(crate) adopted: Cell<bool>,
    /// Whether the task may be an ancestor, if it was made deep in a chain of tasks.
    pub(super) has_made: Cell<bool>,
    pub(crate) is_final: bool,
    pub(crate) detached: bool,
    /// Whether constructors made the arguments. The function destroys them, so it runs even if tasks are dropped.
    pub(crate) constructed: bool,
    /// Whether the task has dependences, so that siblings may find it by an address.
    pub(crate) listed: Cell<bool>,
    /// Whether a child has dependences. Only the task's thread accesses this field.
    pub(crate) edged: Cell<bool>,
    /// Whether the task has ended, if it is `listed`.
    pub(crate) done: AtomicBool,
    /// The bits [`RETURNED`] and [`FULFILLED`].
    pub(crate) event: AtomicU8,
    /// The home (the blocks of a member) that the task's memory comes from. Null for implicit tasks.
    pub(crate) home: *const memory::Home,
    /// The end of the thread's queue when the task began. Only the task's thread accesses this field.
    pub(crate) mark: Cell<usize>,
    /// Only the thread that runs the task accesses this field.
    pub(crate) icv: Cell<Icv>,
    pub(crate) counts: Counts,
    /// Frees the arguments, if the task is dropped before it begins.
    pub(crate) discard: Option<unsafe fn(*mut c_void)>,
    /// The team, if the task has an event. The event keeps the team alive. The type `Team` is in a layer above.
    pub(crate) team: *const c_void,
    /// The part that the team's lock of dependences protects.
    links: UnsafeCell<Links>,
}

// SAFETY: only the thread that makes or runs the task accesses `group`, `listed`, `edged`, `mark`, `icv` and the cell
// in `counts`, with two exceptions. The thread that ends the task reads `listed`, after a queue's lock has published
// the task. Another thread may read the cell in `counts` while the task's thread waits. `parent`, `depth`, `adopted`
// and `has_made` change only while the task runs and has made no task: another thread reads them only on the way from a
// descendant of the task, or after the task has ended. Only the owner of the lock of
// dependences accesses `links` (`Task::links`). All other fields are atomics, or are written before another thread
// knows the task. The targets of their pointers outlive the task, as the comments of the fields say.
unsafe impl Sync for Task {}
// SAFETY: a task may run on any thread of its team. The program shares the task's arguments between the thread that
// makes the task and the thread that runs it.
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
            depth: Cell::new(0),
            adopted: Cell::new(false),
            has_made: Cell::new(false),
            parent: Cell::new(ptr::null()),
            discard: None,
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

    /// The task that `order` describes, as a child of `parent`. Its block comes from `home`.
    #[inline(always)]
    pub(crate) fn explicit(order: &Order, parent: &Self, home: &memory::Home) -> Self {
        let group = parent.group.get();
        Self {
            function: Some(order.function),
            priority: order.priority,
            depth: Cell::new(parent.depth.get() + 1),
            is_final: order.is_final || parent.is_final,
            detached: !order.event.is_null(),
            constructed: order.copy.is_some(),
            discard: order.discard,
            parent: Cell::new(parent),
            home,
            group: Cell::new(group),
            counted_in: group,
            ..Self::new(None, parent.icv.get())
        }
    }

    /// The implicit task of a member of a region.
    pub(crate) fn implicit(icv: Icv) -> Self {
        Self::new(None, icv)
    }

    /// Resets the task for a new region.
    pub(crate) fn renew(&mut self, icv: Icv, group: Option<Arc<Group>>, is_final: bool) {
        self.icv.set(icv);
        // A cancelled region may have left groups open.
        group::abandon(self.group.get(), self.counted_in);
        // The region keeps the group alive.
        self.counted_in = group.as_ref().map_or(ptr::null(), Arc::as_ptr);
        self.group.set(self.counted_in);
        self.is_final = is_final;
        self.counts = Counts::new();
    }

    /// The task's dependences. Only the owner of the team's lock of dependences has the key.
    ///
    /// # Safety
    ///
    /// The key belongs to the task's team. The key of another team would not keep other threads out.
    pub(super) unsafe fn links<'a>(&'a self, _: &'a mut Key) -> &'a mut Links {
        // SAFETY: each lock has one key, and the caller borrows the key for as long as the result lives. So there is no
        // other reference to the links of any task of this team.
        unsafe { &mut *self.links.get() }
    }

    /// Whether the task is explicit: a construct for tasks has made it.
    pub(crate) fn is_explicit(&self) -> bool {
        !self.home.is_null()
    }

    /// The task that made this task, or an ancestor of it.
    pub(crate) fn parent(&self) -> Option<&Self> {
        // SAFETY: the memory of a task keeps the memory of its parent.
        unsafe { self.parent.get().as_ref() }
    }

    /// The group of the task's children.
    pub(crate) fn current_group(&self) -> Option<&Group> {
        // SAFETY: a group lives until all tasks in it have ended, and this task is in it.
        unsafe { self.group.get().as_ref() }
    }

    /// Whether the task descends from `ancestor`.
    pub(crate) fn descends_from(&self, ancestor: &Self) -> bool {
        let mut task = self;
        while task.depth.get() > ancestor.depth.get() {
            let Some(parent) = task.parent() else {
                return false;
            };
            task = parent;
        }
        ptr::eq(task, ancestor)
    }
}

/// A reference that keeps the memory of a task, which may have ended.
pub(crate) struct Kept(NonNull<Task>);

impl Kept {
    /// Adds a reference to a task. The caller knows that the task's memory exists.
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
        // SAFETY: the reference keeps the task.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: this value owns the reference.
        unsafe { let_go(self.0, Counts::drop_one) };
    }
}

/// Gives back a reference by `give`, which returns whether that reference was the last one. If so, frees the task's
/// memory, and gives back the task's reference to its parent in the same way.
///
/// # Safety
///
/// The caller owns the reference that it gives back.
pub(crate) unsafe fn let_go(mut task: NonNull<Task>, give: impl FnOnce(&Counts) -> bool) {
    // SAFETY: the reference that is given back keeps the task until `give` is called.
    let mut last = give(&unsafe { task.as_ref() }.counts);
    while last {
        // SAFETY: no other thread has the task, and the task's memory keeps the parent. An implicit task never gives
        // back its own reference, so this task is in a block.
        let parent = unsafe {
            let parent = NonNull::new(task.as_ref().parent.get().cast_mut());
            Block::give_back(task);
            parent
        };
        let Some(parent) = parent else { return };
        task = parent;
        // SAFETY: the child's reference keeps the parent until that reference is dropped here.
        last = unsafe { task.as_ref() }.counts.drop_one();
    }
}
