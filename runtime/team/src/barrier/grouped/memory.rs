use super::groups::Groups;
use crate::barrier::exchange::Exchange;
use crate::barrier::node::Node;
use crate::barrier::{Placement, Waiting};
use manycore_platform::Platform;

/// Through memory: a node a group, an exchange between the groups.
pub(super) struct GroupedMemory<P: Platform> {
    nodes: Box<[Node<P>]>,
    exchange: Exchange<P>,
    waiting: Waiting<P>,
}

impl<P: Platform> GroupedMemory<P> {
    pub(super) fn new(placement: &Placement, groups: &Groups) -> Self {
        let sizes = groups.sizes();
        Self {
            nodes: sizes.iter().map(|&size| Node::new(size)).collect(),
            exchange: Exchange::new(sizes.len()),
            waiting: Waiting::new(placement),
        }
    }

    /// The last episode that a member of the group has been in, who is in none.
    pub(super) fn episode(&self, group: usize) -> u32 {
        let of_several = self.nodes[group].released();
        of_several.unwrap_or_else(|| self.exchange.told(group))
    }

    #[inline]
    pub(super) fn wait(&self, group: usize, episode: u32) {
        let node = &self.nodes[group];
        if node.is_last() {
            // Whoever it is this time: what the exchange knows of a group is in its
            // words, and the node hands them on from one to the next.
            self.exchange.meet(&self.waiting, group, episode);
            node.release(&self.waiting, episode);
        } else {
            node.wait(&self.waiting, episode);
        }
    }
}
