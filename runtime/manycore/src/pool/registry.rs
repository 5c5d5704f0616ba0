//! The registry: all state of a pool, with its workers, their jobs and their permits (rights to run jobs).

use super::context::Context;
use super::gate::MOST_WORKERS;
use super::growable_list::GrowableList;
use super::mailbox::Mailbox;
use super::monitor::Monitor;
use super::permits::Permits;
use super::queue::Queue;
use super::shared::{Cores, Shared, is_oversubscribed};
use super::thread_set::ThreadSet;
use super::threads::{ThreadPlan, Threads};
use super::worker::Worker;
use crate::clusters::{Clusters, Invited};
use crate::sleep::Setup;
use crate::sleep::{Idle, Policy};
use crate::steal::JobStack;
use manycore_cores::elastic::Allotment;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::any::Any;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The handler of panics in detached jobs.
pub(super) type PanicHandler = Arc<dyn Fn(Box<dyn Any + Send>) + Send + Sync>;

/// The most jobs that a worker's stack holds, unless the builder sets another number. A deeper `join` runs its
/// halves one after the other. The stack takes 1.5 MiB of address space per thread.
pub(super) const STACK_CAPACITY: u32 = 1 << 16;

/// All state of a pool.
pub(crate) struct Registry<P: Platform> {
    shared: Shared<P>,
    sleep: Arc<Policy<P>>,
    /// Worker 0 is the thread that holds the caller slot (`caller_slot.rs`). Workers beyond the pool's number of
    /// threads belong to threads that were started for a permit (`permits/mod.rs`).
    workers: GrowableList<P, Worker<P>>,
    /// Jobs addressed to the holder of each permit.
    mailboxes: Box<[Mailbox<P>]>,
    /// Jobs and calls from outside, first come, first served.
    injector: CachePadded<Queue<P>>,
    permits: CachePadded<Permits<P>>,
    /// Detached jobs and calls from the injector that have not ended.
    detached: CachePadded<P::AtomicUsize>,
    panic_handler: Option<PanicHandler>,
    stack_capacity: u32,
    threads: Threads<P>,
    thread_set: ThreadSet<P>,
    /// The monitor: a thread that watches loops that their callers run alone.
    monitor: Monitor<P>,
    /// Whether an adopted thread has the caller slot until the pool ends.
    adopted: bool,
    /// Whether a thread that the pool started has the caller slot until the pool ends.
    keeps_caller_slot: bool,
    /// Whether a worker that waits at a scope's end also runs its own jobs of the outer scopes.
    scopes_help_outer: bool,
    me: Weak<Self>,
}

/// How a registry is made.
pub(super) struct Plan<P: Platform> {
    #[cfg(feature = "policies")]
    pub(super) policy: Option<crate::sleep::Make<P>>,
    /// The core group of each thread.
    pub(super) groups: Vec<u32>,
    pub(super) stack_capacity: u32,
    pub(super) panic_handler: Option<PanicHandler>,
    pub(super) threads: ThreadPlan,
    pub(super) cpus: Vec<Vec<usize>>,
    /// The CPUs on which unbound threads begin. If this is empty, the system chooses.
    pub(super) near: Vec<Vec<usize>>,
    pub(super) thread_set: ThreadSet<P>,
    pub(super) adopted: bool,
    pub(super) keeps_caller_slot: bool,
    pub(super) scopes_help_outer: bool,
    pub(super) cores: Cores,
    pub(super) spin_budget: Duration,
    pub(super) explain: bool,
    pub(super) allotment: Option<Allotment<P>>,
}

