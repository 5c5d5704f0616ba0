//! What a core does with a cycle.

use std::fmt;
use std::ops::{Index, IndexMut};

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::Cycles;

/// What a core does with a cycle.
///
/// An access is charged to the nearest place that had the line: the caches on
/// the way are part of it. The list is issue 3's; what the kernel does, except
/// futexes, is all the scheduler's and counts as [`Switch`](Self::Switch).
///
/// ```
/// use manycore_chip::Activity;
///
/// assert_eq!(Activity::ALL.len(), 12);
/// assert_eq!(Activity::Remote.to_string(), "remote");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Activity {
    /// Executes instructions that do not touch shared memory.
    Compute,
    /// An access that its own L1 serves.
    L1,
    /// An access that its own L2 serves.
    L2,
    /// An access served within the core group: by the last-level cache or by a
    /// neighbour's private cache.
    Group,
    /// An access served by another core group's caches, or one that only waits
    /// for copies there to go.
    Remote,
    /// An access that main memory serves.
    Memory,
    /// Executes an atomic operation once it holds the line.
    Atomic,
    /// Looks at a word until it changes.
    Spin,
    /// In the kernel to wait for or to wake a waiter on a futex.
    Futex,
    /// In the kernel's scheduler: context switches, migrations, ticks, balancing,
    /// yields, and the start and end of threads.
    Switch,
    /// Has no thread to run.
    Idle,
    /// Sends a message of the broadcast network or waits for one.
    Message,
}

impl Activity {
    /// All, in the order of reports.
    pub const ALL: [Self; 12] = [
        Self::Compute,
        Self::L1,
        Self::L2,
        Self::Group,
        Self::Remote,
        Self::Memory,
        Self::Atomic,
        Self::Spin,
        Self::Futex,
        Self::Switch,
        Self::Idle,
        Self::Message,
    ];

    /// The word for it in reports: one, in small letters.
    pub fn label(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::L1 => "l1",
            Self::L2 => "l2",
            Self::Group => "group",
            Self::Remote => "remote",
            Self::Memory => "memory",
            Self::Atomic => "atomic",
            Self::Spin => "spin",
            Self::Futex => "futex",
            Self::Switch => "switch",
            Self::Idle => "idle",
            Self::Message => "message",
        }
    }
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.label())
    }
}

/// Cycles by activity. Serialises as a map from label to cycles.
///
/// ```
/// use manycore_chip::{Activity, Breakdown};
///
/// let mut core = Breakdown::default();
/// core[Activity::Compute] += 100;
/// core[Activity::L1] += 3;
/// assert_eq!(core.sum(), 103);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breakdown([Cycles; Activity::ALL.len()]);

impl Breakdown {
    /// Cycles of all activities.
    pub fn sum(&self) -> Cycles {
        self.0.iter().sum()
    }

    /// Activities and their cycles, in the order of [`Activity::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Activity, Cycles)> {
        Activity::ALL.into_iter().zip(self.0)
    }

    /// What was added since an earlier look at the same cycles: all activities together take as
    /// long as between the looks.
    ///
    /// A look is in the midst of what cores are charged for. What was an activity's at the earlier
    /// one and is another's now is taken off what was added, computation first.
    ///
    /// ```
    /// use manycore_chip::{Activity, Breakdown};
    ///
    /// let mut core = Breakdown::default();
    /// core[Activity::Compute] += 100;
    /// let before = core;
    /// core[Activity::L1] += 3;
    /// assert_eq!(core.since(&before).sum(), 3);
    /// ```
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut rest = self.map(earlier, u64::saturating_sub);
        let mut excess = rest.sum() - self.sum().saturating_sub(earlier.sum());
        for cycles in &mut rest.0 {
            let part = excess.min(*cycles);
            *cycles -= part;
            excess -= part;
        }
        rest
    }

    /// `op` of each activity's cycles here and in `other`.
    pub(super) fn map(&self, other: &Self, op: fn(Cycles, Cycles) -> Cycles) -> Self {
        Self(std::array::from_fn(|at| op(self.0[at], other.0[at])))
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            *sum += more;
        }
    }
}

impl Index<Activity> for Breakdown {
    type Output = Cycles;

    #[inline]
    fn index(&self, activity: Activity) -> &Cycles {
        &self.0[activity as usize]
    }
}

impl IndexMut<Activity> for Breakdown {
    #[inline]
    fn index_mut(&mut self, activity: Activity) -> &mut Cycles {
        &mut self.0[activity as usize]
    }
}

impl Serialize for Breakdown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (activity, cycles) in self.iter() {
            map.serialize_entry(activity.label(), &cycles)?;
        }
        map.end()
    }
}
