//! Termination detection: which workers are at work, and when none is.

use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};

/// Members, or nodes, that share a node's word.
const FAN: usize = if cfg!(test) { 2 } else { 8 };

/// The group is counted in the node above.
const COUNTED: u32 = 1 << 31;

/// A tree of counters that says when the last of its members has left.
///
/// A member that leaves counts itself out of its node; the last of a node counts the
/// node out of the one above. To join goes the same way. So with all 64 leaving at
/// once a word is changed 8 times, not 64.
///
/// # Why it is 0 at the top only when nobody is in
///
/// A node is counted above once for each time that it went from 0 to 1, and counted out once for
/// each time that it went from 1 to 0. The first member to join counts it, and then sets COUNTED;
/// others that join wait for that. So a member whose `join` has returned is in a node that is
/// counted above. Only a member that leaves it empty counts it out, and it is not empty while this
/// member is in; and so on to the top.
pub(super) struct TerminationTree<P: Platform> {
    nodes: Box<[Node<P>]>,
}

struct Node<P: Platform> {
    /// Members in, and COUNTED.
    word: CachePadded<P::AtomicU32>,
    above: Option<usize>,
}

impl<P: Platform> TerminationTree<P> {
    /// With all `members` in.
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

    /// Counts in a member that is out.
    pub(super) fn join(&self, member: usize) {
        self.arrive(member / FAN);
    }

    fn arrive(&self, at: usize) {
        let Node { word, above } = &self.nodes[at];
        // Acquire: a member that finds it COUNTED comes after the counting above. Release: this
        // member's next steps come after its joining, for every thread that finds it here or finds
        // it gone.
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

    /// Counts out a member that is in. Returns whether it was the last of all.
    ///
    /// The work before the leaves of all others happened before the last leave.
    pub(super) fn leave(&self, member: usize) -> bool {
        self.depart(member / FAN)
    }

    fn depart(&self, at: usize) -> bool {
        let Node { word, above } = &self.nodes[at];
        // AcqRel at each step, and only read-modify-writes: all that the others did
        // before they left is before what the last does.
        let before = word.fetch_sub(1, Ordering::AcqRel);
        if before != COUNTED + 1 {
            return false;
        }
        // It is empty, and COUNTED: a member that joins now must count it anew.
        match word.compare_exchange(COUNTED, 0, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => above.is_none_or(|above| self.depart(above)),
            Err(_) => false,
        }
    }
}
