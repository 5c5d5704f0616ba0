//! Permits: which of a pool's threads may run.
//!
//! A pool of n threads has n permits, numbered from 0, and runs jobs only on threads with a permit: never on more than
//! n threads at once. A permit's number is the value of [`current_thread_index`](crate::current_thread_index), the
//! rank in loops, and the number of the mailbox that the thread reads. Permit 0 belongs to the caller slot
//! (`word.rs`): callers from outside take it.
//!
//! A thread may wait for a stolen half of a join, the end of a scope or the helpers of a loop. It then runs only
//! descendants of its call. If unrelated jobs are pending for longer than [`PATIENCE`], the thread gives its permit
//! away. The successor is a thread of the *ready list* (its wait has ended), or else of the *idle
//! list* (it has nothing to do). If both lists are empty, a thread is started. The successor works
//! like any other worker. When the wait of the first thread is over, that thread needs a permit
//! again:
//!
//! 1. R1: the thread joins the ready list, then makes a fence, and calls a sleeper as for a job.
//! 2. R2: a thread that looks for work gives its permit to the first thread on that list, and joins the idle list. A
//!    thread that waits and gives its permit away gives it to that first thread, too.
//!
//! The argument of `sleep/README.md` holds for R1 and R2 as for a job in the queue. A thread joins the list in the same
//! way as a job is posted. Each search, and each last look before sleep, reads the list.
//!
//! A thread without a permit waits for an event. The thread that causes the event puts the waiting thread at the head
//! of the ready list, and looks at the list before it takes another job. So the thread whose wait has ended gets a
//! permit, at the latest from the thread that ended the wait. This is so even if unrelated jobs hold all other permits
//! and are blocked on a lock that the ready thread holds. But a job may hold a lock around a call into *another* pool.
//! If threads that want this lock take all permits here, the job finds none when its call returns.
//!
//! # Why no threads wait in a circle
//!
//! A thread that blocks in another pool first gives up its permits in all pools (`Context::block_on`). Afterwards it
//! takes a permit only in the pool in which it continues. So a thread that waits for a permit holds none. A thread
//! that holds a permit runs, or looks for work and finds the ready list, or waits. If it waits, it offers its permit
//! to that list after at most `PATIENCE`.
//!
//! If a waiting thread finds no other thread for its permit, it keeps the permit (`run_others.rs`). After each nap it
//! offers the permit again, first to the ready list. Between its naps it runs jobs of the pool whose permit it keeps,
//! also while it waits for a permit of another pool.
//!
//! # Ranks of loops
//!
//! A thread may give its permit away within a loop's body. In that loop the thread keeps its rank, so no other thread
//! may take part in the loop with the same number. Therefore the permit is barred from the loop until the thread has
//! left it (`PermitHolders::bar`).
//!
//! # Files
//!
//! `word.rs` has the caller slot's word, `state.rs` has the lists and the transitions, which know nothing of a pool.
//! This file takes the steps that a transition leaves to the pool.

#[cfg(test)]
mod checked;
mod held;
mod state;
#[cfg(test)]
mod tests;
mod word;

pub(super) use state::{Left, Listed, Lost, Permits, State, Successor, ThreadState, Vacancy};
pub(crate) use word::CallerSlot;

use super::context::Context;
use super::permit::NOWHERE;
use super::registry::Registry;
use super::thread_set::Stay;
use super::threads::Maker;
use super::worker::Worker;
#[cfg(test)]
use crate::conserving::fault::{self, Fault};
use manycore_platform::{Atomic, Ordering, Platform};
use std::io;
use std::time::Duration;

/// How long a thread that waits keeps its permit while unrelated jobs are pending. This is about the time to wake a
/// thread. Joins of fine grain never wait that long.
pub(super) const PATIENCE: Duration = Duration::from_micros(60);

// The reasons for which a thread that sleeps without a permit is woken.
pub(super) const GRANTED: u32 = 2;
pub(super) const DISMISSED: u32 = 3;
/// The worker is on the ready list, because its wait is over.
pub(super) const LISTED: u32 = 4;

