use super::placement::Placement;

/// The largest group that counts arrivals on one cache line. Up to this size one line costs less
/// than several: on the simulated Westmere-EX one line for ten cores is faster than two.
const ONE_LINE: usize = 16;
/// The largest part of a larger group. On the simulated Kunpeng 920, whose groups have 32 cores,
/// parts of 3 to 8 hardly differ.
const PART: usize = 8;

/// The ranks (members) in groups. The members of a group meet first.
pub(super) struct Groups {
    group: Vec<usize>,
    size: Vec<usize>,
}

impl Groups {
    /// Makes the placement's groups, and divides large ones. If all members are in one core group,
    /// each is a group of its own, so that they do not all write to one line.
    pub(super) fn new(placement: &Placement) -> Self {
        let members = placement.members();
        if placement.groups() == 1 {
            return Self::by(members, |rank| rank);
        }
        let whole = Self::by(members, |rank| placement.group(rank));
        let parts = |size: usize| match size {
            0..=ONE_LINE => 1,
            _ => size.div_ceil(PART),
        };
        // The number of each group's first part.
        let mut first = vec![0];
        for &size in &whole.size {
            first.push(first[first.len() - 1] + parts(size));
        }
        // The number of members of each group that are already placed.
        let mut met = vec![0; whole.size.len()];
        Self::by(members, |rank| {
            let group = whole.group[rank];
            let part = met[group] * parts(whole.size[group]) / whole.size[group];
            met[group] += 1;
            first[group] + part
        })
    }

    /// Makes the groups by `group`. It is called with each rank in order, and leaves no number out.
    fn by(members: usize, group: impl FnMut(usize) -> usize) -> Self {
        let group: Vec<_> = (0..members).map(group).collect();
        let groups = 1 + group.iter().copied().max().unwrap_or(0);
        let mut size = vec![0; groups];
        for &group in &group {
            size[group] += 1;
        }
        Self { group, size }
    }

    pub(super) fn members(&self) -> usize {
        self.group.len()
    }

    pub(super) fn group(&self, rank: usize) -> usize {
        self.group[rank]
    }

    pub(super) fn sizes(&self) -> &[usize] {
        &self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_follow_the_placement() {
        let groups = Groups::new(&Placement::grouped(vec![1, 0, 1, 2, 1]));
        assert_eq!(groups.size, [1, 3, 1]);
    }

    #[test]
    fn one_core_group_is_split_into_members_and_a_large_one_into_parts() {
        let sizes = |placement| Groups::new(&placement).size;
        assert_eq!(sizes(Placement::flat(1)), [1]);
        assert_eq!(sizes(Placement::flat(8)), [1; 8]);
        let dies = (0..64).map(|rank| rank / 32).collect();
        assert_eq!(sizes(Placement::grouped(dies)), [8; 8]);
        let uneven = [vec![0; 17], vec![1; 3]].concat();
        assert_eq!(sizes(Placement::grouped(uneven)), [6, 6, 5, 3]);
    }
}
