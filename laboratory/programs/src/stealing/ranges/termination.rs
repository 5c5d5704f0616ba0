//! Termination detection: finds when no worker is at work.

use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};

/// The number of members, or of nodes below, that share a node's word.
const FAN: usize = if cfg!(test) { 2 } else { 8 };

/// The bit that says that the node is counted in the node above.
const COUNTED: u32 = 1 << 31;

/// A tree of counters that detects when the last member (a worker with tasks) leaves.
///
/// A member that leaves counts itself out of its node. The last member of a node counts the node out of the node above.
/// Joining works the same way. So if 64 members leave at once, a word changes 8 times, not 64 times.
///
/// # Why the top is 0 only when no member is in
///
/// A node is counted above once each time it goes from 0 to 1, and counted out once each time it goes from 1 to 0. The
/// first member to join counts the node in above, and then sets COUNTED. Other joining members wait for COUNTED. So a
/// member whose `join` has returned is in a node that is counted above. Only a member that leaves the node empty counts
/// the node out. While the joined member is in, the node is not empty. The same holds at each level up to the top.
pub(super) struct TerminationTree<P: Platform> {
    nodes: Box<[Node<P>]>,
}

struct Node<P: Platform> {
    /// The number of members in, and the bit COUNTED.
    word: CachePadded<P::AtomicU32>,
    above: Option<usize>,
}

impl<P: Platform> TerminationTree<P> {
    /// Makes a tree that has all `members` in.
    pub(super) fn new(members: usize) -> Self {
        let mut nodes = Vec::new();
        let (mut first, mut width) = (0, members);
        loop {
            let level = width.div_ceil(FAN);
            let next = first + level;
            nodes.extend((0..level).map(|at| Node {
                word: CachePadded::new(P::AtomicU32::new(
                    COUNTED | FAN.min(width - at * FAN) as u32,
                )),
                above: (level > 1).then_some(next + at / FAN),
            }));
            (first, width) = (next, level);
            if level == 1 {
                break;
            }
        }
        let nodes: Box<[_]> = nodes.into();
        for node in &nodes {
            P::name(&node.word, "pile: census");
        }
        Self { nodes }
    }

    /// Counts in a member, which must be out.
    pub(super) fn join(&self, member: usize) {
        self.arrive(member / FAN);
    }

    fn arrive(&self, at: usize) {
        let Node { word, above } = &self.nodes[at];
        // Acquire: a member that finds COUNTED comes after the counting above. Release: for every thread that finds
        // this member in or gone, the member's next steps come after its joining.
        let before = word.fetch_add(1, Ordering::AcqRel);
        if before == 0 {
            if let &Some(above) = above {
                self.arrive(above);
            }
            word.fetch_or(COUNTED, Ordering::Release);
        } else if before & COUNTED == 0 {
            while word.load(Ordering::Acquire) & COUNTED == 0 {
                P::relax();
            }
        }
    }

    /// Counts out a member, which must be in. Returns whether this member was the last.
    ///
    /// The work of all other members before they left happened before the last leave.
    pub(super) fn leave(&self, member: usize) -> bool {
        self.depart(member / FAN)
    }

    fn depart(&self, at: usize) -> bool {
        let Node { word, above } = &self.nodes[at];
        // Each step is AcqRel, and only read-modify-writes change words. So all work of the others before they left
        // happened before the last member's next steps.
        let before = word.fetch_sub(1, Ordering::AcqRel);
        if before != COUNTED + 1 {
            return false;
        }
        // The node is empty and COUNTED. A member that joins after this exchange must count the node in again.
        match word.compare_exchange(COUNTED, 0, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => above.is_none_or(|above| self.depart(above)),
            Err(_) => false,
        }
    }
}
