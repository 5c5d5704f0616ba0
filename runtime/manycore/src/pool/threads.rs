//! How a pool's threads are made, and the code that they run before and after their work.

use super::context::Context;
use super::registry::Registry;
#[cfg(test)]
use crate::conserving::fault::{self, Fault};
use crate::times::REFUSED;
use manycore_cores::sync::Lock;
use manycore_platform::{Atomic, Ordering, Platform, ThreadSpec};
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A function that takes the number of a thread.
pub(super) type OfIndex<R> = Arc<dyn Fn(usize) -> R + Send + Sync>;

/// The builder's settings of the pool's threads.
#[derive(Clone)]
pub(super) struct ThreadPlan {
    /// The beginning of the threads' names, and the size of their stacks.
    pub(super) spec: ThreadSpec,
    pub(super) on_start: Option<OfIndex<()>>,
    pub(super) on_exit: Option<OfIndex<()>>,
    /// Whether the pool may start threads that take over the permits (rights to run jobs) of threads that wait.
    pub(super) reserve: bool,
}

/// A thread that a pool needs, and that the builder's caller makes.
///
/// [`seam::build`](crate::seam::build) passes a `ThreadStart` for each of the pool's threads to a function of its
/// caller. The function makes a thread call [`run`](Self::run).
///
/// ```
/// use manycore::{Pool, seam};
///
/// let mut names = Vec::new();
/// let mut make = |start: seam::ThreadStart| {
///     assert_eq!(start.index(), names.len());
///     names.push(start.name().to_owned());
///     std::thread::Builder::new().spawn(|| start.run()).map(drop)
/// };
/// let builder = Pool::builder().threads(2).name("mine");
/// let pool = seam::build(&builder, None, Some(&mut make))?;
/// assert_eq!(pool.install(|| 3 + 4), 7);
/// assert_eq!(names, ["mine-0", "mine-1"]);
/// # Ok::<(), manycore::BuildError>(())
/// ```
pub struct ThreadStart {
    index: usize,
    spec: ThreadSpec,
    body: Box<dyn FnOnce() + Send>,
}

impl ThreadStart {
    /// The number of the thread in its pool, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The name that the thread should have.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// The size of the thread's stack in bytes, if the builder has a size.
    pub fn stack_size(&self) -> Option<usize> {
        self.spec.stack_size
    }

    /// Makes the current thread a thread of the pool. The call ends when the pool has ended.
    pub fn run(self) {
        (self.body)();
    }
}

impl fmt::Debug for ThreadStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadStart")
            .field("index", &self.index)
            .field("spec", &self.spec)
            .finish_non_exhaustive()
    }
}

/// Makes a pool's threads while the pool is built.
pub(crate) type Maker<'a> = &'a mut dyn FnMut(ThreadStart) -> io::Result<()>;

/// What the caller of the builder has asked for the threads that are being made.
#[derive(Default)]
pub(crate) struct Making<'n, 'm> {
    /// Returns the name of the thread with a given number.
    pub(crate) name_of: Option<&'n dyn Fn(usize) -> String>,
    /// The maker of the threads, if the pool does not make them itself.
    pub(crate) maker: Option<Maker<'m>>,
}

impl Making<'_, '_> {
    fn maker(&mut self) -> Option<Maker<'_>> {
        match &mut self.maker {
            Some(maker) => Some(&mut **maker),
            None => None,
        }
    }
}

/// A pool's threads.
pub(super) struct Threads<P: Platform> {
    plan: ThreadPlan,
    /// The CPUs to which the thread of each permit is bound.
    cpus: Vec<Vec<usize>>,
    /// The CPUs on which unbound threads begin, if that matters.
    near: Vec<Vec<usize>>,
    /// The thread names for each permit, if the builder's caller gives names.
    names: Lock<P, Vec<String>>,
    /// The threads that the pool has started itself, and joins at its end.
    started: Lock<P, Started<P>>,
    /// Whether any thread has ended.
    have_ended: P::AtomicBool,
    /// The time before which the pool starts no thread of the reserve (the threads that take over permits of waiting
    /// threads), since the system has refused a thread. Relaxed: only timing depends on this.
    refused_until: P::AtomicU64,
}

