//! The activities of cores.

use std::fmt;
use std::ops::{Index, IndexMut};

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::Cycles;

/// An activity of a core. Each cycle of a core belongs to one activity.
///
/// The cycles of an access belong to the nearest place that had the line, and include the look-ups
/// on the way. All work of the kernel except futexes counts as [`Switch`](Self::Switch).
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
    /// Waits for the core's own L1.
    L1,
    /// Waits for the core's own L2.
    L2,
    /// Waits for an access served within the core group: by the last-level cache or by a
    /// neighbour's private cache.
    Group,
    /// Waits for another core group's caches to send the line or to drop their copies.
    Remote,
    /// Waits for main memory.
    Memory,
    /// Executes an atomic operation once the core holds the line.
    Atomic,
    /// Spins on a word until it changes.
    Spin,
    /// In the kernel, to wait on a futex or to wake waiters.
    Futex,
    /// In the kernel's scheduler: switches, migrations, ticks, balancing, yields, and the start and
    /// end of threads.
    Switch,
    /// Has no thread to run.
    Idle,
    /// Sends a message of the broadcast network or waits for one.
    Message,
}

impl Activity {
    /// All activities, in the order of reports.
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

    /// The activity's name in reports: one lower-case word.
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

/// Cycles by activity. The serialised form is a map from label to cycles.
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

    /// The cycles that were added since `earlier`, an earlier breakdown of the same core. They add up to the time
    /// between the two breakdowns.
    ///
    /// `earlier` may contain charges that were changed later. If an activity has fewer cycles now
    /// than in `earlier`, the difference is subtracted from the other activities, computation
    /// first.
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

    /// Applies `op` to each activity's cycles in `self` and `other`.
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