impl<P: Platform> Registry<P> {
    pub(super) fn new(plan: Plan<P>) -> io::Result<Arc<Self>> {
        // This call, before the first light fence, asks the platform to make light fences cheap.
        P::has_light_fences();
        let threads = plan.groups.len();
        // If threads outnumber cores, a thread that spins may keep the thread that it waits for from running.
        let follows = plan.allotment.as_ref();
        let crowded = is_oversubscribed(threads, plan.cores, follows);
        let seated = crowded.then(|| plan.cores.cores.saturating_sub(1));
        let clusters = Clusters::new(&plan.groups);
        let idle = Arc::new(Idle::new(plan.spin_budget, seated, clusters.count()));
        let cluster_of = |permit| clusters.of(permit).cluster;
        let of_permits: Vec<u32> = (0..threads).map(cluster_of).collect();
        let setup = Setup {
            clusters: &of_permits,
            idle: &idle,
        };
        #[cfg(not(feature = "policies"))]
        let sleep = Policy::new(&setup);
        #[cfg(feature = "policies")]
        let sleep = Policy::new(&setup, plan.policy);
        let sleep = Arc::new(sleep);
        let mut stacks = Vec::with_capacity(threads);
        for _ in 0..threads {
            stacks.push(JobStack::new(plan.stack_capacity)?);
        }
        let registry = Arc::new_cyclic(|registry: &Weak<Self>| {
            let workers = stacks.into_iter().enumerate();
            let workers = workers.map(|(id, stack)| {
                Worker::with_stack(id, id as u32, stack, Arc::as_ptr(&sleep), registry.as_ptr())
            });
            Self {
                shared: Shared::new(
                    threads,
                    plan.cores,
                    clusters,
                    idle,
                    plan.allotment,
                    plan.explain,
                ),
                workers: GrowableList::new(workers.collect(), MOST_WORKERS),
                sleep,
                mailboxes: (0..threads).map(|_| Mailbox::new()).collect(),
                injector: Queue::new(),
                permits: CachePadded::new(Permits::new()),
                detached: CachePadded::new(P::AtomicUsize::new(0)),
                panic_handler: plan.panic_handler,
                stack_capacity: plan.stack_capacity,
                threads: Threads::new(plan.threads, plan.cpus, plan.near),
                thread_set: plan.thread_set,
                monitor: Monitor::new(),
                adopted: plan.adopted,
                keeps_caller_slot: plan.keeps_caller_slot,
                scopes_help_outer: plan.scopes_help_outer,
                me: Weak::clone(registry),
            }
        });
        registry
            .shared
            .caller_context()
            .set(Context::of_worker(registry.worker(0)));
        if let Some(allotment) = registry.shared.allotment() {
            let registry: Weak<Self> = Arc::downgrade(&registry);
            allotment.add_follower(registry);
        }
        Ok(registry)
    }

    /// The part that workers and callers share. It does not depend on the sleep policy.
    #[inline(always)]
    pub(crate) fn shared(&self) -> &Shared<P> {
        &self.shared
    }

    /// How idle workers sleep.
    #[inline]
    pub(super) fn sleep(&self) -> &Policy<P> {
        &self.sleep
    }

    /// Worker `id`, which must exist.
    #[inline]
    pub(super) fn worker(&self, id: usize) -> &Worker<P> {
        self.workers.get(id)
    }

    /// All workers, including workers without a permit.
    pub(super) fn workers(&self) -> &GrowableList<P, Worker<P>> {
        &self.workers
    }

    /// Jobs addressed to the holder of each permit.
    pub(super) fn mailboxes(&self) -> &[Mailbox<P>] {
        &self.mailboxes
    }

    /// Jobs and calls from outside, first come, first served.
    pub(super) fn injector(&self) -> &Queue<P> {
        &self.injector
    }

    /// Whether posters learn about a vacant permit; see `Sleep::set_vacant`.
    pub(super) fn tells_of_vacancies(&self) -> bool {
        self.sleep.tells_of_vacancies()
    }

    /// The permits, which say which threads may run.
    pub(super) fn permits(&self) -> &Permits<P> {
        &self.permits
    }

    /// Whether a detached task (a spawned job or a call from the injector) has not ended. Acquire pairs with
    /// `uncount_detached`: the writes of ended tasks are visible.
    pub(super) fn has_detached(&self) -> bool {
        self.detached.load(Ordering::Acquire) != 0
    }

