//! Counts the members of a team that arrive at a barrier or at the end of a region. Large teams count in groups first,
//! so that not all members change the same word.
//!
//! A team of more than [`SMALL`] members is divided into groups of members with neighbouring numbers. A member adds 1
//! to its group's word. The last member of the group sets this word to 0 and adds the size of the group to the word of
//! the team, which the caller owns. So about √n of n members change any one word. A small team has no groups: each
//! member adds 1 to the word of the team.
//!
//! The word of a group is 0 before the group is added to the team's word. The caller publishes the end of the count
//! after all groups were added. Members arrive for the next count only after an acquire that has seen this end. So the
//! next count begins at 0.

use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};

/// The largest team without groups, and the smallest size of a group.
pub(super) const SMALL: u32 = 8;

/// See the module.
pub(crate) struct Arrivals<P: Platform> {
    members: u32,
    /// The number of members of a group. The last group may have fewer.
    each: u32,
    groups: Box<[CachePadded<P::AtomicU32>]>,
}

impl<P: Platform> Arrivals<P> {
    /// Makes a counter for this number of members. Their ids begin at 0.
    pub(crate) fn new(members: u32) -> Self {
        let each = members.isqrt().max(SMALL);
        Self::in_groups(members, if members <= SMALL { members } else { each })
    }

    /// Like [`new`](Self::new), with groups of `each` members. If one group would have all members, there are no
    /// groups.
    pub(super) fn in_groups(members: u32, each: u32) -> Self {
        let groups = if members <= each {
            0
        } else {
            members.div_ceil(each)
        };
        let group = |_| CachePadded::new(P::AtomicU32::new(0));
        Self {
            members,
            each,
            groups: (0..groups).map(group).collect(),
        }
    }

    /// Whether members are counted in groups.
    pub(super) fn has_groups(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Member `id` arrives. Returns the number that the caller must add to the word of the team, by a read-modify-write
    /// that acquires and releases. The number is 0 if the member is not the last of its group.
    #[inline]
    pub(crate) fn come(&self, id: u32) -> u32 {
        if !self.has_groups() {
            return 1;
        }
        let group = id / self.each;
        let word = &self.groups[group as usize];
        let size = self.each.min(self.members - group * self.each);
        // Release publishes what the member did. Acquire: the last member then publishes what all members of the group
        // did.
        if word.fetch_add(1, Ordering::AcqRel) + 1 != size {
            return 0;
        }
        // Relaxed: the word of the team publishes this store.
        word.store(0, Ordering::Relaxed);
        size
    }

    /// Forgets all arrivals. No member may arrive at the same time.
    pub(crate) fn reset(&self) {
        for word in &self.groups {
            // Relaxed: the next region publishes this store.
            word.store(0, Ordering::Relaxed);
        }
    }
}
