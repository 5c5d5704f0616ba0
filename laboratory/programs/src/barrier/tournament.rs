use crate::barrier::Barrier;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use manycore_team::barrier::Placement;
use manycore_team::seam::Waiting;

/// The tournament (Hensgen, Finkel and Manber 1988; Mellor-Crummey and Scott 1991, algorithm 10). In round r each rank
/// (member's number) that is a multiple of 2^(r+1) meets the rank 2^r higher, and always wins. A loser informs its
/// winner of its arrival, and drops out until the winner wakes it. At the end each member wakes its losers, the last
/// loser first.
///
/// A member loses once, so it has two words, each on its own cache line. The member writes one word for its winner when
/// it loses. The winner writes the other word to wake the member. No member counts.
///
/// ```
/// use manycore::Native;
/// use manycore_programs::barrier::Barrier;
/// use manycore_team::barrier::Placement;
/// use manycore_programs::barrier::TournamentBarrier;
///
/// let barrier = TournamentBarrier::<Native>::new(&Placement::flat(2));
/// let (mut one, mut other) = (barrier.member(0), barrier.member(1));
/// std::thread::scope(|scope| {
///     scope.spawn(|| barrier.wait(&mut one));
///     barrier.wait(&mut other);
/// });
/// ```
pub struct TournamentBarrier<P: Platform> {
    players: Box<[Player<P>]>,
    waiting: Waiting<P>,
}

/// A member's words. Each holds the number of an episode (use of the barrier).
struct Player<P: Platform> {
    /// The last episode that the member has lost.
    lost: CachePadded<P::Futex>,
    /// The last episode that released the member.
    awake: CachePadded<P::Futex>,
}

/// A member of a [`TournamentBarrier`].
#[derive(Debug)]
pub struct TournamentMember {
    rank: usize,
    episode: u32,
}

impl<P: Platform> Barrier<P> for TournamentBarrier<P> {
    const NAME: &'static str = "tournament";
    type Member = TournamentMember;

    fn new(placement: &Placement) -> Self {
        let word = || CachePadded::new(<P::Futex as Atomic<u32>>::new(0));
        let player = |_| Player {
            lost: word(),
            awake: word(),
        };
        Self {
            players: (0..placement.members()).map(player).collect(),
            waiting: Waiting::new(placement),
        }
    }

    fn member(&self, rank: usize) -> TournamentMember {
        let members = self.players.len();
        assert!(rank < members, "rank {rank} of {members}");
        // A word that only this member writes: its own `lost` or, for the champion, the `awake` of its first loser.
        let word = match rank {
            0 => self.players.get(1).map(|loser| &*loser.awake),
            _ => Some(&*self.players[rank].lost),
        };
        // Relaxed: the former member's work happened before.
        let episode = word.map_or(0, |word| word.load(Ordering::Relaxed));
        TournamentMember { rank, episode }
    }

    #[inline]
    fn wait(&self, TournamentMember { rank, episode }: &mut TournamentMember) {
        let before = *episode;
        *episode = before.wrapping_add(1);
        let (rank, episode) = (*rank, *episode);
        // No word gets further before this member leaves this episode (use of the barrier), since the next needs its
        // arrival.
        let mut distance = 1;
        while distance < self.players.len() && rank & distance == 0 {
            if let Some(loser) = self.players.get(rank + distance) {
                self.waiting.wait_while(&loser.lost, before);
            }
            distance *= 2;
        }
        if rank > 0 {
            let mine = &self.players[rank];
            self.waiting.release(&mine.lost, episode);
            self.waiting.wait_while(&mine.awake, before);
        }
        while distance > 1 {
            distance /= 2;
            if let Some(loser) = self.players.get(rank + distance) {
                self.waiting.release(&loser.awake, episode);
            }
        }
    }
}
