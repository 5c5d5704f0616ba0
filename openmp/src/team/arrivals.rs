//! Members that come to a place, counted first in groups, so that no word is changed by all.
//!
//! A team of more than [`SMALL`] members is divided into groups of members with neighbouring numbers. A member
//! adds 1 to its group's word. The last member of the group makes the word 0 again and adds the whole
//! group to the word of the team, which is the caller's. So of n members about the square root of n change
//! any one word. A small team has no groups: each member adds itself to the word of the team.
//!
//! The word of a group is 0 again before the group is added to the team's word. Members come to the place
//! again only after they have seen, by an acquire, what the caller has published after all
//! groups were added. So the next count begins at 0.

use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};

/// The most members that have no groups, and the least members of a group.
pub(super) const SMALL: u32 = 8;

/// See the module.
pub(crate) struct Arrivals<P: Platform> {
    members: u32,
    /// Members of a group; the last group may have fewer.
    each: u32,
    groups: Box<[CachePadded<P::AtomicU32>]>,
}

impl<P: Platform> Arrivals<P> {
    /// For members numbered from 0.
    pub(crate) fn new(members: u32) -> Self {
        let each = members.isqrt().max(SMALL);
        Self::in_groups(members, if members <= SMALL { members } else { each })
    }

    /// The same in groups of `each`; no groups if one group would have all.
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

    /// Member `id` comes. Returns the members that the caller is to add to the word of the team, by a
    /// read-modify-write that acquires and releases: none unless the member is the last of its group.
    #[inline]
    pub(crate) fn come(&self, id: u32) -> u32 {
        if !self.has_groups() {
            return 1;
        }
        let group = id / self.each;
        let word = &self.groups[group as usize];
        let size = self.each.min(self.members - group * self.each);
        // Release: what the member did. Acquire: the last member publishes what all of the group did.
        if word.fetch_add(1, Ordering::AcqRel) + 1 != size {
            return 0;
        }
        // Relaxed: published with the word of the team.
        word.store(0, Ordering::Relaxed);
        size
    }

    /// Forgets the members that have come. No member may come at the same time.
    pub(crate) fn reset(&self) {
        for word in &self.groups {
            // Relaxed: published with the next region.
            word.store(0, Ordering::Relaxed);
        }
    }
}
