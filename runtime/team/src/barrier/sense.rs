use super::node::Node;
use super::placement::Placement;
use super::waiting::Waiting;
use manycore_platform::Platform;

/// The sense-reversing barrier, with one count, and one word that releases all members (Hensgen,
/// Finkel and Manber 1988; Mellor-Crummey and Scott 1991, algorithm 7).
///
/// All members write to the count's cache line in turn. The last member writes the word, on another line, and all other
/// members read it. Both steps take time linear in the number of members. This barrier suits members that share cores,
/// because no member waits twice in an episode (one meeting).
///
/// ```
/// use manycore_platform::Native;
/// use manycore_team::barrier::Placement;
/// use manycore_team::seam::SenseBarrier;
///
/// let barrier = SenseBarrier::<Native>::new(&Placement::flat(2));
/// let (mut one, mut other) = (barrier.member(0), barrier.member(1));
/// std::thread::scope(|scope| {
///     scope.spawn(|| barrier.wait(&mut one));
///     barrier.wait(&mut other);
/// });
/// ```
pub struct SenseBarrier<P: Platform> {
    node: Node<P>,
    waiting: Waiting<P>,
    members: usize,
}

/// A member of a [`SenseBarrier`]. It holds the number of its last episode.
#[derive(Debug)]
pub struct SenseMember(u32);

impl<P: Platform> SenseBarrier<P> {
    /// A barrier for the ranks (numbers of the members) of `placement`.
    pub fn new(placement: &Placement) -> Self {
        let members = placement.members();
        Self {
            node: Node::new(members),
            waiting: Waiting::new(placement),
            members,
        }
    }

    /// Returns the member of rank `rank`.
    ///
    /// # Panics
    ///
    /// Panics if the placement has no such rank.
    pub fn member(&self, rank: usize) -> SenseMember {
        assert!(rank < self.members, "rank {rank} of {}", self.members);
        SenseMember(self.node.released().unwrap_or(0))
    }

    /// Waits until all members have arrived at this episode.
    #[inline]
    pub fn wait(&self, SenseMember(episode): &mut SenseMember) {
        *episode = episode.wrapping_add(1);
        if self.node.is_last() {
            self.node.release(&self.waiting, *episode);
        } else {
            self.node.wait(&self.waiting, *episode);
        }
    }
}
