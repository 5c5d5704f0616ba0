//! The pool's threads as a whole: when they are started, and how a pool that goes on lets them
//! end.
//!
//! # States
//!
//! | state | threads | who posts a root |
//! |---|---|---|
//! | absent | none, or not all of those that are to be | starts them |
//! | present | all | posts it |
//! | leaving | they end, all of them | waits until they have ended; then as absent |
//!
//! A [lazy](super::BuilderExt::lazy) pool begins absent, all others present. A pool of one thread has
//! none of its own until there are roots (`caller_slot.rs`): it begins absent, too.
//!
//! # From absent to present
//!
//! Whoever posts something that another thread could take starts the threads, under `starting`:
//!
//! * a root, or mail, before it is pushed, so that a refusal of the system is its poster's panic;
//! * a half of a join, a job in a scope, a loop: after the push, by the way that leads to a vacant
//!   caller slot. While threads are *lacking* the sleep policy says that a place is vacant, and who
//!   is told so fills it (`Registry::fill_caller_slot`). If the system refuses, the poster does
//!   the work itself.
//!
//! # From present to leaving
//!
//! [`Registry::end_threads`] waits for a moment at which the pool is quiet. Under the lock of
//! `Places`, in which roots and visits are counted and callers that are not alone leave:
//!
//! 1. there is no root: no detached job, and no call from the queue;
//! 2. there is no visit: no thread that is not a worker is in a scope, and no thread is being
//!    started for a place that a caller has left;
//! 3. the caller slot is empty, and taken: no caller comes.
//!
//! So nobody is at work in the pool, and whoever comes from outside finds the slot taken, posts a
//! root, and waits for `starting`. Then the pool ends as it does when it is dropped, the threads
//! are joined, and what its end had set is reset, by the only thread that is left in it.
//! The last jobs of threads that end, those of exit handlers, are let through: if they have
//! spawned something the threads are started again.

use super::caller_slot::{CALLER, NEEDED, VACANT};
use super::context::Context;
use super::places::Lists;
use super::registry::Registry;
use manycore_cores::sync::{Lock, Parker};
use manycore_platform::{Atomic, Ordering, Platform};
use std::io;
use std::time::Duration;

/// How long [`Registry::end_threads`] waits between two looks at a pool that is not quiet.
const LOOK: Duration = Duration::from_micros(200);

/// Which threads there are; under the lock of `Places`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Absent,
    Present,
    Leaving,
}

/// While this lives, the pool's threads do not end.
pub(super) struct Stay<'a, P: Platform>(&'a Registry<P>);

impl<P: Platform> Drop for Stay<'_, P> {
    fn drop(&mut self) {
        // In a child of `fork`, a thread that does not exist there may have the lock.
        if !self.0.shared().is_forked() {
            self.0.places().with(|places| places.visits -= 1);
        }
    }
}

/// What is known of a pool's threads as a whole.
pub(super) struct Crew<P: Platform> {
    /// The first place that has a thread of the pool's own.
    first: usize,
    /// Whether the pool can start its threads again.
    returns: bool,
    /// Held while threads are started, or end: the place whose thread is started next.
    starting: Lock<P, usize>,
    /// Whether threads are absent that could take what is posted. A hint; written under the lock
    /// of `Places`.
    lacking: P::AtomicBool,
}

impl<P: Platform> Crew<P> {
    pub(super) fn new(first: usize, returns: bool) -> Self {
        Self {
            first,
            returns,
            starting: Lock::new(first),
            lacking: P::AtomicBool::new(false),
        }
    }

    /// The first place that has a thread of the pool's own.
    pub(super) fn first(&self) -> usize {
        self.first
    }

    /// Relaxed: who sees it late finds out under the lock, or is found by the threads that were
    /// started meanwhile.
    #[inline]
    pub(super) fn is_lacking(&self) -> bool {
        self.lacking.load(Ordering::Relaxed)
    }
}

impl<P: Platform> Registry<P> {
    /// Nobody knows of the pool yet: its threads are started when they are needed.
    pub(super) fn begin_absent(&self) {
        self.places().with(|places| {
            places.set_crew(State::Absent);
            self.set_lacking(self.crew().first < self.mail().len());
        });
    }

    /// Under the lock of `Places`.
    fn set_lacking(&self, lacking: bool) {
        self.crew().lacking.store(lacking, Ordering::Relaxed);
        self.set_vacant(self.shared().caller_slot().is_vacant());
    }

    /// Whether the pool's sleep policy tells posters that threads are lacking.
    pub(super) fn tells_of_vacancies(&self) -> bool {
        self.places()
            .with(|_| self.set_vacant(self.shared().caller_slot().is_vacant()))
    }

    /// Whether threads are absent that could take what is posted, as a hint.
    pub(crate) fn is_lacking(&self) -> bool {
        self.crew().is_lacking()
    }

    /// Tells the sleep policy whether somebody is to be had if nobody sleeps.
    pub(super) fn set_vacant(&self, vacant: bool) -> bool {
        self.sleep().set_vacant(vacant || self.crew().is_lacking())
    }

    /// Starts the threads of the pool, if they are absent.
    pub(super) fn start_threads(&self) -> io::Result<()> {
        self.crew().starting.with(|next| self.start_from(next))
    }

