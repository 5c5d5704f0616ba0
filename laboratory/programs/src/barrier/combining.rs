use crate::barrier::Barrier;
use manycore_platform::Platform;
use manycore_team::barrier::Placement;
use manycore_team::seam::Node;
use manycore_team::seam::Waiting;

/// The number of members that meet at a node is 2 to this power. Mellor-Crummey and Scott recommend four.
const LOG_DEGREE: usize = 2;

/// The combining tree (Yew, Tzeng and Lawrie 1987; Mellor-Crummey and Scott 1991, algorithm 8). Four members meet at a
/// node, and the last member to arrive continues at the node above. The last to arrive at the root releases the others
/// that wait at the root. Then each of these members releases the others at the lower nodes where it was the last.
///
/// Each node has two cache lines, see [`SenseBarrier`](manycore_team::seam::SenseBarrier). At most four members write
/// or read a line.
///
/// ```
/// use manycore::Native;
/// use manycore_programs::barrier::Barrier;
/// use manycore_team::barrier::Placement;
/// use manycore_programs::barrier::CombiningBarrier;
///
/// let barrier = CombiningBarrier::<Native>::new(&Placement::flat(2));
/// let (mut one, mut other) = (barrier.member(0), barrier.member(1));
/// std::thread::scope(|scope| {
///     scope.spawn(|| barrier.wait(&mut one));
///     barrier.wait(&mut other);
/// });
/// ```
pub struct CombiningBarrier<P: Platform> {
    /// The nodes of each level. The members' level is first.
    levels: Vec<Box<[Node<P>]>>,
    waiting: Waiting<P>,
    members: usize,
}

/// A member of a [`CombiningBarrier`].
#[derive(Debug)]
pub struct CombiningMember {
    rank: usize,
    episode: u32,
}

impl<P: Platform> CombiningBarrier<P> {
    #[inline]
    fn node(&self, level: usize, rank: usize) -> &Node<P> {
        &self.levels[level][rank >> (LOG_DEGREE * (level + 1))]
    }
}

impl<P: Platform> Barrier<P> for CombiningBarrier<P> {
    const NAME: &'static str = "combining";
    type Member = CombiningMember;

    fn new(placement: &Placement) -> Self {
        let degree: usize = 1 << LOG_DEGREE;
        let (members, mut levels) = (placement.members(), Vec::new());
        let mut below = members;
        while levels.is_empty() || below > 1 {
            let nodes = below.div_ceil(degree);
            let node = |at: usize| Node::new((below - degree * at).min(degree));
            levels.push((0..nodes).map(node).collect());
            below = nodes;
        }
        Self {
            levels,
            waiting: Waiting::new(placement),
            members,
        }
    }

    fn member(&self, rank: usize) -> CombiningMember {
        assert!(rank < self.members, "rank {rank} of {}", self.members);
        // The former member always arrived at its first node of several members.
        let mut nodes = (0..self.levels.len()).map(|level| self.node(level, rank));
        let episode = nodes.find_map(Node::released).unwrap_or(0);
        CombiningMember { rank, episode }
    }

    #[inline]
    fn wait(&self, CombiningMember { rank, episode }: &mut CombiningMember) {
        *episode = episode.wrapping_add(1);
        let mut level = 0;
        while level < self.levels.len() && self.node(level, *rank).is_last() {
            level += 1;
        }
        if level < self.levels.len() {
            self.node(level, *rank).wait(&self.waiting, *episode);
        }
        for level in (0..level).rev() {
            self.node(level, *rank).release(&self.waiting, *episode);
        }
    }
}
