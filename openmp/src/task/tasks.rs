//! The tasks of a team. Each member has a queue, and a home of memory blocks.
//!
//! # When all tasks have ended
//!
//! Each member counts the tasks that it has made, and the tasks that it has ended. A thread first sums up all ended
//! tasks, then all made tasks. Both sums only grow. So if the two are equal, all tasks had ended at some time between
//! the two readings. If all members wait at that time, no further task can be made.

use super::Task;
use super::memory::{Block, Home};
use super::queue::Queue;

use crate::words::lock::Guarded;
use manycore_platform::{CachePadded, Native, Platform};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// If a member's queue has this number of tasks, the member runs its next task at once instead of queuing it.
const MOST_READY: usize = 64;
/// If this number of tasks for each member have not ended, a member runs its next task with dependences at once. Tasks
/// that wait for other tasks are counted too.
const MOST_LIVE: usize = 64;

/// A task with this number of ancestors forgets those that have ended.
const CHAIN: u32 = 64;

/// If there are more priorities with a queue than this, empty queues are dropped.
const KEPT: usize = 16;

/// The data of a member: cache lines that only the member writes, and lines that other threads write too.
struct Member {
    own: CachePadded<Counts>,
    queue: CachePadded<Queue>,
    home: CachePadded<Home>,
}

struct Counts {
    made: AtomicUsize,
    ended: AtomicUsize,
}

/// See the module.
pub(crate) struct Tasks {
    /// The last element is for threads that are not members.
    members: Box<[Member]>,
    /// Whether a task was ever made.
    used: AtomicBool,
    shared: CachePadded<Shared>,
    urgent: Guarded<Urgent>,
    /// The lock of dependences.
    links: Guarded<Key>,
}

/// The proof that a thread holds the lock of dependences. Each lock has one key.
pub(crate) struct Key(());

/// Words that all members look at.
struct Shared {
    /// The number of queues that contain tasks.
    nonempty: AtomicUsize,
    /// The number of ready tasks with a priority.
    urgent: AtomicUsize,
    /// The number of threads that wait for descendants of their task.
    choosy: AtomicUsize,
    /// How often tasks were queued while `choosy` was not 0.
    pushes: AtomicUsize,
}

/// Ready tasks with a priority.
#[derive(Default)]
struct Urgent(BTreeMap<Reverse<i32>, VecDeque<NonNull<Task>>>);

// SAFETY: any thread may run a task that is in a queue.
unsafe impl Send for Urgent {}

impl Urgent {
    /// Takes the first task, by priority and then by age, that `fits`.
    fn take(&mut self, fits: impl Fn(&Task) -> bool) -> Option<NonNull<Task>> {
        // SAFETY: tasks in a queue have not begun, so they live.
        let fits = |task: &NonNull<Task>| fits(unsafe { task.as_ref() });
        let (&priority, at) =
            (self.0.iter()).find_map(|(of, queue)| Some((of, queue.iter().position(fits)?)))?;
        let queue = self.0.get_mut(&priority)?;
        let task = queue.remove(at);
        if queue.is_empty() && self.0.len() > KEPT {
            self.0.remove(&priority);
        }
        task
    }
}

impl Tasks {
    pub(crate) fn new(size: u32) -> Self {
        let member = |_| Member {
            own: CachePadded::new(Counts {
                made: AtomicUsize::new(0),
                ended: AtomicUsize::new(0),
            }),
            queue: CachePadded::new(Queue::new()),
            home: CachePadded::new(Home::new()),
        };
        Self {
            members: (0..=size).map(member).collect(),
            used: AtomicBool::new(false),
            shared: CachePadded::new(Shared {
                nonempty: AtomicUsize::new(0),
                urgent: AtomicUsize::new(0),
                choosy: AtomicUsize::new(0),
                pushes: AtomicUsize::new(0),
            }),
            urgent: Guarded::new(Urgent::default()),
            links: Guarded::new(Key(())),
        }
    }

    /// The data of a member. `None` stands for a thread that is not a member.
    fn member(&self, member: Option<u32>) -> &Member {
        let last = self.members.len() - 1;
        &self.members[member.map_or(last, |id| id as usize)]
    }

    /// The home of a member: the blocks of the member's tasks come from it.
    #[inline]
    pub(crate) fn home(&self, member: u32) -> &Home {
        &self.members[member as usize].home
    }

