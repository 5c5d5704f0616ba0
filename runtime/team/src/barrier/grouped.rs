use super::exchange::Exchange;
use super::groups::Groups;
use super::node::Node;
use super::placement::Placement;
use super::waiting::Waiting;
use manycore_platform::Platform;

/// A barrier with two levels: the members of each core group meet, and then the groups meet.
///
/// The members of a group count their arrivals on one line, which stays in the cache that they share. The last member
/// takes part in an exchange between the groups, in ceil(log2 groups) rounds. Then it releases its group with a second
/// line. If all members are in one core group, they all exchange with each other, without a count. With two members
/// this takes one store and one load in each episode (one meeting). Core groups of more than 16 members are divided
/// into parts.
///
/// ```
/// use manycore_platform::Native;
/// use manycore_team::barrier::Placement;
/// use manycore_team::seam::GroupedBarrier;
///
/// let barrier = GroupedBarrier::<Native>::new(&Placement::grouped(vec![0, 1]));
/// let (mut one, mut other) = (barrier.member(0), barrier.member(1));
/// std::thread::scope(|scope| {
///     scope.spawn(|| barrier.wait(&mut one));
///     barrier.wait(&mut other);
/// });
/// ```
pub struct GroupedBarrier<P: Platform> {
    groups: Groups,
    nodes: Box<[Node<P>]>,
    exchange: Exchange<P>,
    waiting: Waiting<P>,
}

/// A member of a [`GroupedBarrier`].
#[derive(Debug)]
pub struct GroupedMember {
    group: usize,
    episode: u32,
}

impl<P: Platform> GroupedBarrier<P> {
    /// A barrier for the ranks (numbers of the members) of `placement`.
    pub fn new(placement: &Placement) -> Self {
        let groups = Groups::new(placement);
        let sizes = groups.sizes();
        Self {
            nodes: sizes.iter().map(|&size| Node::new(size)).collect(),
            exchange: Exchange::new(sizes.len()),
            waiting: Waiting::new(placement),
            groups,
        }
    }

    /// Returns the member of rank `rank`.
    ///
    /// # Panics
    ///
    /// Panics if the placement has no such rank.
    pub fn member(&self, rank: usize) -> GroupedMember {
        let members = self.groups.members();
        assert!(rank < members, "rank {rank} of {members}");
        let group = self.groups.group(rank);
        // The group's last episode. This member is in no episode, so the number does not change.
        let of_several = self.nodes[group].released();
        let episode = of_several.unwrap_or_else(|| self.exchange.told(group));
        GroupedMember { group, episode }
    }

    /// Waits until all members have arrived at this episode.
    #[inline]
    pub fn wait(&self, member: &mut GroupedMember) {
        member.episode = member.episode.wrapping_add(1);
        let GroupedMember { group, episode } = *member;
        let node = &self.nodes[group];
        if node.is_last() {
            // Any member may be the last. The exchange keeps its knowledge of a group in its words,
            // and the node's count makes these words visible to the member that is last the next
            // time.
            self.exchange.meet(&self.waiting, group, episode);
            node.release(&self.waiting, episode);
        } else {
            node.wait(&self.waiting, episode);
        }
    }
}
