//! A worker without work broadcasts a request, and a worker with enough tasks offers some (Park 2013,
//! section 5.2).

mod cas;
mod mailbox;
mod mutex;
mod queue;
mod threshold;

use super::patience::Patience;
use super::rng::Rng;
use super::termination::{Standing, Termination};
use super::{Counts, Discipline, Task, TaskDeque};
use crate::channel::{Channel, Settings, Slow};
use mailbox::{Mailbox, StealMessage};
use manycore_chip::Broadcast;
use manycore_team::barrier::Placement;
use queue::OfferedQueue;
use std::sync::Arc;
use std::time::Duration;
use threshold::Threshold;

/// The longest pause between two looks at the port. It is 2 to this power spins.
const LONGEST: u32 = 4;
/// The time for which a thief first waits for offers before it repeats its request. A round trip through 64 controllers
/// takes 0.7 us on the chip of the thesis.
const FIRST_WAIT: Duration = Duration::from_micros(1);
/// The longest wait. Up to this limit each wait is twice as long as the previous one. Victims (the workers that are
/// asked) answer between tasks, so an answer can take as long as a task. Meanwhile requests are repeated, and the
/// victims must throw the repetitions away.
const LAST_WAIT: Duration = Duration::from_micros(16);

/// Stealing by request, with deques under a mutex.
///
/// ```
/// use manycore::Native;
/// use manycore_team::barrier::Placement;
/// use manycore_programs::stealing::{Discipline, OfferMutex, TaskDeque, Task};
///
/// let discipline = OfferMutex::<Native>::new(&Placement::flat(2), 1);
/// let got = std::thread::scope(|scope| {
///     let worker = |rank| {
///         let discipline = &discipline;
///         scope.spawn(move || {
///             let mut deque = discipline.deque(rank);
///             if rank == 0 {
///                 deque.fill((1..=100).filter_map(Task::new));
///             }
///             std::iter::from_fn(|| deque.get()).map(Task::get).sum::<u64>()
///         })
///     };
///     [0, 1].map(worker).map(|worker| worker.join().unwrap())
/// });
/// assert_eq!(got.iter().sum::<u64>(), 5_050);
/// ```
pub type OfferMutex<P> = OfferStealing<P, mutex::MutexQueue<P>>;

/// Stealing by request. An offer is the address of an item, and thieves take items by compare-and-swap.
///
/// ```
/// use manycore::Native;
/// use manycore_team::barrier::Placement;
/// use manycore_programs::stealing::{Discipline, OfferCas, TaskDeque, Task};
///
/// let discipline = OfferCas::<Native>::new(&Placement::flat(2), 1);
/// let got = std::thread::scope(|scope| {
///     let worker = |rank| {
///         let discipline = &discipline;
///         scope.spawn(move || {
///             let mut deque = discipline.deque(rank);
///             if rank == 0 {
///                 deque.fill((1..=100).filter_map(Task::new));
///             }
///             std::iter::from_fn(|| deque.get()).map(Task::get).sum::<u64>()
///         })
///     };
///     [0, 1].map(worker).map(|worker| worker.join().unwrap())
/// });
/// assert_eq!(got.iter().sum::<u64>(), 5_050);
/// ```
pub type OfferCas<P> = OfferStealing<P, cas::CasQueue<P>>;

/// Stealing by request.
///
/// A worker broadcasts a request when its queue is empty: after it takes its last task, or when it finds no task. It
/// repeats the request only when it has no work and no task comes within some time, which doubles with each repetition.
/// Others answer when they get their next task, or in
/// [`process_pending_requests`](TaskDeque::process_pending_requests). They make one offer to each thief, as long as
/// they keep one task. The network interface of a worker passes or stops requests, depending on the length of the
/// worker's queue.
///
/// An offer reserves nothing. A thief keeps unused offers, and tries them before its next request. By then other
/// workers may have taken the offered tasks. When a thief has a task, its filter stops further offers, and the tasks of
/// those offers stay in place.
pub struct OfferStealing<P: Broadcast, Q: OfferedQueue<P>>(Arc<SharedQueues<P, Q>>);