/// The threads that a pool has started and not joined.
struct Started<P: Platform> {
    /// Each thread, with its number. Threads that are started later have larger numbers.
    threads: Vec<(u64, P::Thread)>,
    next: u64,
    /// The numbers and ids of threads that have ended, or are about to, and that no thread joins yet.
    ended: Vec<(u64, u64)>,
    /// The ids of all threads that have ended, or are about to, until they are joined.
    ending: Vec<u64>,
}

impl<P: Platform> Threads<P> {
    pub(super) fn new(plan: ThreadPlan, cpus: Vec<Vec<usize>>, near: Vec<Vec<usize>>) -> Self {
        Self {
            plan,
            cpus,
            near,
            names: Lock::new(Vec::new()),
            started: Lock::new(Started {
                threads: Vec::new(),
                next: 0,
                ended: Vec::new(),
                ending: Vec::new(),
            }),
            have_ended: P::AtomicBool::new(false),
            refused_until: P::AtomicU64::new(0),
        }
    }

    pub(super) fn are_none(&self) -> bool {
        self.started.with(|started| started.threads.is_empty())
    }

    /// Whether the pool may start threads in the place of others, unless the system refuses.
    pub(super) fn are_replaced(&self) -> bool {
        self.plan.reserve
    }

    /// Whether a thread may be started in the place of a permit's waiting holder.
    pub(super) fn have_reserve(&self) -> bool {
        self.plan.reserve && P::now() >= self.refused_until.load(Ordering::Relaxed)
    }

    /// Notes that the system has refused a thread of the reserve.
    pub(super) fn note_refusal(&self) {
        let until = P::now() + P::duration_to_ticks(REFUSED);
        self.refused_until.store(until, Ordering::Relaxed);
    }

    /// The name of the pool's monitor.
    pub(super) fn monitor_name(&self) -> String {
        format!("{}-monitor", self.plan.spec.name)
    }

    /// The CPUs to which the thread of a permit is bound. The list is empty if the pool binds no threads.
    pub(super) fn cpus_of(&self, permit: usize) -> &[usize] {
        self.cpus.get(permit).map_or(&[], |cpus| cpus)
    }

    /// Waits until all threads have ended, including threads that are started meanwhile.
    fn join_all(&self) {
        while let Some((_, thread)) = self.started.with(|started| started.threads.pop()) {
            P::join(thread);
        }
        self.started.with(|started| {
            started.ended.clear();
            started.ending.clear();
        });
    }

    /// Whether the thread with this id, the current thread, has left the pool and is about to end: it runs the
    /// destructors of its thread-locals.
    pub(super) fn is_ending(&self, thread: u64) -> bool {
        // Relaxed: a thread that is about to end has set it itself.
        self.have_ended.load(Ordering::Relaxed)
            && self
                .started
                .with(|started| started.ending.contains(&thread))
    }

    /// Records that the thread with this number, the current thread, is about to end. Joins the threads that have
    /// ended before this one, since the system keeps a thread's stack until the thread is joined.
    fn end(&self, number: u64) {
        let take_ended = |started: &mut Started<P>| {
            let (ended, id) = started.ended.pop()?;
            let at = (started.threads.iter()).position(|&(number, _)| number == ended)?;
            Some((started.threads.swap_remove(at).1, id))
        };
        while let Some((thread, id)) = self.started.with(take_ended) {
            P::join(thread);
            (self.started).with(|started| started.ending.retain(|&other| other != id));
        }
        let id = P::thread_id();
        self.have_ended.store(true, Ordering::Relaxed);
        self.started.with(|started| {
            started.ended.push((number, id));
            started.ending.push(id);
        });
    }

    /// The specification of the thread of worker `id`. The thread begins with `permit`.
    fn spec(&self, id: usize, permit: usize) -> ThreadSpec {
        ThreadSpec {
            name: (self.names.with(|names| names.get(permit).cloned()))
                .unwrap_or_else(|| format!("{}-{id}", self.plan.spec.name)),
            cpus: self.cpus[permit].clone(),
            ..self.plan.spec.clone()
        }
    }
}

