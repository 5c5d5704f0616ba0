use super::pair::Pair;
use super::{
    Barrier, CountedBarrier, CountedMember, GroupedBarrier, GroupedMember, Placement, SenseBarrier,
    SenseMember,
};
use manycore_platform::Platform;

/// The default. Where every member has a core, it is the [`CountedBarrier`] if there is
/// a broadcast network, and the [`GroupedBarrier`] if not. Where members share
/// cores it is the [`SenseBarrier`], by which nobody waits for anybody twice, so that
/// each has to be given the core only once an episode. Two members without such a network have
/// one word, to which each adds once an episode.
///
/// ```
/// use manycore_platform::Native;
/// use manycore_team::barrier::{Barrier, ChosenBarrier, Placement};
///
/// let barrier = ChosenBarrier::<Native>::new(&Placement::flat(2).on_cores(1));
/// let (mut one, mut other) = (barrier.member(0), barrier.member(1));
/// std::thread::scope(|scope| {
///     scope.spawn(|| barrier.wait(&mut one));
///     barrier.wait(&mut other);
/// });
/// ```
pub struct ChosenBarrier<P: Platform> {
    way: ChosenWay<P>,
}

enum ChosenWay<P: Platform> {
    Pair(Pair<P>),
    Counted(CountedBarrier<P>),
    Grouped(GroupedBarrier<P>),
    Sense(SenseBarrier<P>),
}

/// A member of a [`ChosenBarrier`].
pub struct ChosenMember<P: Platform> {
    way: ChosenMemberWay<P>,
}

enum ChosenMemberWay<P: Platform> {
    Pair,
    Counted(CountedMember<P>),
    Grouped(GroupedMember),
    Sense(SenseMember),
}

/// The members of a [`Pair`].
const PAIR: usize = 2;

impl<P: Platform> ChosenBarrier<P> {
    /// Whether a member belongs to the core on which it was made.
    pub(super) fn is_bound_to_cores(&self) -> bool {
        matches!(self.way, ChosenWay::Counted(_))
    }
}

impl<P: Platform> Barrier<P> for ChosenBarrier<P> {
    const NAME: &'static str = "default";
    type Member = ChosenMember<P>;

    fn new(placement: &Placement) -> Self {
        let shares = placement.is_oversubscribed();
        let counted = (!shares).then(|| CountedBarrier::on_network(placement));
        let way = if let Some(barrier) = counted.flatten() {
            ChosenWay::Counted(barrier)
        } else if placement.members() == PAIR {
            ChosenWay::Pair(Pair::new(placement))
        } else if shares {
            ChosenWay::Sense(SenseBarrier::new(placement))
        } else {
            ChosenWay::Grouped(GroupedBarrier::new(placement))
        };
        Self { way }
    }

    fn member(&self, rank: usize) -> ChosenMember<P> {
        let way = match &self.way {
            ChosenWay::Pair(_) => {
                assert!(rank < PAIR, "rank {rank} of {PAIR}");
                ChosenMemberWay::Pair
            }
            ChosenWay::Counted(barrier) => ChosenMemberWay::Counted(barrier.member(rank)),
            ChosenWay::Grouped(barrier) => ChosenMemberWay::Grouped(barrier.member(rank)),
            ChosenWay::Sense(barrier) => ChosenMemberWay::Sense(barrier.member(rank)),
        };
        ChosenMember { way }
    }

    #[inline]
    fn wait(&self, member: &mut ChosenMember<P>) {
        match (&self.way, &mut member.way) {
            (ChosenWay::Pair(barrier), ChosenMemberWay::Pair) => barrier.wait(),
            (ChosenWay::Counted(barrier), ChosenMemberWay::Counted(member)) => barrier.wait(member),
            (ChosenWay::Grouped(barrier), ChosenMemberWay::Grouped(member)) => barrier.wait(member),
            (ChosenWay::Sense(barrier), ChosenMemberWay::Sense(member)) => barrier.wait(member),
            _ => panic!("a member of another barrier"),
        }
    }
}