/// A worker's end of [`OfferStealing`].
pub struct OfferDeque<P: Broadcast, Q: OfferedQueue<P>> {
    shared: Arc<SharedQueues<P, Q>>,
    rank: usize,
    queue: Q,
    mailbox: Mailbox<P>,
    rng: Rng,
    /// Offers that the worker has not tried.
    offers: Vec<u64>,
    /// Whether the worker has sent a request since it last took an offered task.
    has_asked: bool,
    /// The thieves whose requests the worker answers now, in the order of arrival.
    thieves: Vec<usize>,
    /// For each rank (number of a worker), whether it is among `thieves`.
    asks: Vec<bool>,
    standing: Standing,
    counts: Counts,
}

struct SharedQueues<P: Broadcast, Q: OfferedQueue<P>> {
    queues: Vec<Q::Shared>,
    channel: Channel<P>,
    termination: Termination<P>,
    seed: u64,
}

impl<P: Broadcast, Q: OfferedQueue<P>> Discipline<P> for OfferStealing<P, Q> {
    const NAME: &'static str = Q::NAME;
    type Deque = OfferDeque<P, Q>;

    fn new(placement: &Placement, seed: u64) -> Self {
        let workers = placement.members();
        Self(Arc::new(SharedQueues {
            queues: (0..workers).map(|_| Q::shared()).collect(),
            // When messages go through memory, a thief must not wait for a worker that runs a long task. So messages
            // may be lost: a thief repeats its request, an offered task stays in place, and a flag announces the end.
            channel: Channel::over_with(Settings {
                slow: Slow::Lose,
                ..Settings::default()
            }),
            termination: Termination::new(workers),
            seed,
        }))
    }

    fn deque(&self, rank: usize) -> OfferDeque<P, Q> {
        let shared = Arc::clone(&self.0);
        let workers = shared.queues.len();
        assert!(rank < workers, "rank {rank} of {workers}");
        OfferDeque {
            rank,
            queue: Q::new(rank, &shared.queues),
            mailbox: Mailbox::new(&shared.channel, rank),
            rng: Rng::new(shared.seed, rank),
            offers: Vec::new(),
            has_asked: false,
            thieves: Vec::new(),
            asks: vec![false; workers],
            standing: shared.termination.enter(),
            counts: Counts::default(),
            shared,
        }
    }
}

impl<P: Broadcast, Q: OfferedQueue<P>> OfferDeque<P, Q> {
    fn length(&self) -> usize {
        self.queue.length(&self.shared.queues[self.rank])
    }

    fn ask(&mut self) {
        // The filter must pass offers before the first offer can arrive.
        self.has_asked = true;
        self.update_filter();
        self.mailbox.request();
    }

    /// Takes all messages in the buffer.
    fn read_mail(&mut self) {
        while let Some(message) = self.mailbox.receive() {
            match message {
                StealMessage::Request(thief) => {
                    if !std::mem::replace(&mut self.asks[thief], true) {
                        self.thieves.push(thief);
                    }
                }
                StealMessage::Offer(offer) => self.offers.push(offer),
                // This worker also reads the termination flag, which the sender has set.
                StealMessage::Finish => {}
            }
        }
    }

    fn answer(&mut self) {
        let Self { shared, queue, .. } = self;
        let mine = &shared.queues[self.rank];
        if !self.thieves.is_empty() {
            queue.begin_offering(mine);
        }
        let mut has_more = true;
        for thief in self.thieves.drain(..) {
            self.asks[thief] = false;
            if !has_more {
                // The thief will repeat its request.
                continue;
            }
            match queue.offer(mine) {
                Some(offer) => self.mailbox.offer(thief, offer),
                None => has_more = false,
            }
        }
    }

