use crate::barrier::Barrier;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use manycore_team::barrier::Placement;
use manycore_team::seam::Waiting;

/// Children whose arrival a member waits for: their words fit a line, and fit the
/// one word that the published version packs them into.
const ARRIVING: usize = 4;
/// Children that a member lets go: few, because it does so one after the other.
const WAKING: usize = 2;

/// The tree of Mellor-Crummey and Scott (1991, algorithm 11): each member waits for its
/// four children and then tells its parent; from the root each lets two others go.
///
/// A line a member for the arrival of its children, each of which writes a word of
/// it; and a line a member for being let go, written by one and read by one. That is
/// 2N - 2 lines moved an episode, the fewest without broadcast.
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

/// A member's; the words hold the number of an episode.
struct Place<P: Platform> {
    /// The last one at which the child arrived.
    arrived: CachePadded<[P::Futex; ARRIVING]>,
    /// The last one from which the member may go.
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
        // A word that nobody else writes: to its parent, or from the root to its first child.
        let word = match rank.checked_sub(1) {
            Some(rank) => Some(&self.places[rank / ARRIVING].arrived[rank % ARRIVING]),
            None => self.places.get(1).map(|child| &*child.awake),
        };
        // Relaxed: the caller comes after who was this member before.
        let episode = word.map_or(0, |word| word.load(Ordering::Relaxed));
        McsMember { rank, episode }
    }

    #[inline]
    fn wait(&self, McsMember { rank, episode }: &mut McsMember) {
        let before = *episode;
        *episode = before.wrapping_add(1);
        let (rank, episode) = (*rank, *episode);
        let mine = &self.places[rank];
        // No word gets further than this episode before this member has left it:
        // the next one takes its arrival.
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
