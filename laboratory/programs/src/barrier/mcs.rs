use crate::barrier::Barrier;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use manycore_team::barrier::Placement;
use manycore_team::seam::Waiting;

/// The number of children that a member waits for. Their words fit in a cache line, and in one word of the published
/// version.
const ARRIVING: usize = 4;
/// The number of children that a member releases. There are few because the member releases them one after the other.
const WAKING: usize = 2;

/// The tree of Mellor-Crummey and Scott (1991, algorithm 11). Each member waits for its four children and then informs
/// its parent. Then, beginning with the root, each member releases two others.
///
/// A member has a line with a word for the arrival of each of its children, and a line for its release, with one writer
/// and one reader. So an episode (one use of the barrier) has 2N - 2 line transfers, the fewest without broadcast.
///
/// ```
/// use manycore::Native;
/// use manycore_programs::barrier::Barrier;
/// use manycore_team::barrier::Placement;
/// use manycore_programs::barrier::McsBarrier;
///
/// let barrier = McsBarrier::<Native>::new(&Placement::flat(2));
/// let (mut one, mut other) = (barrier.member(0), barrier.member(1));
/// std::thread::scope(|scope| {
///     scope.spawn(|| barrier.wait(&mut one));
///     barrier.wait(&mut other);
/// });
/// ```
pub struct McsBarrier<P: Platform> {
    places: Box<[Place<P>]>,
    waiting: Waiting<P>,
}

/// A member's words. Each holds the number of an episode.
struct Place<P: Platform> {
    /// The last episode at which the child arrived.
    arrived: CachePadded<[P::Futex; ARRIVING]>,
    /// The last episode that released the member.
    awake: CachePadded<P::Futex>,
}

/// A member of a [`McsBarrier`].
#[derive(Debug)]
pub struct McsMember {
    rank: usize,
    episode: u32,
}

impl<P: Platform> Barrier<P> for McsBarrier<P> {
    const NAME: &'static str = "mcs";
    type Member = McsMember;

    fn new(placement: &Placement) -> Self {
        let word = || <P::Futex as Atomic<u32>>::new(0);
        let place = |_| Place {
            arrived: CachePadded::new(std::array::from_fn(|_| word())),
            awake: CachePadded::new(word()),
        };
        Self {
            places: (0..placement.members()).map(place).collect(),
            waiting: Waiting::new(placement),
        }
    }

    fn member(&self, rank: usize) -> McsMember {
        let members = self.places.len();
        assert!(rank < members, "rank {rank} of {members}");
        // Only this member writes this word. The word is in its parent or, for the root, in its first child.
        let word = match rank.checked_sub(1) {
            Some(rank) => Some(&self.places[rank / ARRIVING].arrived[rank % ARRIVING]),
            None => self.places.get(1).map(|child| &*child.awake),
        };
        // Relaxed: the former member's work happened before.
        let episode = word.map_or(0, |word| word.load(Ordering::Relaxed));
        McsMember { rank, episode }
    }

    #[inline]
    fn wait(&self, McsMember { rank, episode }: &mut McsMember) {
        let before = *episode;
        *episode = before.wrapping_add(1);
        let (rank, episode) = (*rank, *episode);
        let mine = &self.places[rank];
        // No word gets further before this member leaves this episode, since the next episode needs its arrival.
        let first = ARRIVING * rank + 1;
        let children = self.places.len().saturating_sub(first).min(ARRIVING);
        for child in &mine.arrived[..children] {
            self.waiting.wait_while(child, before);
        }
        if rank > 0 {
            let (parent, place) = ((rank - 1) / ARRIVING, (rank - 1) % ARRIVING);
            let word = &self.places[parent].arrived[place];
            self.waiting.release(word, episode);
            self.waiting.wait_while(&mine.awake, before);
        }
        let first = WAKING * rank + 1;
        for child in self.places.iter().skip(first).take(WAKING) {
            self.waiting.release(&child.awake, episode);
        }
    }
}