    /// The position of the end of a member's queue.
    #[inline]
    pub(crate) fn end_of(&self, member: u32) -> usize {
        self.members[member as usize].queue.end()
    }

    /// The number of tasks that have not ended. A result of 0 is exact if only tasks make tasks.
    #[inline]
    pub(crate) fn live(&self) -> usize {
        if !self.used.load(Relaxed) {
            return 0;
        }
        let ended = self.members.iter().map(|m| m.own.ended.load(SeqCst));
        let ended: usize = ended.sum();
        let made = self.members.iter().map(|m| m.own.made.load(SeqCst));
        made.sum::<usize>() - ended
    }

    #[inline]
    pub(crate) fn has_ready(&self) -> bool {
        self.shared.nonempty.load(SeqCst) != 0
    }

    /// Whether there are so many tasks that the member runs its next task at once. Tasks that wait for other tasks are
    /// in no queue. They count only if the next task is `dependent`.
    pub(crate) fn is_crowded(&self, member: u32, dependent: bool) -> bool {
        let most = MOST_LIVE * (self.members.len() - 1);
        self.members[member as usize].queue.count() >= MOST_READY
            || (dependent && self.live() > most)
            || (self.shared.urgent.load(Relaxed) > most)
    }

    /// Counts that the member, which runs a task of this team, makes a task.
    pub(crate) fn count_made(&self, member: u32) {
        if !self.used.load(Relaxed) {
            // Relaxed: this store is published like the count below.
            self.used.store(true, Relaxed);
        }
        let made = &self.members[member as usize].own.made;
        // Relaxed: only this thread changes the count. After this store, the current task or the task that it makes
        // ends. The barrier's word or the count of ended tasks then publishes this store to each reader that must see
        // it.
        made.store(made.load(Relaxed) + 1, Relaxed);
    }

    /// Counts that a task has ended. This is also a full fence, since the caller then checks whether all tasks have
    /// ended.
    pub(crate) fn count_ended(&self, member: Option<u32>) {
        self.member(member).own.ended.fetch_add(1, SeqCst);
    }

    /// Gives back the memory of a task.
    ///
    /// # Safety
    ///
    /// No thread has the task any more.
    pub(crate) unsafe fn give_back(&self, member: Option<u32>, task: NonNull<Task>) {
        // SAFETY: as the caller promises. A member owns its home.
        unsafe {
            let Some(member) = member else {
                return Block::give_back(task);
            };
            let own = self.home(member);
            if std::ptr::eq(task.as_ref().home, own) {
                own.take_back(task);
            } else {
                own.collect(task);
            }
        }
    }

    /// The member that runs `task` calls this before it makes a child of `task`. From the parent up, frees ancestors
    /// that have ended and to which only `task` refers. `task` then refers to the nearest of the others. Without this,
    /// a chain of tasks that each make the next one keeps the memory of all. Does nothing if `task` has made a task, or
    /// has few ancestors.
    #[inline(always)]
    pub(crate) fn forget_ancestors(&self, member: u32, task: &Task) {
        if task.depth.get() >= CHAIN {
            self.forget_many_ancestors(member, task);
        }
    }

    #[cold]
    fn forget_many_ancestors(&self, member: u32, task: &Task) {
        if task.has_made.replace(true) {
            return;
        }
        while let Some(parent) = task.parent()
            && parent.counts.is_kept_by_child(task.adopted.get())
        {
            // The parent has ended, so its own parent counts it as a child no more. Its reference to its parent now
            // belongs to `task`.
            let above = parent.parent.get();
            // SAFETY: only `task` still refers to the parent. `task` is in no queue and has no descendants, so
            // no other thread comes to the parent through `task`.
            unsafe { self.give_back(Some(member), NonNull::from(parent)) };
            task.parent.set(above);
            task.adopted.set(true);
        }
        let above = task.parent().map_or(0, |parent| parent.depth.get());
        task.depth.set(above + 1);
    }

    /// Runs `body` with the lock of dependences.
    pub(crate) fn linked<R>(&self, body: impl FnOnce(&mut Key) -> R) -> R {
        self.links.with(body)
    }

    /// Called when a task of this team makes no further children. Forgets the addresses that its children named.
    pub(crate) fn forget_edges(&self, task: &Task) {
        if task.edged.replace(false) {
            // The edges are dropped without the lock, since they may have the last reference to a child.
            // SAFETY: `link` has set `edged`, with the key of this team, so the task is in this team.
            let edges = self.linked(|key| unsafe { task.links(key) }.edges.take());
            drop(edges);
        }
    }