    /// Takes a random one of the best offers. All thieves receive the offers in about the same order, so a fixed rule
    /// would send all thieves to one victim.
    fn choose(&mut self) -> u64 {
        let offers = &mut self.offers;
        let best = offers.iter().map(|offer| Q::worth(*offer)).max();
        let is_best = |offer: &u64| Some(Q::worth(*offer)) == best;
        let ties = offers.iter().filter(|offer| is_best(offer)).count();
        let chosen = self.rng.below(ties);
        let best = (0..offers.len()).filter(|at| is_best(&offers[*at]));
        let at = { best }.nth(chosen).expect("there is an offer");
        offers.swap_remove(at)
    }

    /// Takes an offered task, if one of the offers still has its task.
    fn take_offered(&mut self) -> Option<Task> {
        while !self.offers.is_empty() {
            let offer = self.choose();
            self.shared.termination.rouse(&mut self.standing);
            self.counts.attempts += 1;
            // SAFETY: the offer came through this discipline's channel, on which only its deques send.
            let task = unsafe { Q::take(&self.shared.queues, offer) };
            if task.is_some() {
                self.counts.steals += 1;
                self.has_asked = false;
                return task;
            }
        }
        None
    }

    /// Waits for a task that another worker offers. Returns `None` at the end.
    fn hunt(&mut self) -> Option<Task> {
        let mut patience = Patience::new(LONGEST);
        let mut wait = P::duration_to_ticks(FIRST_WAIT);
        if !self.has_asked {
            self.ask();
        }
        let mut asked_at = P::now();
        while !self.shared.termination.is_over() {
            self.process_pending_requests();
            if let Some(task) = self.take_offered() {
                return Some(task);
            }
            if P::now().saturating_sub(asked_at) >= wait {
                if self.shared.termination.rest(&mut self.standing) {
                    self.mailbox.finish();
                    break;
                }
                self.ask();
                asked_at = P::now();
                wait = (2 * wait).min(P::duration_to_ticks(LAST_WAIT));
            }
            patience.pause::<P>();
        }
        self.mailbox.retire();
        None
    }
}

impl<P: Broadcast, Q: OfferedQueue<P>> TaskDeque<P> for OfferDeque<P, Q> {
    fn put(&mut self, task: Task) {
        self.queue.put(&self.shared.queues[self.rank], task);
        self.update_filter();
    }

    fn get(&mut self) -> Option<Task> {
        if self.shared.termination.is_over() {
            self.mailbox.retire();
            return None;
        }
        self.process_pending_requests();
        let own = self.queue.pop(&self.shared.queues[self.rank]);
        let task = (own.or_else(|| self.take_offered())).or_else(|| self.hunt())?;
        if self.length() == 0 && self.offers.is_empty() && !self.has_asked {
            self.ask();
        }
        self.update_filter();
        Some(task)
    }

    fn process_pending_requests(&mut self) {
        self.read_mail();
        self.answer();
    }

    fn update_filter(&mut self) {
        let accepts = Threshold::DEFAULT.accepts(self.length(), &mut self.rng);
        self.mailbox.hear(accepts, self.has_asked);
    }

    fn finish(&mut self) {
        self.shared.termination.end();
        self.mailbox.finish();
    }

    fn counts(&self) -> Counts {
        Counts {
            sent: self.mailbox.sent,
            received: self.mailbox.received,
            ..self.counts
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore::Native;

    /// The thief sends more requests than a ring holds.
    #[test]
    fn a_thief_does_not_wait_for_a_worker_that_does_not_answer() {
        let discipline = OfferMutex::<Native>::new(&Placement::flat(2), 1);
        let (mut busy, mut thief) = (discipline.deque(0), discipline.deque(1));
        busy.fill((1..=3).filter_map(Task::new));
        assert!(busy.get().is_some());
        (0..10_000).for_each(|_| thief.ask());
        busy.finish();
        assert!(thief.get().is_none());
    }
}
