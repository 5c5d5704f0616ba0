//! Which CPUs the threads of a pool run on.

use super::{Topology, cpulist};
use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// Which CPUs the threads of a pool run on.
///
/// As text this is `none`, `compact`, `spread`, or a list such as `0,2,4-7`.
///
/// ```
/// use manycore_cores::topology::Affinity;
///
/// let affinity: Affinity = "0,2,4-7".parse().unwrap();
/// assert_eq!(affinity, Affinity::List(vec![0, 2, 4, 5, 6, 7]));
/// assert_eq!(affinity.to_string(), "0,2,4-7");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Affinity {
    /// The operating system chooses the CPUs.
    #[default]
    None,
    /// Each thread gets one CPU, in the [`compact_order`](Topology::compact_order).
    Compact,
    /// Each thread gets one CPU, in the [`spread_order`](Topology::spread_order).
    Spread,
    /// Each thread gets one CPU, in the order of this list.
    List(Vec<usize>),
}

/// The error for a text that is not an [`Affinity`].
///
/// ```
/// use manycore_cores::topology::Affinity;
///
/// let error = "7-4".parse::<Affinity>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "affinity `7-4`: the range `7-4` runs backwards; \
///      expected none, compact, spread or CPU numbers such as 0,2,4-7",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseAffinityError {
    text: String,
    cause: cpulist::CpuListError,
}

impl fmt::Display for ParseAffinityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, cause) = (&self.text, &self.cause);
        write!(
            f,
            "affinity `{text}`: {cause}; expected none, compact, spread or CPU numbers such as \
             0,2,4-7"
        )
    }
}

impl Error for ParseAffinityError {}

/// The error for an [`Affinity`] that names CPUs which this process cannot use.
///
/// ```
/// use manycore_cores::topology::{Affinity, AffinityError, Topology};
///
/// let nowhere = Affinity::List(vec![60_000]);
/// let error = nowhere.assign(&Topology::detect(), 2).unwrap_err();
/// assert!(matches!(error, AffinityError::Offline { cpu: 60_000, .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AffinityError {
    /// The list is empty.
    Empty {
        /// The CPUs that could be listed.
        usable: String,
    },
    /// The machine does not have this CPU, or the CPU is offline.
    Offline {
        /// The CPU.
        cpu: usize,
        /// The CPUs that could be listed.
        usable: String,
    },
    /// This process may not run on this CPU.
    NotAllowed {
        /// The CPU.
        cpu: usize,
        /// The CPUs that could be listed.
        usable: String,
    },
}

impl fmt::Display for AffinityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("affinity: ")?;
        let usable = match self {
            Self::Empty { usable } => {
                f.write_str("the list of CPUs is empty")?;
                usable
            }
            Self::Offline { cpu, usable } => {
                write!(f, "CPU {cpu} is not online")?;
                usable
            }
            Self::NotAllowed { cpu, usable } => {
                write!(
                    f,
                    "CPU {cpu} is outside this process's affinity mask or cpuset"
                )?;
                usable
            }
        };
        write!(f, "; usable are {usable}")
    }
}

impl Error for AffinityError {}

impl Affinity {
    /// Returns the set of CPUs of each thread of a pool of `threads` threads, the calling thread first. A thread with
    /// an empty set is not bound.
    ///
    /// If there are more threads than CPUs, the CPUs are used again from the first one on: on 2 CPUs, 4 threads run on
    /// 0, 1, 0, 1.
    ///
    /// # Errors
    ///
    /// An error if a list is empty, or names a CPU that is not online or that this process may not use, even if no
    /// thread would get that CPU.
    ///
    /// # Panics
    ///
    /// If the memory does not suffice for a set for each thread.
    ///
    /// ```
    /// use manycore_cores::topology::{Affinity, Topology};
    ///
    /// let machine = Topology::detect();
    /// assert_eq!(Affinity::None.assign(&machine, 2), Ok(vec![vec![], vec![]]));
    /// let pinned = Affinity::Compact.assign(&machine, 2).unwrap();
    /// assert!(pinned.iter().all(|cpus| cpus.len() == 1));
    /// ```
    pub fn assign(
        &self,
        topology: &Topology,
        threads: usize,
    ) -> Result<Vec<Vec<usize>>, AffinityError> {
        let order = match self {
            Self::None => return Ok(vec![Vec::new(); threads]),
            Self::Compact => topology.compact_order(),
            Self::Spread => topology.spread_order(),
            Self::List(cpus) => {
                check(cpus, topology)?;
                cpus.clone()
            }
        };
        Ok(order
            .iter()
            .cycle()
            .take(threads)
            .map(|&cpu| vec![cpu])
            .collect())
    }
}

fn check(cpus: &[usize], topology: &Topology) -> Result<(), AffinityError> {
    let usable = || {
        let ids: Vec<usize> = topology.usable().iter().map(|cpu| cpu.id).collect();
        cpulist::format(&ids)
    };
    if cpus.is_empty() {
        return Err(AffinityError::Empty { usable: usable() });
    }
    for &cpu in cpus {
        if topology.cpu(cpu).is_none() {
            let usable = usable();
            return Err(AffinityError::Offline { cpu, usable });
        }
        if !topology.is_usable(cpu) {
            let usable = usable();
            return Err(AffinityError::NotAllowed { cpu, usable });
        }
    }
    Ok(())
}

impl fmt::Display for Affinity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.pad("none"),
            Self::Compact => f.pad("compact"),
            Self::Spread => f.pad("spread"),
            Self::List(cpus) => f.pad(&cpulist::format(cpus)),
        }
    }
}

impl FromStr for Affinity {
    type Err = ParseAffinityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim() {
            "none" => Ok(Self::None),
            "compact" => Ok(Self::Compact),
            "spread" => Ok(Self::Spread),
            list => cpulist::parse(list)
                .map(Self::List)
                .map_err(|cause| ParseAffinityError {
                    text: text.to_owned(),
                    cause,
                }),
        }
    }
}
