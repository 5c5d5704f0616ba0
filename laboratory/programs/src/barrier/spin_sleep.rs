use crate::barrier::Barrier;
use crate::mutex::Mutex;
use manycore_platform::{Atomic, CachePadded, Futex, Ordering, Platform};
use manycore_team::barrier::Placement;

/// How often a member looks at the flag before it sleeps, with the default patience. Proportional to the patience.
const SPINS: f64 = 35_000.0;

/// The phase in which members arrive.
const ARRIVING: u32 = 0;
/// The phase in which members leave, after all members have arrived.
const LEAVING: u32 = 1;

/// The barrier of the PARSEC benchmarks: a mutex, a condition variable and a flag that says whether members arrive or
/// leave. A waiting member looks at the flag 35,000 times before it sleeps on the condition variable. Members leave one
/// by one through the mutex. A member that arrives at the next episode (use of the barrier) waits until the last member
/// has left, so one count serves both phases. Members spin even if they share cores, and then an episode takes
/// milliseconds.
///
/// The count and the lock share a cache line. The flag is on another line, which is written twice in each episode and
/// read by all waiting members. Sleepers sleep on the flag, which serves as the condition variable, and they are
/// counted under the lock.
///
/// ```
/// use manycore::Native;
/// use manycore_programs::barrier::Barrier;
/// use manycore_team::barrier::Placement;
/// use manycore_programs::barrier::SpinSleepBarrier;
///
/// let barrier = SpinSleepBarrier::<Native>::new(&Placement::flat(2));
/// let (mut one, mut other) = (barrier.member(0), barrier.member(1));
/// std::thread::scope(|scope| {
///     scope.spawn(|| barrier.wait(&mut one));
///     barrier.wait(&mut other);
/// });
/// ```
#[doc(alias = "parsec_barrier_t")]
pub struct SpinSleepBarrier<P: Platform> {
    state: CachePadded<Mutex<P, State>>,
    /// The flag, which is written under the lock.
    phase: CachePadded<P::Futex>,
    members: usize,
    spins: u32,
}

struct State {
    inside: usize,
    /// Members that sleep on the flag, or are about to sleep.
    sleepers: u32,
}

/// A member of a [`SpinSleepBarrier`], without state.
#[derive(Debug)]
pub struct SpinSleepMember(());

impl<P: Platform> SpinSleepBarrier<P> {
    /// Begins the next phase, under the lock.
    fn begin(&self, phase: u32, state: &mut State) {
        // Release passes on the work of all members to those that look without the lock.
        self.phase.store(phase, Ordering::Release);
        if std::mem::take(&mut state.sleepers) > 0 {
            self.phase.wake(u32::MAX);
        }
    }

    /// Waits for the end of a phase. The end cannot be missed: `ARRIVING` begins again only after this member's
    /// departure, and `LEAVING` only after its arrival.
    fn wait_while(&self, phase: u32) {
        for _ in 0..self.spins {
            // Acquire pairs with `begin`.
            if self.phase.load(Ordering::Acquire) != phase {
                return;
            }
            P::relax();
        }
        // In one section this member finds the phase unchanged and counts itself as a sleeper. A member that changes
        // the phase later has the lock after that, and wakes this member. The futex compares again.
        while self.state.with(|state| {
            // Relaxed: the word is written under the lock.
            let goes_on = self.phase.load(Ordering::Relaxed) == phase;
            state.sleepers += u32::from(goes_on);
            goes_on
        }) {
            self.phase.wait(phase, None);
        }
    }
}

impl<P: Platform> Barrier<P> for SpinSleepBarrier<P> {
    const NAME: &'static str = "spin-sleep";
    type Member = SpinSleepMember;

    fn new(placement: &Placement) -> Self {
        Self {
            state: CachePadded::new(Mutex::new(State {
                inside: 0,
                sleepers: 0,
            })),
            phase: CachePadded::new(<P::Futex as Atomic<u32>>::new(ARRIVING)),
            members: placement.members(),
            spins: (SPINS * placement.patience().div_duration_f64(Placement::PATIENCE)) as u32,
        }
    }

    fn member(&self, rank: usize) -> SpinSleepMember {
        assert!(rank < self.members, "rank {rank} of {}", self.members);
        SpinSleepMember(())
    }

    fn wait(&self, _: &mut SpinSleepMember) {
        while !self.state.with(|state| {
            // Relaxed: the word is written under the lock.
            let is_open = self.phase.load(Ordering::Relaxed) == ARRIVING;
            state.inside += usize::from(is_open);
            if state.inside == self.members && is_open {
                self.begin(LEAVING, state);
            }
            is_open
        }) {
            self.wait_while(LEAVING);
        }
        self.wait_while(ARRIVING);
        self.state.with(|state| {
            state.inside -= 1;
            if state.inside == 0 {
                self.begin(ARRIVING, state);
            }
        });
    }
}
