use crate::barrier::Barrier;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use manycore_team::barrier::Placement;
use manycore_team::seam::Waiting;

/// The sense-reversing barrier with its two words on one line: the count, and the word that releases all
/// members.
///
/// Each arrival takes the cache line from all waiting members. The members fetch the line again, which delays the next
/// arrival. [`SenseBarrier`](manycore_team::seam::SenseBarrier) has the words on two lines.
///
/// ```
/// use manycore::Native;
/// use manycore_programs::barrier::Barrier;
/// use manycore_team::barrier::Placement;
/// use manycore_programs::barrier::SenseOnALineBarrier;
///
/// let barrier = SenseOnALineBarrier::<Native>::new(&Placement::flat(2));
/// let (mut one, mut other) = (barrier.member(0), barrier.member(1));
/// std::thread::scope(|scope| {
///     scope.spawn(|| barrier.wait(&mut one));
///     barrier.wait(&mut other);
/// });
/// ```
pub struct SenseOnALineBarrier<P: Platform> {
    words: CachePadded<Neighbours<P>>,
    waiting: Waiting<P>,
    members: u32,
}

struct Neighbours<P: Platform> {
    /// The number of members that have not arrived.
    missing: P::AtomicU32,
    /// The number of the last released episode (use of the barrier).
    released: P::Futex,
}

/// A member of a [`SenseOnALineBarrier`]: the number of the episode.
#[derive(Debug)]
pub struct SenseOnALineMember(u32);

impl<P: Platform> Barrier<P> for SenseOnALineBarrier<P> {
    const NAME: &'static str = "sense-on-a-line";
    type Member = SenseOnALineMember;

    fn new(placement: &Placement) -> Self {
        let members = u32::try_from(placement.members()).expect("more members than threads can be");
        let words = Neighbours {
            missing: P::AtomicU32::new(members),
            released: <P::Futex as Atomic<u32>>::new(0),
        };
        Self {
            words: CachePadded::new(words),
            waiting: Waiting::new(placement),
            members,
        }
    }

    fn member(&self, rank: usize) -> SenseOnALineMember {
        let members = self.members;
        assert!(rank < members as usize, "rank {rank} of {members}");
        // Relaxed: the former member's work happened before, and the next episode is not released without
        // this member.
        SenseOnALineMember(self.words.released.load(Ordering::Relaxed))
    }

    fn wait(&self, SenseOnALineMember(episode): &mut SenseOnALineMember) {
        let Neighbours { missing, released } = &*self.words;
        let before = *episode;
        *episode = before.wrapping_add(1);
        // Release publishes this member's work. Acquire: the last member sees the work of all members.
        if missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            // Resets the count for the next episode, which the others begin after the release below. Relaxed: this
            // release publishes the count.
            missing.store(self.members, Ordering::Relaxed);
            self.waiting.release(released, *episode);
        } else {
            // The word is at most at this episode, since the release of the next needs this member's arrival.
            self.waiting.wait_while(released, before);
        }
    }
}