    /// Queues a task that is ready. The caller has made the task, or has ended the last task that had to end before it.
    /// `member` is `None` if the caller is not a member.
    pub(crate) fn push(&self, member: Option<u32>, task: NonNull<Task>) {
        let shared = &self.shared;
        // SAFETY: the task is not queued yet, so it lives.
        let priority = unsafe { task.as_ref().priority };
        if priority == 0 {
            self.member(member).queue.push([task], || self.fills());
        } else {
            self.urgent.with(|urgent| {
                let queue = urgent.0.entry(Reverse(priority)).or_default();
                queue.push_back(task);
                if shared.urgent.fetch_add(1, SeqCst) == 0 {
                    self.fills();
                }
            });
        }
        self.has_queued();
    }

    /// Called after tasks were queued. A read-modify-write has released the lock of the queue.
    fn has_queued(&self) {
        Native::fence_after_rmw();
        // A thread that waits announces itself in `choosy`, and then looks at the queues. So either this load, which is
        // after the fence, sees the announcement, or that thread sees the tasks.
        if self.shared.choosy.load(SeqCst) != 0 {
            self.shared.pushes.fetch_add(1, SeqCst);
        }
    }

    fn fills(&self) {
        self.shared.nonempty.fetch_add(1, SeqCst);
    }

    fn empties(&self) {
        self.shared.nonempty.fetch_sub(1, SeqCst);
    }

    /// Takes the first task with a priority that `fits`.
    fn take_urgent(&self, fits: impl Fn(&Task) -> bool) -> Option<NonNull<Task>> {
        let count = &self.shared.urgent;
        if count.load(Relaxed) == 0 {
            return None;
        }
        self.urgent.with(|urgent| {
            let task = urgent.take(fits)?;
            if count.fetch_sub(1, SeqCst) == 1 {
                self.empties();
            }
            Some(task)
        })
    }

    /// Takes any ready task, for a member that waits at a barrier. May move other tasks to the member's queue. During
    /// the move no other thread sees these tasks, so `moved` is called after it.
    pub(crate) fn take_any(&self, member: u32, moved: impl Fn()) -> Option<NonNull<Task>> {
        if !self.has_ready() {
            return None;
        }
        let all = self.members.len();
        let own = || {
            self.members[member as usize]
                .queue
                .pop(0, || self.empties())
        };
        let steal = |step: usize| {
            let from = &self.members[(member as usize + step) % all].queue;
            let (first, mut others) = from.steal(|| self.empties()).split()?;
            if let Some(second) = others.next() {
                let own = &self.members[member as usize].queue;
                own.push(std::iter::once(second).chain(others), || self.fills());
                self.has_queued();
                moved();
            }
            Some(first)
        };
        self.take_urgent(|_| true)
            .or_else(own)
            .or_else(|| (1..all).find_map(steal))
    }

    /// Takes a ready task that descends from `ancestor`. The member runs `ancestor`.
    pub(crate) fn take_descendant(&self, member: u32, ancestor: &Task) -> Option<NonNull<Task>> {
        if !self.has_ready() {
            return None;
        }
        let all = self.members.len();
        let fits = |task: &Task| task.descends_from(ancestor);
        let own = || {
            let queue = &self.members[member as usize].queue;
            queue.pop(ancestor.mark.get(), || self.empties())
        };
        let steal = |step: usize| {
            let from = &self.members[(member as usize + step) % all].queue;
            from.steal_one(fits, || self.empties())
        };
        self.take_urgent(fits)
            .or_else(own)
            .or_else(|| (1..all).find_map(steal))
    }

    /// Called when a thread begins to wait for descendants of its task. Until [`unchoosy`](Self::unchoosy), `pushes`
    /// changes after each task that is queued. Returns the current value of `pushes`.
    pub(crate) fn choosy(&self) -> usize {
        self.shared.choosy.fetch_add(1, SeqCst);
        self.pushes()
    }

    pub(crate) fn unchoosy(&self) {
        self.shared.choosy.fetch_sub(1, SeqCst);
    }

    pub(crate) fn pushes(&self) -> usize {
        self.shared.pushes.load(SeqCst)
    }
}