impl<P: Platform> Registry<P> {
    /// Makes transitions of the permits, under their lock. Informs the sleep policy if the pool's vacancy (whether a
    /// poster can get a thread although no worker sleeps) has changed.
    pub(super) fn change_permits<R>(&self, section: impl FnOnce(&mut State<'_, P>) -> R) -> R {
        let mut state = self.permits().begin(self.shared().caller_slot());
        let result = section(&mut state);
        self.end_change(state);
        result
    }

    /// Ends a change of the permits. Its own function, so that it is compiled once, and not for
    /// each closure of [`change_permits`](Self::change_permits).
    #[inline(never)]
    fn end_change(&self, state: State<'_, P>) {
        state.end(|vacancy: Vacancy| {
            self.thread_set().set_lacking(vacancy.lacking);
            self.sleep().set_vacant(vacancy.any);
        });
    }

    /// Gives `permit` to `successor`. If the successor is new, starts a thread for the permit. Until the permit is
    /// given or [lost](State::lose), the caller holds a [`Stay`] for that successor.
    pub(super) fn pass_on(&self, permit: usize, successor: &Successor) -> io::Result<()> {
        match successor {
            Successor::Worker(worker) => {
                self.grant(permit, *worker);
                Ok(())
            }
            Successor::New if !self.threads().have_reserve() => {
                Err(io::ErrorKind::Unsupported.into())
            }
            #[cfg(test)]
            Successor::New if fault::is(Fault::Refusals) => Err(io::ErrorKind::WouldBlock.into()),
            Successor::New => {
                let started = self.start_thread(Some(permit));
                if started.is_err() {
                    self.threads().note_refusal();
                }
                started
            }
        }
    }

    /// As [`pass_on`](Self::pass_on). If no thread takes the permit, the permit is [lost](State::lose), the pool runs
    /// one thread less, and this returns `false`.
    pub(super) fn pass_on_or_lose(&self, permit: usize, successor: &Successor) -> bool {
        let passed_on = self.passes_on(permit, successor);
        if !passed_on {
            self.read_mail_of(permit);
        }
        passed_on
    }

    /// As [`pass_on_or_lose`](Self::pass_on_or_lose), but the mail (jobs that were sent) of a lost permit is left to
    /// the caller of this function.
    pub(super) fn passes_on(&self, permit: usize, successor: &Successor) -> bool {
        let _stay = Stay::of(self, successor);
        self.pass_on(permit, successor).is_ok() || !self.loses(permit)
    }

    /// [Loses](State::lose) `permit`, for which there is no thread: the pool runs one thread less.
    pub(super) fn lose(&self, permit: usize) {
        if self.loses(permit) {
            self.read_mail_of(permit);
        }
    }

    /// As [`lose`](Self::lose), but leaves the permit's mail to this function's caller. Returns
    /// `false` if a worker has got the permit.
    fn loses(&self, permit: usize) -> bool {
        match self.change_permits(|permits| permits.lose(permit)) {
            Lost::Found(worker) => {
                self.grant(permit, worker);
                false
            }
            Lost::Free => true,
            Lost::Deserted => {
                // From now on every worker may take the mail. A sleeper is called to take what is there.
                if !self.mailboxes()[permit].leave() {
                    self.call_for(0, true);
                }
                true
            }
        }
    }

    /// Makes a thread read the mail of `permit`, which is lost.
    pub(super) fn read_mail_of(&self, permit: usize) {
        match permit {
            0 if self.mailboxes()[0].is_empty() => {}
            0 => self.summon(),
            _ => self.read_lost_mail(),
        }
    }

    /// Makes a thread read the mail of the lost permits: another thread, which takes such a permit,
    /// or this thread.
    ///
    /// A sender calls this after its push, and a thread after it has lost a permit. Both look under
    /// the lock of the permits: if the sender's look comes first, the other thread finds the mail.
    #[inline(never)]
    pub(super) fn read_lost_mail(&self) {
        let has_mail = |permit: usize| !self.mailboxes()[permit].is_empty();
        // Until a permit that was found has a holder or is lost again, the pool's threads do not end.
        let find = || {
            self.change_permits(|permits| {
                let found = permits.fill_lost(has_mail);
                found.inspect(|_| permits.register())
            })
        };
        while let Some((permit, successor)) = find() {
            let _stay = Stay::counted(self);
            if !self.passes_on(permit, &successor) && !self.read_mail_of_lost(has_mail) {
                return;
            }
        }
    }

    /// As [`read_lost_mail`](Self::read_lost_mail), in a detached task: this function's caller does not wait for the
    /// mail, and may hold locks that the mail's jobs want.
    #[inline(never)]
    pub(super) fn have_lost_mail_read(&self) {
        let has_mail = |permit: usize| !self.mailboxes()[permit].is_empty();
        if self.change_permits(|permits| permits.has_lost(has_mail)) {
            let registry = self.keep();
            self.spawn(move || registry.read_lost_mail());
        }
    }

    /// Makes this thread a spare worker that reads the mail of a lost permit, if there is any.
    /// Returns `false` if there is no memory for a worker. Then the mail waits for the permit's
    /// next holder.
    fn read_mail_of_lost(&self, has_mail: impl Fn(usize) -> bool) -> bool {
        let Ok(id) = self.spare_worker() else {
            return false;
        };
        let worker = self.worker(id);
        if let Some(permit) = self.change_permits(|permits| permits.find_lost(has_mail)) {
            let permit = worker.read_mail_with(permit);
            let successor = self.change_permits(|permits| permits.give(false));
            // The loop in `read_lost_mail` looks at the mail of all lost permits but permit 0.
            if !self.passes_on(permit, &successor) && permit == 0 {
                self.read_mail_of(0);
            }
        }
        self.change_permits(|permits| permits.keep_spare(id));
        Context::<P>::come_back();
        true
    }

    /// Returns a worker that has no thread, and makes one if there is none.
    pub(super) fn spare_worker(&self) -> io::Result<usize> {
        match self.change_permits(|permits| permits.take_spare()) {
            Some(id) => {
                self.worker(id).note_unbound();
                Ok(id)
            }
            None => (self.workers()).push(|id| Worker::new(id, self.stack_capacity(), self)),
        }
    }

    /// Gives `permit` to `worker`, which this thread alone has taken off its list.
    pub(super) fn grant(&self, permit: usize, worker: usize) {
        if permit == 0 && worker == 0 {
            self.change_permits(|permits| permits.regain());
        }
        // The last holder of the permit may have noted that it is idle.
        self.shared().permit_holders().note_work(permit);
        let worker = self.worker(worker);
        worker.set_permit(permit);
        worker.wake_alone(GRANTED);
    }

    /// Starts a thread of the pool with `permit`. If `permit` is `None`, the thread joins the idle list.
    fn start_thread(&self, permit: Option<usize>) -> io::Result<()> {
        let id = self.spare_worker()?;
        let started = match permit {
            Some(permit) => self.start_worker(id, permit, None),
            None => self.start_idle_worker(id),
        };
        if started.is_err() {
            self.change_permits(|permits| permits.keep_spare(id));
        }
        started
    }

    /// Starts the thread of worker `id`, with `permit`. If there is a `maker`, the maker starts the thread.
    pub(super) fn start_worker(
        &self,
        id: usize,
        permit: usize,
        maker: Option<Maker<'_>>,
    ) -> io::Result<()> {
        self.worker(id).set_permit(permit);
        self.start_thread_of(id, permit, maker)
    }

    fn start_idle_worker(&self, id: usize) -> io::Result<()> {
        self.worker(id).holding().clear();
        self.start_thread_of(id, 0, None)
    }

    /// Starts a thread for a pool that has started none yet. If this fails, the caller sees to the mail of permit 0.
    pub(super) fn have_a_thread(&self) -> io::Result<()> {
        if !self.threads().are_none() {
            return Ok(());
        }
        // If a caller has permit 0, the new thread begins on the idle list.
        let occupied = self.change_permits(|permits| permits.occupy());
        let started = self.start_thread(occupied.then_some(0));
        if started.is_err() && occupied {
            self.loses(0);
        }
        started
    }

    /// Called when the pool ends: dismisses the workers on the idle list. No other worker joins the list.
    pub(super) fn close_idle_list(&self) {
        for worker in self.change_permits(|permits| permits.close()) {
            self.worker(worker).wake_alone(DISMISSED);
        }
    }

    /// Wakes `worker`, with or without a permit. Its latch was set while it slept.
    pub(super) fn notify(&self, worker: usize) {
        let worker = self.worker(worker);
        // Relaxed: a worker that sleeps in a parking slot sleeps in the slot of its permit. The permit does not change
        // while the latch says that the worker sleeps, and the latch's modification order puts the permit's last
        // change before this load. If the worker sleeps without a permit, this may wake another worker for no reason.
        let permit = worker.holding().word().load(Ordering::Relaxed);
        if permit != NOWHERE {
            self.sleep().notify(permit as usize);
        }
        // Relaxed: this thread has seen in the latch that the worker sleeps. So this thread sees this word as it was
        // when the worker fell asleep, or a newer value.
        let alone = worker.holding().is_asleep();
        match alone.then(|| self.list_first(worker.id())).flatten() {
            None => {}
            Some(Listed::Placed(permit)) => self.grant(permit, worker.id()),
            Some(Listed::Waiting) => {
                worker.holding().wake();
                if self.shared().caller_slot().is_vacant() {
                    self.fill_caller_slot();
                }
                self.call_for_permit();
            }
        }
    }

    /// Step R1: calls a sleeper for a worker that has joined the ready list.
    pub(super) fn call_for_permit(&self) {
        // `call_for` makes the fence.
        self.call_for(0, true);
        // A worker that the allotment (the number of cores that the pool may use now) has parked hands over its permit,
        // too (`revoked.rs`).
        self.shared().nudge();
    }

    /// Puts worker `id`, which sleeps without a permit, at the head of the ready list, or takes a lost permit for
    /// it. Returns `None` if the worker does not sleep, or if another thread has listed it.
    fn list_first(&self, id: usize) -> Option<Listed> {
        self.change_permits(|permits| {
            let roused = self.worker(id).rouse_alone();
            roused.then(|| permits.list_first(id))
        })
    }
}
