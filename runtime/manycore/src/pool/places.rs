//! Places: which of a pool's threads may run.
//!
//! A pool of n threads has n places, numbered from 0, and runs jobs only on threads that
//! have one: never more than n at once. The number is what
//! [`current_thread_index`](crate::current_thread_index) says, the rank in loops, and
//! whose mail the thread reads. Place 0 is the caller slot's (`caller_slot.rs`).
//!
//! A thread that waits, for a stolen half of a join, the end of a scope or the helpers of
//! a loop, runs only what it waits for. If others' jobs lie there meanwhile, for longer
//! than [`PATIENCE`], it gives its place away: to a thread that has none and wants to go
//! on, or to one from the bench, which is started if the bench is empty. The heir works
//! like any other worker. When what the thread waited for is done, it needs a place
//! again:
//!
//! 1. R1 it is listed among those who return, fence, and a sleeper is called as for a job;
//! 2. R2 a thread that looks for work and finds another one listed hands over its own place,
//!    and sits down on the bench; one that waits, and would give its place away, gives it to
//!    the listed one.
//!
//! For R1 and R2 the argument of `sleep/README.md` holds as for a job in the queue: to
//! be listed is to be posted, and to look at the list is part of each search and of each
//! last look before sleep.
//!
//! The thread that ends what another one without a place waits for lists that one, first of
//! all, and looks at the list before it takes another job. So each end of a wait frees a place for that wait:
//! also if strangers' jobs, each blocked on a lock that the returning thread holds, take all
//! other places. This does not help with a lock that is held around a call into *another* pool:
//! if strangers that want the lock take all places here, its holder finds none when it returns.
//!
//! # Why nobody waits in a circle
//!
//! A thread that blocks in another pool gives up its places in all pools before it does
//! (`Context::block_on`), and returns only to the one in which it goes on. So a thread that
//! waits for a place holds none, and one that holds a place runs, or looks for work and finds
//! the list, or waits no longer than `PATIENCE` beside it.
//!
//! # Ranks of loops
//!
//! A thread may give its place away in the midst of a loop's body. In that loop it keeps
//! its rank, so no other thread may take part in it with the same number: the place is barred
//! from the loop until the thread has left it (`Ranks::bar`).

use super::caller_slot::{CALLER, HELD, NEEDED, VACANT};
use super::crew::State;
use super::place::NOWHERE;
use super::registry::Registry;
use super::threads::Maker;
use super::worker::Worker;
use manycore_cores::sync::Lock;
use manycore_platform::{Atomic, Ordering, Platform};
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::time::Duration;

/// How long a thread that waits keeps its place beside others' jobs: some times what it
/// takes to wake a thread. Joins of fine grain never wait that long.
pub(super) const PATIENCE: Duration = Duration::from_micros(60);

// Why a thread without a place is taken out of its sleep.
pub(super) const GRANTED: u32 = 2;
pub(super) const DISMISSED: u32 = 3;
/// The worker is on the list of those who return: its wait is over.
pub(super) const LISTED: u32 = 4;

/// What came of listing a worker among those who return.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Listed {
    Waiting,
    /// It has this place at once.
    Placed(usize),
    /// It does not sleep alone, or somebody else has listed it.
    Awake,
}

/// Threads without a place.
pub(super) struct Places<P: Platform> {
    lists: Lock<P, Lists>,
    /// How many return; written under the lock.
    returning: P::AtomicU32,
}

/// What the lock guards; the caller slot's slower transitions as well.
pub(super) struct Lists {
    /// Workers with nothing on their stacks, for the next place.
    bench: Vec<usize>,
    /// Workers that have what they waited for, in order of arrival.
    returning: VecDeque<usize>,
    /// Workers whose threads could not be started.
    spare: Vec<usize>,
    /// Places whose holders have gone home at the pool's end, or could not be had.
    free: Vec<usize>,
    /// The pool ends: nobody sits down on the bench any more.
    closed: bool,
    /// Which threads there are.
    crew: State,
    /// Reasons to keep the threads ([`Stay`](super::crew::Stay)): threads in
    /// scopes that are not workers, and threads that are being started.
    pub(super) visits: usize,
}

impl Lists {
    /// The worker that is to have a free place: a worker that returns comes first. See
    /// `Registry::heir`, which callers use.
    pub(super) fn heir(&mut self) -> Option<usize> {
        self.returning.pop_front().or_else(|| self.bench.pop())
    }

