//! The tasks of a team: a queue and a home of blocks for each member.
//!
//! # When all have ended
//!
//! Each member counts the tasks that it has made, and the tasks that it has ended. A thread reads
//! first all that were ended, then all that were made. If the sums are equal, all had ended at some
//! time between the two readings: both sums only grow. If all members wait meanwhile, no task can
//! be made after that.

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

/// With this number of tasks in a member's queue that no thread has begun, the member runs its next
/// one at once.
const MOST_READY: usize = 64;
/// With this number of tasks a member that have not ended, including tasks that wait for others,
/// the same.
const MOST_LIVE: usize = 64;

/// A member's data: lines of its own, and lines that others write.
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
    /// The last one is for threads that are no members.
    members: Box<[Member]>,
    /// Whether there ever was a task.
    used: AtomicBool,
    shared: CachePadded<Shared>,
    urgent: Guarded<Urgent>,
    /// With it dependences are changed, and looked at.
    links: Guarded<Key>,
}

/// Whoever has the key has the lock of dependences. Each lock has one key.
pub(crate) struct Key(());

/// Words that all members look at.
struct Shared {
    /// The number of queues that contain tasks.
    nonempty: AtomicUsize,
    /// Tasks with a priority that are ready.
    urgent: AtomicUsize,
    /// Threads that wait for tasks of some kind.
    choosy: AtomicUsize,
    /// Times that a task was queued while some did.
    pushes: AtomicUsize,
}

/// Tasks with a priority.
#[derive(Default)]
struct Urgent(BTreeMap<Reverse<i32>, VecDeque<NonNull<Task>>>);

// SAFETY: a task that is in a queue may be run by any thread.
unsafe impl Send for Urgent {}

impl Urgent {
    /// The first, by priority and age, that `fits`.
    fn take(&mut self, fits: impl Fn(&Task) -> bool) -> Option<NonNull<Task>> {
        self.0.values_mut().find_map(|queue| {
            // SAFETY: tasks in a queue have not begun, and live.
            let at = queue
                .iter()
                .position(|task| fits(unsafe { task.as_ref() }))?;
            queue.remove(at)
        })
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

    /// A member's place for its tasks. A thread that is no member has the last place.
    fn member(&self, member: Option<u32>) -> &Member {
        let last = self.members.len() - 1;
        &self.members[member.map_or(last, |id| id as usize)]
    }

    /// The source of the blocks of a member's tasks.
    #[inline]
    pub(crate) fn home(&self, member: u32) -> &Home {
        &self.members[member as usize].home
    }

    /// The end of a member's queue.
    #[inline]
    pub(crate) fn end_of(&self, member: u32) -> usize {
        self.members[member as usize].queue.end()
    }

    /// The number of tasks that have not ended; 0 is exact if only tasks make tasks.
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

    /// Whether there are enough tasks that the member runs its next one at once. Tasks that wait
    /// for others are in no queue: with `dependent` they count as well.
    pub(crate) fn is_crowded(&self, member: u32, dependent: bool) -> bool {
        let most = MOST_LIVE * (self.members.len() - 1);
        self.members[member as usize].queue.count() >= MOST_READY
            || (dependent && self.live() > most)
            || (self.shared.urgent.load(Relaxed) > most)
    }

    /// A task is made by the member, which runs a task of this team.
    pub(crate) fn count_made(&self, member: u32) {
        if !self.used.load(Relaxed) {
            // Relaxed: published as the count is.
            self.used.store(true, Relaxed);
        }
        let made = &self.members[member as usize].own.made;
        // Relaxed: only this thread changes it; a barrier's word, or the end of this task or of one
        // that it makes, precedes any reading that has to see it.
        made.store(made.load(Relaxed) + 1, Relaxed);
    }

    /// A task has ended. A full fence, too: whether all have is looked at after it.
    pub(crate) fn count_ended(&self, member: Option<u32>) {
        self.member(member).own.ended.fetch_add(1, SeqCst);
    }

    /// Gives back the memory of a task that no thread has any more.
    ///
    /// # Safety
    ///
    /// As said.
    pub(crate) unsafe fn give_back(&self, member: Option<u32>, task: NonNull<Task>) {
        // SAFETY: by the caller's word; a member is the owner of its home.
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

    /// Runs `body` with the lock of dependences.
    pub(crate) fn linked<R>(&self, body: impl FnOnce(&mut Key) -> R) -> R {
        self.links.with(body)
    }

    /// The task, of this team, makes no further children: its children are no longer to be found by address.
    pub(crate) fn forget_edges(&self, task: &Task) {
        if task.edged.replace(false) {
            // They are let go without the lock: the last reference of a child may go with them.
            // SAFETY: `link` has set `edged`, with the key of this team.
            let edges = self.linked(|key| unsafe { task.links(key) }.edges.take());
            drop(edges);
        }
    }

    /// Nothing keeps the task any more: it is queued, by a member that made it, or ended what kept
    /// it, or by another thread.
    pub(crate) fn push(&self, member: Option<u32>, task: NonNull<Task>) {
        let shared = &self.shared;
        // SAFETY: it is not queued yet, and lives.
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
        Native::fence_after_rmw();
        // After the fence: either this load sees the announcement of a waiting thread, or that
        // thread, which looks at the queues after its announcement, sees the task there.
        if shared.choosy.load(SeqCst) != 0 {
            shared.pushes.fetch_add(1, SeqCst);
        }
    }

    fn fills(&self) {
        self.shared.nonempty.fetch_add(1, SeqCst);
    }

    fn empties(&self) {
        self.shared.nonempty.fetch_sub(1, SeqCst);
    }

    /// The first of the tasks with a priority that `fits`.
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

    /// Any task that is ready: for members that wait at a barrier.
    pub(crate) fn take_any(&self, member: u32) -> Option<NonNull<Task>> {
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
            }
            Some(first)
        };
        self.take_urgent(|_| true)
            .or_else(own)
            .or_else(|| (1..all).find_map(steal))
    }

    /// A task that descends from `ancestor`, which the member runs.
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

    /// A thread waits for tasks of some kind: until [`unchoosy`](Self::unchoosy), `pushes` changes
    /// after each task that is queued. Returns what it is now.
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