    fn start_from(&self, next: &mut usize) -> io::Result<()> {
        if self.places().with(|places| places.crew()) != State::Absent {
            return Ok(());
        }
        while *next < self.mail().len() {
            self.start_worker(*next, *next, None)?;
            *next += 1;
        }
        if self.mail().len() == 1 {
            self.have_a_thread()?;
        }
        self.places().with(|places| {
            places.set_crew(State::Present);
            self.set_lacking(false);
        });
        Ok(())
    }

    /// Counts a root, once there are threads that run it.
    ///
    /// # Panics
    ///
    /// If the system refuses them.
    pub(super) fn count_root_for_threads(&self) {
        loop {
            let crew = self.places().with(|places| {
                let crew = places.crew();
                let inside = || Context::worker_of(self).is_some();
                if crew == State::Present || crew == State::Leaving && inside() {
                    self.count_root();
                    return State::Present;
                }
                crew
            });
            match crew {
                State::Present => return,
                State::Leaving => self.await_end(),
                State::Absent => self.need_threads(),
            }
        }
    }

    /// As `start_threads`, for what nobody but the pool's threads can do.
    ///
    /// # Panics
    ///
    /// If the system refuses them.
    #[inline(never)]
    pub(super) fn need_threads(&self) {
        if let Err(error) = self.start_threads() {
            panic!("cannot start a thread for jobs that nobody waits for: {error}");
        }
    }

    /// Waits until the threads that leave have ended.
    fn await_end(&self) {
        self.crew().starting.with(|_| ());
    }

    /// This thread, which is no worker, goes in and out of a scope: until then the threads stay.
    pub(super) fn visit<R>(&self, scope: impl FnOnce() -> R) -> R {
        let enter = || {
            self.places()
                .with(|places| (places.crew() != State::Leaving).then(|| self.stay(places)))
        };
        let _stay = loop {
            match enter() {
                Some(stay) => break stay,
                None => self.await_end(),
            }
        };
        scope()
    }

    /// Keeps the threads from ending until the guard is dropped.
    fn stay(&self, places: &mut Lists) -> Stay<'_, P> {
        places.visits += 1;
        Stay(self)
    }

    /// Takes the worker that is to have a free place off its list. `None`: the caller starts a
    /// thread for the place, and drops the guard when the pool can join that thread, or when the
    /// place has gone elsewhere.
    pub(super) fn heir(&self, places: &mut Lists) -> (Option<usize>, Option<Stay<'_, P>>) {
        let heir = places.heir();
        #[cfg(test)]
        if crate::conserving::fault::is(crate::conserving::fault::Fault::UncountedStart) {
            return (heir, None);
        }
        let stay = heir.is_none().then(|| self.stay(places));
        (heir, stay)
    }

    /// Ends the threads of this pool, which goes on; see [`Pool::end_threads`](super::Pool).
    #[inline(never)]
    pub(super) fn end_threads(&self) -> bool {
        self.shared().check_fork();
        if !self.crew().returns
            || !self.tells_of_vacancies()
            || Context::worker_below(self).is_some()
        {
            return false;
        }
        let end = || {
            while !self.end_if_quiet() {
                P::yield_now();
                let nobody = Parker::<P>::asleep();
                nobody.sleep(Parker::<P>::ASLEEP, Some(LOOK));
            }
        };
        if Context::<P>::is_taken() {
            // What runs here may need this thread's place elsewhere to come to an end.
            Context::<P>::without_places(end);
        } else {
            end();
        }
        true
    }

    /// `false`: somebody is at work, or calls.
    fn end_if_quiet(&self) -> bool {
        self.crew().starting.with(|next| {
            if self.threads().are_none() {
                return true;
            }
            let slot = self.shared().caller_slot();
            let quiet = self.places().with(|places| {
                let quiet = places.visits == 0
                    && !self.has_roots()
                    && (self.keeps_caller_slot() || slot.change(0, CALLER));
                if quiet {
                    places.set_crew(State::Leaving);
                }
                quiet
            });
            if !quiet {
                return false;
            }
            self.end(false);
            self.threads().join_all();
            self.revive(next);
            true
        })
    }

    /// The pool, whose threads have all ended, is as it was before they were started.
    fn revive(&self, next: &mut usize) {
        let threads = self.mail().len();
        for worker in self.workers().iter() {
            worker.end().reset();
            match worker.id() {
                id if id < threads => worker.set_place(id),
                _ => worker.holding().clear(),
            }
        }
        self.mail().iter().for_each(|mail| mail.come_back());
        self.shared().go_on();
        *next = self.crew().first;
        let slot = self.shared().caller_slot();
        let spawned = self.places().with(|places| {
            places.reopen(threads..self.workers().len());
            let spawned = self.has_roots();
            if !self.keeps_caller_slot() {
                if spawned {
                    slot.add(VACANT);
                }
                slot.remove(CALLER | NEEDED);
            }
            places.set_crew(State::Absent);
            self.set_lacking(*next < threads);
            spawned
        });
        if spawned && self.start_from(next).is_ok() {
            self.fill_caller_slot();
        }
    }

    /// The pool is about to end: threads that were not started never are, and their mail is
    /// everybody's.
    pub(super) fn start_no_more(&self) {
        self.crew().starting.with(|next| {
            self.places().with(|places| {
                if places.crew() != State::Absent {
                    return;
                }
                for place in *next..self.mail().len() {
                    self.mail()[place].desert();
                    places.set_free(place);
                }
                places.set_crew(State::Present);
                self.set_lacking(false);
            });
        });
    }
}