    /// Whether somebody wants to return.
    pub(super) fn is_awaited(&self) -> bool {
        !self.returning.is_empty()
    }

    /// The worker that is to return next, which is on the list no more.
    pub(super) fn next_to_return(&mut self) -> Option<usize> {
        self.returning.pop_front()
    }

    /// Puts `worker` at the end of those who return.
    pub(super) fn queue_to_return(&mut self, worker: usize) {
        self.returning.push_back(worker);
    }

    /// Strikes `worker` off the list of those who return; `false`: it is not there.
    pub(super) fn strike(&mut self, worker: usize) -> bool {
        let at = self.returning.iter().position(|&id| id == worker);
        at.map(|at| self.returning.remove(at)).is_some()
    }

    /// Puts `worker` on the bench.
    pub(super) fn sit(&mut self, worker: usize) {
        self.bench.push(worker);
    }

    /// Whether the pool ends: nobody sits down on the bench any more.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Which threads there are.
    pub(super) fn crew(&self) -> State {
        self.crew
    }

    pub(super) fn set_crew(&mut self, crew: State) {
        self.crew = crew;
    }

    /// The pool has ended and goes on: nobody is here, and the threads of `spare` are started
    /// for places when it comes to that.
    pub(super) fn reopen(&mut self, spare: Range<usize>) {
        debug_assert!(self.bench.is_empty() && self.returning.is_empty());
        self.spare = spare.collect();
        self.free.clear();
        self.closed = false;
    }

    /// `place` is for whoever wants to return.
    pub(super) fn set_free(&mut self, place: usize) {
        self.free.push(place);
    }
}

impl<P: Platform> Places<P> {
    pub(super) fn new() -> Self {
        Self {
            lists: Lock::new(Lists {
                bench: Vec::new(),
                returning: VecDeque::new(),
                spare: Vec::new(),
                free: Vec::new(),
                closed: false,
                crew: State::Present,
                visits: 0,
            }),
            returning: P::AtomicU32::new(0),
        }
    }

    pub(super) fn name(&self) {
        P::name(&self.returning, "pool: threads that return");
    }

    pub(super) fn with<R>(&self, section: impl FnOnce(&mut Lists) -> R) -> R {
        self.lists.with(|lists| {
            let result = section(lists);
            let count = lists.returning.len() as u32;
            if self.returning.load(Ordering::Relaxed) != count {
                self.returning.store(count, Ordering::Release);
            }
            result
        })
    }

    /// Whether somebody wants to return. As `Queue::is_empty`.
    pub(super) fn is_awaited(&self) -> bool {
        self.returning.load(Ordering::Acquire) != 0
    }
}

impl<P: Platform> Registry<P> {
    /// Gives `place` to `heir`, or to a thread that is started for it.
    pub(super) fn pass_on(&self, place: usize, heir: Option<usize>) -> io::Result<()> {
        match heir {
            Some(heir) => {
                self.grant(place, heir);
                Ok(())
            }
            None if !self.threads().have_reserve() => Err(io::ErrorKind::Unsupported.into()),
            None => self.start_thread(Some(place)),
        }
    }

    /// `heir` was taken off its list by this thread, and by nobody else.
    pub(super) fn grant(&self, place: usize, heir: usize) {
        let worker = self.worker(heir);
        if place == 0 && heir == 0 {
            // The caller has its own place again, and must look when it leaves: while
            // the place was held, whoever wanted something did not say so.
            self.places().with(|_| {
                self.shared().caller_slot().add(NEEDED);
                self.shared().caller_slot().remove(HELD);
            });
        }
        // The last holder may have been idle in it.
        self.shared().ranks().note_work(place);
        worker.set_place(place);
        worker.wake_alone(GRANTED);
    }

    /// Starts a thread of the pool that has `place`, or none: it sits down on the bench.
    fn start_thread(&self, place: Option<usize>) -> io::Result<()> {
        let spare = self.places().with(|places| places.spare.pop());
        let id = match spare {
            Some(id) => id,
            None => (self.workers()).enlist(|id| Worker::new(id, self.stack_capacity(), self))?,
        };
        let started = match place {
            Some(place) => self.start_worker(id, place, None),
            None => self.start_worker_on_bench(id),
        };
        if started.is_err() {
            self.places().with(|places| places.spare.push(id));
        }
        started
    }

