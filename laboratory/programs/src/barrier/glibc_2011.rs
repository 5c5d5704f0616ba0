use crate::barrier::Barrier;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Futex, Ordering, Platform};
use manycore_team::barrier::Placement;

const FREE: u32 = 0;
const HELD: u32 = 1;
/// The lock is held, and a thread may be asleep.
const AWAITED: u32 = 2;

/// The barrier of POSIX threads in glibc until 2.24, so also in 2011 and 2013. It has a lock, a count of the missing
/// members, and the number of the episode (the current use of the barrier). Members sleep on this number. Each member
/// counts itself under the lock. The last member to arrive keeps the lock, begins the next episode and wakes all
/// others. When members leave they count themselves again, and the last member to leave releases the lock. Until then
/// no member can arrive at the next episode. No member spins.
///
/// Everything is on one line, as in glibc. A member's wait takes three read-modify-writes, and more while
/// others want the lock.
///
/// The protocol follows descriptions of glibc's files of that time; the code is not from glibc.
/// [`FutexBarrier`](super::FutexBarrier) is its successor.
///
/// ```
/// use manycore::Native;
/// use manycore_programs::barrier::Barrier;
/// use manycore_team::barrier::Placement;
/// use manycore_programs::barrier::Glibc2011Barrier;
///
/// let barrier = Glibc2011Barrier::<Native>::new(&Placement::flat(2));
/// let (mut one, mut other) = (barrier.member(0), barrier.member(1));
/// std::thread::scope(|scope| {
///     scope.spawn(|| barrier.wait(&mut one));
///     barrier.wait(&mut other);
/// });
/// ```
#[doc(alias = "pthread_barrier_t")]
pub struct Glibc2011Barrier<P: Platform> {
    words: CachePadded<LockedWords<P>>,
    members: u32,
}

struct LockedWords<P: Platform> {
    /// An arriving member holds the lock. From the last arrival of an episode to its last departure, all members hold
    /// the lock together.
    lock: P::Futex,
    episode: P::Futex,
    /// The number of members that have not arrived. After the last arrival: the number of members that have left.
    missing: P::AtomicU32,
}

/// A member of a [`Glibc2011Barrier`], without state.
#[derive(Debug)]
pub struct Glibc2011Member(());

impl<P: Platform> LockedWords<P> {
    fn lock(&self) {
        // Acquire pairs with `unlock`: this thread sees what earlier holders did. Relaxed on failure: the
        // swap below acquires.
        let free = (self.lock).compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed);
        if free.is_err() {
            // The thread that releases an awaited lock wakes one sleeper. More may sleep, so the
            // woken thread marks the lock as awaited again. The futex compares and sleeps in one
            // step, so the release is not missed.
            while self.lock.swap(AWAITED, Ordering::Acquire) != FREE {
                self.lock.wait(AWAITED, None);
            }
        }
    }

    fn unlock(&self) {
        // Release: the next holder sees what this holder did and saw.
        if self.lock.swap(FREE, Ordering::Release) == AWAITED {
            self.lock.wake(1);
        }
    }
}

impl<P: Platform> Barrier<P> for Glibc2011Barrier<P> {
    const NAME: &'static str = "glibc-2011";
    type Member = Glibc2011Member;

    fn new(placement: &Placement) -> Self {
        let members = u32::try_from(placement.members()).expect("more members than threads can be");
        let words = LockedWords {
            lock: <P::Futex as Atomic<u32>>::new(FREE),
            episode: <P::Futex as Atomic<u32>>::new(0),
            missing: P::AtomicU32::new(members),
        };
        Self {
            words: CachePadded::new(words),
            members,
        }
    }

    fn member(&self, rank: usize) -> Glibc2011Member {
        let members = self.members;
        assert!(rank < members as usize, "rank {rank} of {members}");
        Glibc2011Member(())
    }

    fn wait(&self, _: &mut Glibc2011Member) {
        let LockedWords {
            episode, missing, ..
        } = &*self.words;
        self.words.lock();
        // Relaxed, here and at the load of the episode: both words are written under the lock.
        if missing.fetch_sub(1, Ordering::Relaxed) == 1 {
            // Release passes on the work of all members, which this member acquired with the lock.
            episode.fetch_add(1, Ordering::Release);
            episode.wake(u32::MAX);
        } else {
            let this = episode.load(Ordering::Relaxed);
            self.words.unlock();
            // Acquire pairs with the addition above. The word is at most one number further, since the next episode
            // needs this member's arrival.
            while episode.load(Ordering::Acquire) == this {
                // The futex compares and sleeps in one step, so the wake-up is not lost.
                episode.wait(this, None);
            }
        }
        // Release: this member has finished with the episode. Acquire: the last member knows that all members have
        // finished, and releases the lock for all.
        if missing.fetch_add(1, Ordering::AcqRel) + 1 == self.members {
            self.words.unlock();
        }
    }
}
