use super::{Barrier, GroupedBarrier, GroupedMember, Placement, SenseBarrier, SenseMember};
use manycore_platform::Platform;

/// The default, chosen by the placement: where every member has a core, the
/// [`GroupedBarrier`]; where members share cores, the [`SenseBarrier`], by which
/// nobody waits for anybody twice, so that each has to be given the core only once an
/// episode.
///
/// ```
/// use manycore::Native;
/// use manycore::barrier::{Barrier, ChosenBarrier, Placement};
///
/// let barrier = ChosenBarrier::<Native>::new(&Placement::flat(2).on_cores(1));
/// let (mut one, mut other) = (barrier.member(0), barrier.member(1));
/// std::thread::scope(|scope| {
///     scope.spawn(|| barrier.wait(&mut one));
///     barrier.wait(&mut other);
/// });
/// ```
pub struct ChosenBarrier<P: Platform> {
    way: Way<P>,
}

enum Way<P: Platform> {
    Grouped(GroupedBarrier<P>),
    Sense(SenseBarrier<P>),
}

/// A member of a [`ChosenBarrier`].
pub struct ChosenMember {
    way: MemberWay,
}

enum MemberWay {
    Grouped(GroupedMember),
    Sense(SenseMember),
}

impl<P: Platform> Barrier<P> for ChosenBarrier<P> {
    const NAME: &'static str = "default";
    type Member = ChosenMember;

    fn new(placement: &Placement) -> Self {
        let way = if placement.is_oversubscribed() {
            Way::Sense(SenseBarrier::new(placement))
        } else {
            Way::Grouped(GroupedBarrier::new(placement))
        };
        Self { way }
    }

    fn member(&self, rank: usize) -> ChosenMember {
        let way = match &self.way {
            Way::Grouped(barrier) => MemberWay::Grouped(barrier.member(rank)),
            Way::Sense(barrier) => MemberWay::Sense(barrier.member(rank)),
        };
        ChosenMember { way }
    }

    #[inline]
    fn wait(&self, member: &mut ChosenMember) {
        match (&self.way, &mut member.way) {
            (Way::Grouped(barrier), MemberWay::Grouped(member)) => barrier.wait(member),
            (Way::Sense(barrier), MemberWay::Sense(member)) => barrier.wait(member),
            _ => panic!("a member of another barrier"),
        }
    }
}