    /// Counts one more detached task. Relaxed: a thread that counts to 0 looks at the caller slot under the lock
    /// of `Permits`, and so does a thread that posts a task. A thread that posts from within a detached task needs
    /// no lock: that task is counted until it has ended, so the count is not 0.
    pub(super) fn count_detached(&self) {
        self.detached.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts one detached task less. Returns whether it was the last task. Release: the task's writes happen
    /// before the pool's end, and before the caller slot is free again. Acquire: the thread that counts to 0 sees
    /// the writes of all tasks.
    pub(super) fn uncount_detached(&self) -> bool {
        self.detached.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// The handler of panics in detached jobs.
    pub(super) fn panic_handler(&self) -> Option<&PanicHandler> {
        self.panic_handler.as_ref()
    }

    /// The most joins that may be open inside one another on one thread.
    pub(super) fn stack_capacity(&self) -> u32 {
        self.stack_capacity
    }

    pub(super) fn threads(&self) -> &Threads<P> {
        &self.threads
    }

    /// The state of the threads as a whole.
    pub(super) fn thread_set(&self) -> &ThreadSet<P> {
        &self.thread_set
    }

    /// The monitor: a thread that watches loops that their callers run alone.
    pub(super) fn monitor(&self) -> &Monitor<P> {
        &self.monitor
    }

    /// Whether an adopted thread has the caller slot until the pool ends.
    pub(super) fn is_adopted(&self) -> bool {
        self.adopted
    }

    /// Whether a thread that the pool started has the caller slot until the pool ends.
    pub(super) fn keeps_caller_slot(&self) -> bool {
        self.keeps_caller_slot
    }

    /// Whether a worker that waits at a scope's end also runs its own jobs of the outer scopes.
    pub(super) fn scopes_help_outer(&self) -> bool {
        self.scopes_help_outer
    }

    /// The registry's address, for its workers.
    pub(super) fn address(&self) -> *const Self {
        self.me.as_ptr()
    }

    /// A reference that keeps the registry alive.
    pub(super) fn keep(&self) -> Arc<Self> {
        self.me.upgrade().expect("a registry in use is alive")
    }

    /// Names the words that threads wait on and contend for. Called once the registry has its final address.
    pub(super) fn name(&self) {
        self.shared.name();
        self.sleep.name();
        self.injector.name("pool: queue");
        self.permits.name();
        P::name(&self.detached, "pool: roots");
        self.mailboxes.iter().for_each(Mailbox::name);
        for worker in self.workers.iter() {
            worker.name();
        }
    }

    /// Wakes a sleeper near worker `near` for a job that all workers can reach.
    pub(super) fn call_for(&self, near: usize, was_empty: bool) {
        if self.sleep.injected(near, 1, was_empty) {
            self.fill_caller_slot();
        }
        // Workers of this cluster (a group of near workers) that spin for a loop notice the job as they would notice a
        // loop. Spinning workers of other clusters look for jobs every few microseconds.
        let cluster = self.shared.clusters().of(near).cluster as usize;
        self.shared.idle().events.post(Invited::only(cluster));
    }

    /// Whether fewer workers than cores were awake a moment ago.
    pub(super) fn has_spare_core(&self) -> bool {
        let asleep =
            self.sleep.sleepers() as usize + usize::from(self.shared.caller_slot().is_free());
        self.shared.threads() < self.shared.cores() + asleep
    }

    /// Whether there were jobs a moment ago that no thread had begun.
    pub(super) fn has_jobs(&self) -> bool {
        let holds = |worker: &Worker<P>| !worker.stack().is_empty() || !worker.spawned().is_empty();
        !self.injector.is_empty() || self.permits.has_ready() || self.workers.iter().any(holds)
    }

    /// Makes all workers end as soon as no detached task is left. `deserted` says that worker 0 does not help
    /// to end the pool: it is an adopted thread, or it has no thread while the caller slot is closed.
    #[inline(never)]
    pub(super) fn terminate(&self, deserted: bool) {
        self.start_no_more();
        self.end(deserted);
    }

    /// As `terminate`, for a pool that starts no more threads.
    pub(super) fn end(&self, deserted: bool) {
        if deserted {
            self.mailboxes[0].desert();
        }
        for permit in self.change_permits(|permits| permits.begin_end()) {
            self.mailboxes[permit].desert();
        }
        // This comes before the wake-ups, so that a woken worker sees that the pool ends.
        self.shared.terminate();
        // This fence pairs with the fence in `end_detached`, between the count and the look at whether the pool ends.
        // So one of the two threads sees that the pool is over. The fence also pairs with a sleeper's fence between
        // its announcement and its last look: the sleeper sees the end, or the loop below finds it parked.
        P::fence(Ordering::SeqCst);
        self.close_idle_list();
        // From now on every worker may take the mail of worker 0 (the jobs that were sent to it), and one of them must
        // take it.
        for permit in 0..self.mailboxes.len() {
            self.sleep.notify(permit);
        }
        self.end_if_over();
        // The nudge, which wakes the workers that the allotment (the number of cores that the pool may use now) has
        // parked, comes after `terminate`, which releases. So a nudged worker sees the end.
        self.shared.nudge();
        self.monitor.call();
    }

    /// Called while the pool ends. Makes the workers end if no detached task is left.
    pub(super) fn end_if_over(&self) {
        // Acquire: all that the detached tasks did happens before the pool's end.
        if self.detached.load(Ordering::Acquire) != 0 {
            return;
        }
        for worker in self.workers.iter() {
            if worker.end().set() {
                self.notify(worker.id());
            }
        }
    }
}
