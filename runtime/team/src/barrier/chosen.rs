use super::grouped::{GroupedBarrier, GroupedMember};
use super::pair::Pair;
use super::placement::Placement;
use super::sense::{SenseBarrier, SenseMember};
use manycore_platform::Platform;

/// A barrier whose kind depends on the placement (the members and their cores). If there are only
/// two members, they share one word. Otherwise, if every member has a core, the barrier is the
/// [`GroupedBarrier`]. If members share cores, it is the [`SenseBarrier`]: in an episode (one
/// meeting of all members), a member waits only once, so it needs a core only once.
///
/// ```
/// use manycore_platform::Native;
/// use manycore_team::barrier::Placement;
/// use manycore_team::seam::ChosenBarrier;
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
    Grouped(GroupedBarrier<P>),
    Sense(SenseBarrier<P>),
}

/// A member of a [`ChosenBarrier`].
#[derive(Debug)]
pub struct ChosenMember {
    way: ChosenMemberWay,
}

#[derive(Debug)]
enum ChosenMemberWay {
    Pair,
    Grouped(GroupedMember),
    Sense(SenseMember),
}

/// The number of members of a [`Pair`].
const PAIR: usize = 2;

impl<P: Platform> ChosenBarrier<P> {
    /// A barrier for the ranks (numbers of the members) of `placement`.
    pub fn new(placement: &Placement) -> Self {
        let way = if placement.members() == PAIR {
            ChosenWay::Pair(Pair::new(placement))
        } else if placement.is_oversubscribed() {
            ChosenWay::Sense(SenseBarrier::new(placement))
        } else {
            ChosenWay::Grouped(GroupedBarrier::new(placement))
        };
        Self { way }
    }

    /// Returns the member of rank `rank`.
    ///
    /// # Panics
    ///
    /// Panics if the placement has no such rank.
    pub fn member(&self, rank: usize) -> ChosenMember {
        let way = match &self.way {
            ChosenWay::Pair(_) => {
                assert!(rank < PAIR, "rank {rank} of {PAIR}");
                ChosenMemberWay::Pair
            }
            ChosenWay::Grouped(barrier) => ChosenMemberWay::Grouped(barrier.member(rank)),
            ChosenWay::Sense(barrier) => ChosenMemberWay::Sense(barrier.member(rank)),
        };
        ChosenMember { way }
    }

    /// Waits until all members have arrived at this episode.
    ///
    /// # Panics
    ///
    /// Panics if the member belongs to a barrier of another kind.
    #[inline]
    pub fn wait(&self, member: &mut ChosenMember) {
        match (&self.way, &mut member.way) {
            (ChosenWay::Pair(barrier), ChosenMemberWay::Pair) => barrier.wait(),
            (ChosenWay::Grouped(barrier), ChosenMemberWay::Grouped(member)) => barrier.wait(member),
            (ChosenWay::Sense(barrier), ChosenMemberWay::Sense(member)) => barrier.wait(member),
            _ => panic!("a member of another barrier"),
        }
    }
}
