use crate::barrier::Barrier;
use manycore_platform::Platform;
use manycore_team::barrier::Placement;
use manycore_team::seam::Exchange;
use manycore_team::seam::Waiting;

/// The dissemination barrier (Hensgen, Finkel and Manber 1988; Mellor-Crummey and Scott 1991, algorithm 9).
/// No member counts or releases others: each member learns of all others in ceil(log2 N) rounds.
///
/// Every word is on its own cache line, with one writer and one reader. With two members an episode (use of the
/// barrier) takes each of them one store and one load.
///
/// ```
/// use manycore::Native;
/// use manycore_programs::barrier::Barrier;
/// use manycore_team::barrier::Placement;
/// use manycore_programs::barrier::DisseminationBarrier;
///
/// let barrier = DisseminationBarrier::<Native>::new(&Placement::flat(2));
/// let (mut one, mut other) = (barrier.member(0), barrier.member(1));
/// std::thread::scope(|scope| {
///     scope.spawn(|| barrier.wait(&mut one));
///     barrier.wait(&mut other);
/// });
/// ```
pub struct DisseminationBarrier<P: Platform> {
    exchange: Exchange<P>,
    waiting: Waiting<P>,
    members: usize,
}

/// A member of a [`DisseminationBarrier`].
#[derive(Debug)]
pub struct DisseminationMember {
    rank: usize,
    episode: u32,
}

impl<P: Platform> Barrier<P> for DisseminationBarrier<P> {
    const NAME: &'static str = "dissemination";
    type Member = DisseminationMember;

    fn new(placement: &Placement) -> Self {
        let members = placement.members();
        Self {
            exchange: Exchange::new(members),
            waiting: Waiting::new(placement),
            members,
        }
    }

    fn member(&self, rank: usize) -> DisseminationMember {
        assert!(rank < self.members, "rank {rank} of {}", self.members);
        let episode = self.exchange.told(rank);
        DisseminationMember { rank, episode }
    }

    #[inline]
    fn wait(&self, member: &mut DisseminationMember) {
        member.episode = member.episode.wrapping_add(1);
        (self.exchange).meet(&self.waiting, member.rank, member.episode);
    }
}
