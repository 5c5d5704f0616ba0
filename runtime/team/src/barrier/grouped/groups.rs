use crate::barrier::Placement;

/// Up to here arrivals are cheaper counted on one line near all of a core group than
/// told apart: on the simulated Westmere-EX one line for ten cores beats two.
const ONE_LINE: usize = 16;
/// Otherwise parts of at most so many: on the simulated Kunpeng 920, whose groups are of
/// 32 cores, 3 to 8 hardly differ.
const PART: usize = 8;

/// Which ranks meet first.
pub(super) struct Groups {
    group: Vec<usize>,
    size: Vec<usize>,
    /// The first rank of each.
    leader: Vec<usize>,
}

impl Groups {
    /// For a broadcast network: the placement's groups; or consecutive ranks in groups of
    /// about sqrt(N), if it has one or N.
    pub(super) fn on_network(placement: &Placement) -> Self {
        let members = placement.members();
        if (2..members).contains(&placement.groups()) {
            return Self::by(members, |rank| placement.group(rank));
        }
        // As many groups as members in one, or a few more.
        let size = members.isqrt();
        Self::by(members, |rank| rank / size)
    }

    /// For memory: the placement's groups, large ones in parts; or everybody alone, if
    /// all are in one, because what is told apart has no line that all must write.
    pub(super) fn in_memory(placement: &Placement) -> Self {
        let members = placement.members();
        if placement.groups() == 1 {
            return Self::by(members, |rank| rank);
        }
        let whole = Self::by(members, |rank| placement.group(rank));
        let parts = |size: usize| match size {
            0..=ONE_LINE => 1,
            _ => size.div_ceil(PART),
        };
        // The number of a group's first part.
        let mut first = vec![0];
        for &size in &whole.size {
            first.push(first[first.len() - 1] + parts(size));
        }
        // Members of it met so far.
        let mut met = vec![0; whole.size.len()];
        Self::by(members, |rank| {
            let group = whole.group[rank];
            let part = met[group] * parts(whole.size[group]) / whole.size[group];
            met[group] += 1;
            first[group] + part
        })
    }

    /// `group` is called with each rank in order; it leaves out no number.
    fn by(members: usize, group: impl FnMut(usize) -> usize) -> Self {
        let group: Vec<_> = (0..members).map(group).collect();
        let groups = 1 + group.iter().copied().max().unwrap_or(0);
        let (mut size, mut leader) = (vec![0; groups], vec![0; groups]);
        for (rank, &group) in group.iter().enumerate().rev() {
            size[group] += 1;
            leader[group] = rank;
        }
        Self {
            group,
            size,
            leader,
        }
    }

    pub(super) fn members(&self) -> usize {
        self.group.len()
    }

    pub(super) fn group(&self, rank: usize) -> usize {
        self.group[rank]
    }

    pub(super) fn leads(&self, rank: usize) -> bool {
        self.leader[self.group[rank]] == rank
    }

    /// How many are in each.
    pub(super) fn sizes(&self) -> &[usize] {
        &self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_placed() {
        let given = Placement::grouped(vec![1, 0, 1, 2, 1]);
        for groups in [Groups::on_network(&given), Groups::in_memory(&given)] {
            assert_eq!(groups.size, [1, 3, 1]);
            let leaders: Vec<_> = (0..5).filter(|&rank| groups.leads(rank)).collect();
            assert_eq!(leaders, [0, 1, 3]);
        }
    }

    #[test]
    fn by_the_square_root_on_a_network() {
        let sizes = |placement| Groups::on_network(&placement).size;
        assert_eq!(sizes(Placement::flat(1)), [1]);
        assert_eq!(sizes(Placement::flat(2)), [1, 1]);
        assert_eq!(sizes(Placement::flat(8)), [2, 2, 2, 2]);
        assert_eq!(sizes(Placement::flat(11)), [3, 3, 3, 2]);
        assert_eq!(sizes(Placement::flat(1024)), [32; 32]);
        assert_eq!(sizes(Placement::grouped((0..64).collect())), [8; 8]);
    }

    #[test]
    fn alone_or_in_parts_in_memory() {
        let sizes = |placement| Groups::in_memory(&placement).size;
        assert_eq!(sizes(Placement::flat(1)), [1]);
        assert_eq!(sizes(Placement::flat(8)), [1; 8]);
        let dies = (0..64).map(|rank| rank / 32).collect();
        assert_eq!(sizes(Placement::grouped(dies)), [8; 8]);
        let uneven = [vec![0; 17], vec![1; 3]].concat();
        assert_eq!(sizes(Placement::grouped(uneven)), [6, 6, 5, 3]);
    }
}
