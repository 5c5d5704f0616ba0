use super::{Barrier, CountedBarrier, CountedMember};
use manycore_chip::Broadcast;
use manycore_team::barrier::Placement;
use manycore_team::seam::{ChosenBarrier, ChosenMember};

/// The default barrier. It is the [`CountedBarrier`] if every member has a core and there is a broadcast
/// network. Otherwise `manycore-team`'s `TeamBarrier` chooses.
///
/// ```
/// use manycore::Native;
/// use manycore_programs::barrier::{Barrier, DefaultBarrier};
/// use manycore_team::barrier::Placement;
///
/// let barrier = DefaultBarrier::<Native>::new(&Placement::flat(2).on_cores(1));
/// let (mut one, mut other) = (barrier.member(0), barrier.member(1));
/// std::thread::scope(|scope| {
///     scope.spawn(|| barrier.wait(&mut one));
///     barrier.wait(&mut other);
/// });
/// ```
pub enum DefaultBarrier<P: Broadcast> {
    /// The barrier over the network.
    Counted(CountedBarrier<P>),
    /// A barrier through memory.
    Chosen(ChosenBarrier<P>),
}

/// A member of a [`DefaultBarrier`].
pub enum DefaultMember<P: Broadcast> {
    /// A member over the network.
    Counted(CountedMember<P>),
    /// A member through memory.
    Chosen(ChosenMember),
}

impl<P: Broadcast> Barrier<P> for DefaultBarrier<P> {
    const NAME: &'static str = "default";
    type Member = DefaultMember<P>;

    fn new(placement: &Placement) -> Self {
        let shares = placement.is_oversubscribed();
        let counted = (!shares).then(|| CountedBarrier::on_network(placement));
        match counted.flatten() {
            Some(barrier) => Self::Counted(barrier),
            None => Self::Chosen(ChosenBarrier::new(placement)),
        }
    }

    fn member(&self, rank: usize) -> DefaultMember<P> {
        match self {
            Self::Counted(barrier) => DefaultMember::Counted(barrier.member(rank)),
            Self::Chosen(barrier) => DefaultMember::Chosen(barrier.member(rank)),
        }
    }

    #[inline]
    fn wait(&self, member: &mut DefaultMember<P>) {
        match (self, member) {
            (Self::Counted(barrier), DefaultMember::Counted(member)) => barrier.wait(member),
            (Self::Chosen(barrier), DefaultMember::Chosen(member)) => barrier.wait(member),
            _ => panic!("a member of another barrier"),
        }
    }
}
