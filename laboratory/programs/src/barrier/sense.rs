use super::Barrier;
use manycore_platform::Platform;
use manycore_team::barrier::Placement;
use manycore_team::seam::{SenseBarrier, SenseMember};

impl<P: Platform> Barrier<P> for SenseBarrier<P> {
    const NAME: &'static str = "sense";
    type Member = SenseMember;

    fn new(placement: &Placement) -> Self {
        Self::new(placement)
    }

    fn member(&self, rank: usize) -> SenseMember {
        self.member(rank)
    }

    #[inline]
    fn wait(&self, member: &mut SenseMember) {
        self.wait(member);
    }
}
