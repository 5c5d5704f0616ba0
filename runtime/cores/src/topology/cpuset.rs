//! A set of CPU numbers.

use super::order::sort_by;

/// Distinct CPU numbers, in rising order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuSet(Vec<usize>);

impl CpuSet {
    pub(crate) fn contains(&self, cpu: usize) -> bool {
        self.0.binary_search(&cpu).is_ok()
    }

    pub(super) fn first(&self) -> Option<usize> {
        self.0.first().copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_subset(&self, other: &Self) -> bool {
        self.iter().all(|cpu| other.contains(cpu))
    }

    /// The CPUs that are in both.
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.0.retain(|&cpu| other.contains(cpu));
        both
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().copied()
    }
}

impl From<Vec<usize>> for CpuSet {
    fn from(mut cpus: Vec<usize>) -> Self {
        // The kernel writes them in order.
        if !cpus.is_sorted() {
            sort_by(&mut cpus, &|&cpu| [cpu, 0, 0, 0, 0]);
        }
        cpus.dedup();
        Self(cpus)
    }
}
