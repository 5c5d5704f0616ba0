use crate::barrier::Placement;

/// Which ranks meet first.
pub(super) struct Groups {
    group: Vec<usize>,
    /// Of each group; its first rank leads it.
    size: Vec<usize>,
    leader: Vec<usize>,
}

impl Groups {
    /// The placement's groups; or groups of about sqrt(N), if it has one or N.
    pub(super) fn of(placement: &Placement) -> Self {
        let members = placement.members();
        let group: Vec<_> = if (2..members).contains(&placement.groups()) {
            (0..members).map(|rank| placement.group(rank)).collect()
        } else {
            // As many groups as members in one, or one more.
            let size = members.isqrt();
            (0..members).map(|rank| rank / size).collect()
        };
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

    fn sizes(placement: &Placement) -> Vec<usize> {
        Groups::of(placement).size
    }

    #[test]
    fn the_placements_groups_or_the_square_root() {
        let given = Placement::grouped(vec![1, 0, 1, 2, 1]);
        assert_eq!(sizes(&given), [1, 3, 1]);
        let groups = Groups::of(&given);
        let leaders: Vec<_> = (0..5).filter(|&rank| groups.leads(rank)).collect();
        assert_eq!(leaders, [0, 1, 3]);
        assert_eq!(sizes(&Placement::flat(1)), [1]);
        assert_eq!(sizes(&Placement::flat(2)), [1, 1]);
        assert_eq!(sizes(&Placement::flat(8)), [2, 2, 2, 2]);
        assert_eq!(sizes(&Placement::flat(11)), [3, 3, 3, 2]);
        assert_eq!(sizes(&Placement::flat(1024)), [32; 32]);
        let alone = Placement::grouped((0..64).collect());
        assert_eq!(sizes(&alone), [8; 8]);
    }
}
