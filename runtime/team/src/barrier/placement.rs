use std::time::Duration;

/// The members that meet at a barrier, and where they run.
///
/// ```
/// use manycore_team::barrier::Placement;
///
/// // 8 ranks on 2 core groups of 4 cores.
/// let placement = Placement::grouped(vec![0, 0, 0, 0, 1, 1, 1, 1]);
/// assert_eq!((placement.members(), placement.groups()), (8, 2));
/// assert!(!placement.is_oversubscribed());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The core group of each rank (number of a member).
    group: Vec<usize>,
    /// The number of cores that the ranks have to themselves.
    cores: usize,
    patience: Duration,
}

impl Placement {
    /// The default [patience](Self::patience): several times the wake-up of a thread, which takes
    /// 30 to 60 us on a virtual machine. A member that sleeps too early pays for a wake-up. A
    /// member that sleeps too late has spun in vain.
    pub const PATIENCE: Duration = Duration::from_micros(200);

    /// Makes a placement of `members` ranks in one core group. Each rank has a core of its own.
    ///
    /// # Panics
    ///
    /// Panics if `members` is 0.
    #[track_caller]
    pub fn flat(members: usize) -> Self {
        Self::grouped(vec![0; members])
    }

    /// Makes a placement of one rank for each entry of `group`. The entry is the rank's core group.
    /// Groups are numbered from 0 without gaps. Each rank has a core of its own.
    ///
    /// # Panics
    ///
    /// Panics if `group` is empty or has a gap.
    #[track_caller]
    pub fn grouped(group: Vec<usize>) -> Self {
        assert!(!group.is_empty(), "a barrier needs a member");
        let groups = 1 + group.iter().copied().max().unwrap_or(0);
        let missing = (0..groups).find(|number| !group.contains(number));
        assert!(missing.is_none(), "no rank is in core group {missing:?}");
        let cores = group.len();
        Self {
            group,
            cores,
            patience: Self::PATIENCE,
        }
    }

    /// The same ranks on `cores` cores.
    #[must_use]
    pub fn on_cores(self, cores: usize) -> Self {
        Self { cores, ..self }
    }

    /// The same ranks, with another [patience](Self::patience). The default is 200 us.
    ///
    /// ```
    /// use manycore_team::barrier::Placement;
    /// use std::time::Duration;
    ///
    /// let placement = Placement::flat(4).with_patience(Duration::from_millis(1));
    /// assert_eq!(placement.patience(), Duration::from_millis(1));
    /// ```
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// How long a rank waits awake before it sleeps.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// The number of ranks.
    pub fn members(&self) -> usize {
        self.group.len()
    }

    /// The number of core groups that the ranks are in.
    pub fn groups(&self) -> usize {
        1 + self.group.iter().copied().max().unwrap_or(0)
    }

    /// The core group of the rank.
    ///
    /// # Panics
    ///
    /// Panics if there is no such rank.
    pub fn group(&self, rank: usize) -> usize {
        self.group[rank]
    }

    /// Whether ranks share cores. If they do, a waiting member must let other members run.
    pub fn is_oversubscribed(&self) -> bool {
        self.cores < self.group.len()
    }
}