/// The threads that are not made yet. If this value is dropped before all are made, the pool ends. No thread reads the
/// mail (the jobs that were sent) of the missing threads, so every worker may read it.
struct Unmade<'a, P: Platform> {
    registry: &'a Registry<P>,
    next: usize,
}

impl<P: Platform> Drop for Unmade<'_, P> {
    fn drop(&mut self) {
        for mailbox in &self.registry.mailboxes()[self.next..] {
            mailbox.desert();
        }
    }
}

impl<P: Platform> Registry<P> {
    /// Waits until all threads have ended.
    pub(super) fn join_threads(&self) {
        self.threads().join_all();
        self.monitor().join();
    }

    /// Makes the threads of the permits, or only their names if the threads are to be started `later`. On failure
    /// returns the permit and the error.
    pub(super) fn make_threads(
        &self,
        later: bool,
        mut making: Making<'_, '_>,
    ) -> Result<(), (usize, io::Error)> {
        let first = self.thread_set().first();
        let mut unmade = Unmade {
            registry: self,
            next: 0,
        };
        for permit in 0..self.mailboxes().len() {
            unmade.next = permit.max(first);
            // `name_of` is called just before each start. So if it panics, the earlier threads have been started.
            // Later threads with the same permit have the same name.
            let own = permit >= first || !self.is_adopted();
            if let Some(name_of) = making.name_of.filter(|_| own) {
                let name = name_of(permit);
                let names = |names: &mut Vec<String>| {
                    names.resize(permit, self.threads().plan.spec.name.clone());
                    names.push(name);
                };
                self.threads().names.with(names);
            }
            if permit >= first && !later {
                let started = self.start_worker(permit, permit, making.maker());
                started.map_err(|error| (permit, error))?;
            }
        }
        unmade.next = self.mailboxes().len();
        Ok(())
    }

    /// Starts the thread of worker `id`, bound to the CPUs of `permit`. If there is a `maker`, the maker starts the
    /// thread.
    pub(super) fn start_thread_of(
        &self,
        id: usize,
        permit: usize,
        maker: Option<Maker<'_>>,
    ) -> io::Result<()> {
        let registry = self.keep();
        let number = (self.threads().started).with(|started| {
            started.next += 1;
            started.next
        });
        let is_own = maker.is_none();
        let body = move || {
            if let Some(near) = registry.threads().near.get(permit) {
                P::begin_on(near);
            }
            let worker = registry.worker(id);
            worker.note_thread();
            if is_own {
                worker.note_bound(permit);
            }
            Context::of_worker(worker).enter(|| {
                let plan = &registry.threads().plan;
                registry.call_handler(&plan.on_start, id);
                worker.work();
                registry.call_handler(&plan.on_exit, id);
                worker.leave_for_good();
            });
            // The thread may be a worker of another pool that has given away its permit there while it waited in this
            // pool.
            Context::<P>::come_back();
            if is_own {
                registry.change_permits(|permits| permits.retire(id));
                registry.threads().end(number);
            }
        };
        let (spec, body) = (self.threads().spec(id, permit), Box::new(body));
        if let Some(make) = maker {
            return make(ThreadStart {
                index: id,
                spec,
                body,
            });
        }
        let thread = P::spawn(spec, body)?;
        #[cfg(test)]
        if id >= self.mailboxes().len()
            && (fault::is(Fault::SlowStart) || fault::is(Fault::UncountedStart))
        {
            (0..300).for_each(|_| P::yield_now());
        }
        (self.threads().started).with(|started| started.threads.push((number, thread)));
        Ok(())
    }

    /// Calls a handler. No caller can receive a panic of the handler, so the panic handler receives it, as for a
    /// detached job.
    fn call_handler(&self, handler: &Option<OfIndex<()>>, id: usize) {
        let Some(handler) = handler else { return };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| handler(id))) {
            self.handle_panic(payload);
        }
    }
}
