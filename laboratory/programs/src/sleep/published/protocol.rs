//! The protocol of all published policies. A worker that finds no work yields, announces itself, looks once
//! more and sleeps. A poster looks at the counters and wakes sleepers.

use super::bed::{Bed, count};
use super::counters::{Counters, Seen};
use super::discipline::{Discipline, Sound};
use super::variants::Variant;
use crate::sleep::Mode;
use manycore::seam::{Latch, Remembered, Scan, Setup, Sleep, Tally};
use manycore_platform::{CachePadded, Ordering, Platform};
use std::marker::PhantomData;

/// The policy of the variant `V` in the mode `M`.
///
/// On [`Native`](manycore::Native), while no thread is sleepy or asleep, a post costs only the loads in the variant's
/// row of the table in this folder's README. A wake-up checks the beds of the workers (the words on which they sleep)
/// in order, beginning with the first, as published.
///
/// ```
/// use manycore::Native;
/// use manycore_programs::sleep::Mode;
/// use manycore_programs::sleep::published::{Packed, Published};
///
/// type Policy = Published<Native, Packed>; // sound, unless said otherwise
/// assert_eq!(Policy::NAME, "packed");
/// assert_eq!(Policy::MODE, Mode::Sound);
/// ```
// The struct is aligned to a cache line. So unpadded counters share their line only with the pointer to the beds,
// wherever a pool keeps its policy.
#[repr(C, align(64))]
pub struct Published<P: Platform, V: Variant, M: Discipline = Sound> {
    /// Threads that wake others or sleep read this pointer. No thread writes it.
    beds: Box<[CachePadded<Bed<P>>]>,
    pub(super) counters: V::Counters<P>,
    mode: PhantomData<M>,
}

struct Looking {
    /// Searches in vain so far.
    rounds: u32,
    /// The JEC (jobs event counter) when the worker announced itself.
    announced: u32,
}

impl Looking {
    fn recall([rounds, announced]: Remembered) -> Self {
        Self { rounds, announced }
    }

    fn remember(self) -> Remembered {
        [self.rounds, self.announced]
    }
}

/// How often a watchdog looks again before a job counts as forgotten. All looks take about as long as a worker searches
/// before it is sleepy.
const WATCHDOG_LOOKS: u32 = 32;

impl<P: Platform, V: Variant, M: Discipline> Published<P, V, M> {
    /// The variant's name.
    pub const NAME: &'static str = V::NAME;
    /// The mode.
    pub const MODE: Mode = M::MODE;

    /// Makes the policy for a pool with this setup.
    #[doc(hidden)]
    pub fn new(setup: &Setup<'_, P>) -> Self {
        Self::with_counters(setup.clusters.len(), V::Counters::new())
    }

    /// As [`new`](Self::new), in a box.
    #[doc(hidden)]
    pub fn boxed(setup: &Setup<'_, P>) -> Box<dyn Sleep<P>> {
        Box::new(Self::new(setup))
    }

    pub(super) fn with_counters(workers: usize, counters: V::Counters<P>) -> Self {
        let bed = |_| CachePadded::new(Bed::new());
        Self {
            beds: (0..workers).map(bed).collect(),
            counters,
            mode: PhantomData,
        }
    }

    /// Wakes threads for `jobs` jobs, which all threads can already see.
    #[inline(always)]
    fn tell(&self, near: usize, jobs: u32, was_empty: bool) {
        let seen = self.counters.post();
        if seen.sleeping > 0 {
            self.wake_for(near, jobs, was_empty, seen);
        }
    }

    #[cold]
    fn wake_for(&self, near: usize, jobs: u32, was_empty: bool, seen: Seen) {
        let mut needed = jobs;
        // If jobs were waiting already, the threads that are awake are too few.
        let inactive = was_empty.then(|| self.counters.inactive(seen));
        if let Some(inactive) = inactive.flatten() {
            needed = jobs.saturating_sub(M::awake(inactive, seen.sleeping));
        }
        self.wake_any(near, needed.min(seen.sleeping));
    }

    fn rouse(&self, bed: &Bed<P>) -> bool {
        bed.rouse(|| self.counters.get_up())
    }