    /// Starts the thread of worker `id`, in `place`, or has `maker` do so.
    pub(super) fn start_worker(
        &self,
        id: usize,
        place: usize,
        maker: Option<Maker<'_>>,
    ) -> io::Result<()> {
        self.worker(id).set_place(place);
        self.start_thread_of(id, place, maker)
    }

    fn start_worker_on_bench(&self, id: usize) -> io::Result<()> {
        self.worker(id).holding().clear();
        self.start_thread_of(id, 0, None)
    }

    /// Sees to it that a pool whose callers are its only threads has one of its own.
    pub(super) fn have_a_thread(&self) -> io::Result<()> {
        if !self.threads().are_none() {
            return Ok(());
        }
        let place = self.places().with(|_| {
            let slot = self.shared().caller_slot();
            slot.change(VACANT, HELD) || slot.change(0, HELD)
        });
        // If it is taken by a caller, the thread begins on the bench.
        let started = self.start_thread(place.then_some(0));
        if started.is_err() && place {
            self.lose_place(0);
        }
        started
    }

    /// Nobody can be had for `place`, which this thread gives up: it is the caller slot's
    /// again when somebody calls, or lost, with one thread less at work.
    pub(super) fn lose_place(&self, place: usize) {
        self.places().with(|places| {
            if place == 0 {
                self.shared().caller_slot().remove(HELD);
            } else {
                places.free.push(place);
            }
        });
    }

    /// The pool ends: who sits on the bench goes home, and nobody else sits down.
    pub(super) fn close_bench(&self) {
        let bench = self.places().with(|places| {
            places.closed = true;
            std::mem::take(&mut places.bench)
        });
        for worker in bench {
            self.worker(worker).wake_alone(DISMISSED);
        }
    }

    /// Wakes `worker`, whose latch was set while it slept, wherever it does.
    pub(super) fn notify(&self, worker: usize) {
        let worker = self.worker(worker);
        // If it sleeps in a bed, that is its place's: then this does not change while its
        // latch says that it sleeps, and the latch's history orders that before. If it
        // sleeps without a place, somebody else may be woken for no reason.
        let place = worker.holding().word().load(Ordering::Relaxed);
        if place != NOWHERE {
            self.sleep().notify(place as usize);
        }
        // Relaxed: who has seen the latch in its sleep sees this word so, or newer.
        let alone = worker.holding().is_asleep();
        if alone && self.list(worker.id(), true) == Listed::Waiting {
            worker.holding().wake();
            if self.shared().caller_slot().is_vacant() {
                self.fill_caller_slot();
            }
            self.call_for_place();
        }
    }

    /// R1: a worker is on the list of returning workers.
    pub(super) fn call_for_place(&self) {
        // With a fence.
        self.call_for(0, true);
        // A worker that stands aside makes way as well (`revoked.rs`).
        self.shared().nudge();
    }

    /// Lists worker `id`, which has no place, among those who return; or gives it one at
    /// once. `first`: before all others, on behalf of a worker that sleeps alone.
    pub(super) fn list(&self, id: usize, first: bool) -> Listed {
        self.places().with(|places| {
            if first && !self.worker(id).rouse_alone() {
                return Listed::Awake;
            }
            let slot = self.shared().caller_slot();
            loop {
                let word = slot.word();
                match word {
                    // The caller slot is empty: nobody there would come.
                    0 | VACANT if !first && slot.change(word, HELD) => {
                        if word == VACANT {
                            self.set_vacant(false);
                        }
                        return Listed::Placed(0);
                    }
                    0 | VACANT if !first => {}
                    // Filled below, by the call for somebody.
                    VACANT => break,
                    0 if slot.change(0, VACANT) => {
                        self.set_vacant(true);
                        break;
                    }
                    0 => {}
                    // A caller passes its place on when it leaves.
                    _ if word & CALLER == 0 || word & NEEDED != 0 => break,
                    _ if slot.change(word, word | NEEDED) => break,
                    _ => {}
                }
            }
            if first {
                places.returning.push_front(id);
            } else if let Some(free) = places.free.pop() {
                return Listed::Placed(free);
            } else {
                places.returning.push_back(id);
            }
            Listed::Waiting
        })
    }
}
