use crate::barrier::Barrier;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Futex, Ordering, Platform};
use manycore_team::barrier::Placement;

/// The number of arrivals after which the counts begin again, as in glibc.
const LIMIT: u32 = u32::MAX / 2;

/// The barrier of POSIX threads, by the protocol of glibc since 2.25. A member that arrives takes a number. The last
/// member of a round publishes the highest number that may leave, and wakes the others, which sleep until then. No
/// member spins. Departures are counted too, so that the counts can begin again before they overflow. After `limit`
/// departures the last member resets the counts, and admits the members that arrived meanwhile.
///
/// All counts are on one line, as in glibc. Each member does two read-modify-writes and a system call.
///
/// The protocol follows the description that comes with glibc; the code is not from glibc. In glibc any threads may
/// wait, `count` of them at a time. Here the members are always the same, so a store replaces a compare-and-swap.
///
/// ```
/// use manycore::Native;
/// use manycore_programs::barrier::Barrier;
/// use manycore_team::barrier::Placement;
/// use manycore_programs::barrier::FutexBarrier;
///
/// let barrier = FutexBarrier::<Native>::new(&Placement::flat(2));
/// let (mut one, mut other) = (barrier.member(0), barrier.member(1));
/// std::thread::scope(|scope| {
///     scope.spawn(|| barrier.wait(&mut one));
///     barrier.wait(&mut other);
/// });
/// ```
#[doc(alias = "pthread_barrier_t")]
pub struct FutexBarrier<P: Platform> {
    counts: CachePadded<EpisodeCounts<P>>,
    members: u32,
    /// The number of arrivals after which the counts begin again. It is a multiple of `members`.
    limit: u32,
}

struct EpisodeCounts<P: Platform> {
    /// How many numbers are taken. This exceeds the limit while the last members before a reset leave.
    arrived: P::Futex,
    /// Members with numbers up to this may leave.
    complete: P::Futex,
    left: P::AtomicU32,
}

/// A member of a [`FutexBarrier`], without state.
#[derive(Debug)]
pub struct FutexMember(());

impl<P: Platform> FutexBarrier<P> {
    /// Makes a barrier whose counts begin again after at most `limit` arrivals.
    pub(super) fn with_limit(members: usize, limit: u32) -> Self {
        let members = u32::try_from(members).expect("more members than threads can be");
        let counts = EpisodeCounts {
            arrived: <P::Futex as Atomic<u32>>::new(0),
            complete: <P::Futex as Atomic<u32>>::new(0),
            left: P::AtomicU32::new(0),
        };
        Self {
            counts: CachePadded::new(counts),
            members,
            limit: limit - limit % members,
        }
    }

    /// Takes a number, from 1 on.
    fn arrive(&self) -> u32 {
        let arrived = &self.counts.arrived;
        loop {
            // Release publishes this member's work. Acquire: the last member of a round sees the work of all members,
            // and a member that takes a number after a reset finds the counts reset.
            let number = arrived.fetch_add(1, Ordering::AcqRel) + 1;
            if number <= self.limit {
                return number;
            }
            // The numbers are used up, and this number is void. The last member to leave resets the word and then wakes
            // the sleepers. The futex compares and sleeps in one step, so the reset is not missed. If another member
            // takes a void number, this member only looks again.
            loop {
                // Relaxed: the next `fetch_add` acquires.
                let now = arrived.load(Ordering::Relaxed);
                if now <= self.limit {
                    break;
                }
                arrived.wait(now, None);
            }
        }
    }

    fn leave(&self) {
        let EpisodeCounts {
            arrived,
            complete,
            left,
        } = &*self.counts;
        // Release: this member has finished with `complete`. Acquire: the last member knows that all members have
        // finished with it.
        if left.fetch_add(1, Ordering::AcqRel) + 1 == self.limit {
            left.store(0, Ordering::Relaxed);
            complete.store(0, Ordering::Relaxed);
            // Release: the member that takes number 1 finds the other counts reset. A store would be
            // enough, but loom loses track of a word that is both stored to and added to.
            arrived.swap(0, Ordering::Release);
            arrived.wake(u32::MAX);
        }
    }
}

impl<P: Platform> Barrier<P> for FutexBarrier<P> {
    const NAME: &'static str = "futex";
    type Member = FutexMember;

    fn new(placement: &Placement) -> Self {
        Self::with_limit(placement.members(), LIMIT)
    }

    fn member(&self, rank: usize) -> FutexMember {
        let members = self.members;
        assert!(rank < members as usize, "rank {rank} of {members}");
        FutexMember(())
    }

    fn wait(&self, _: &mut FutexMember) {
        let number = self.arrive();
        let complete = &self.counts.complete;
        if number.is_multiple_of(self.members) {
            // No member of the next round can be here, since all members of this round wait for this store. Release
            // passes on the work of all members.
            complete.store(number, Ordering::Release);
            complete.wake(u32::MAX);
        } else {
            loop {
                // Acquire pairs with the store above.
                let seen = complete.load(Ordering::Acquire);
                if seen >= number {
                    break;
                }
                // The futex compares and sleeps in one step, so the wake-up is not lost.
                complete.wait(seen, None);
            }
        }
        self.leave();
    }
}