    /// Sleeps, unless a latch, a job or a waker comes first. Returns whether the worker slept.
    fn sleep(
        &self,
        bed: &Bed<P>,
        looking: &mut Looking,
        latch: &Latch<P>,
        scan: &dyn Scan,
    ) -> bool {
        if latch.is_set() {
            return false;
        }
        bed.lie_down();
        if !latch.announce_sleep() {
            bed.get_up();
            looking.rounds = 0;
            return false;
        }
        if !self.counters.lie_down(looking.announced) {
            // A job was posted. The worker searches again, and announces itself again if it finds nothing.
            bed.get_up();
            looking.rounds = M::ROUNDS;
            latch.withdraw();
            return false;
        }
        let mut slept = false;
        if !bed.fall_asleep() {
            self.counters.get_up();
        } else {
            M::before_last_look::<P>();
            if !M::work_waits(scan) {
                count(&bed.sleeps);
                self.sleep_on(bed, scan);
                slept = true;
            } else if bed.rise() {
                self.counters.get_up();
            }
        }
        looking.rounds = 0;
        latch.withdraw();
        slept
    }

    /// Sleeps until roused, or until the watchdog finds a forgotten job.
    fn sleep_on(&self, bed: &Bed<P>, scan: &dyn Scan) {
        while !bed.sleep(M::WATCHDOG) {
            if M::WATCHDOG.is_some() && Self::is_forgotten(scan) && bed.rise() {
                self.counters.get_up();
                count(&bed.recovered);
                return;
            }
        }
    }

    /// Returns whether there is work that no worker takes.
    fn is_forgotten(scan: &dyn Scan) -> bool {
        (0..WATCHDOG_LOOKS).all(|_| {
            P::yield_now();
            scan.anything()
        })
    }
}

impl<P: Platform, V: Variant, M: Discipline> Sleep<P> for Published<P, V, M> {
    fn name(&self) {
        self.counters.name();
        for bed in &self.beds {
            P::name(bed, "sleep: parkers");
        }
    }

    fn posted(&self, poster: usize, was_empty: bool) {
        M::after_push::<P>();
        self.tell(poster, 1, was_empty);
    }

    fn injected(&self, near: usize, jobs: u32, was_empty: bool) {
        // Both modes have this fence, as published. It pairs with `before_last_look`.
        P::fence(Ordering::SeqCst);
        self.tell(near, jobs, was_empty);
    }

    fn notify(&self, worker: usize) {
        self.rouse(&self.beds[worker]);
    }

    fn sleepers(&self) -> u32 {
        self.counters.sleeping()
    }

    /// Begins with the first worker, as published, whichever thread posts.
    fn wake_any(&self, _near: usize, count: u32) {
        let mut left = count;
        for bed in &self.beds {
            if left == 0 {
                return;
            }
            left -= u32::from(self.rouse(bed));
        }
    }

    fn start_looking(&self, _worker: usize) -> Remembered {
        self.counters.enter();
        Remembered::default()
    }

    fn work_found(&self, worker: usize, _: Remembered) {
        // There may be more work, for which a poster may have relied on this thread.
        let sleeping = self.counters.leave();
        if sleeping > 0 {
            self.wake_any(worker, sleeping.min(2));
        }
    }

    fn no_work_found(
        &self,
        worker: usize,
        remembered: &mut Remembered,
        latch: &Latch<P>,
        scan: &dyn Scan,
    ) -> bool {
        let mut looking = Looking::recall(*remembered);
        let slept = if looking.rounds > M::ROUNDS {
            self.sleep(&self.beds[worker], &mut looking, latch, scan)
        } else {
            if looking.rounds == M::ROUNDS {
                looking.announced = self.counters.announce();
            }
            looking.rounds += 1;
            M::pause::<P>();
            false
        };
        *remembered = looking.remember();
        slept
    }

    fn tally(&self) -> Tally {
        let add = |mut sum: Tally, bed: &CachePadded<Bed<P>>| {
            let one = bed.tally();
            sum.sleeps += one.sleeps;
            sum.wakeups += one.wakeups;
            sum.recovered += one.recovered;
            sum
        };
        self.beds.iter().fold(Tally::default(), add)
    }
}
