//! OpenMP's internal control variables of a task.

/// How iterations are given to threads, in libgomp's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Static = 1,
    Dynamic = 2,
    Guided = 3,
    Auto = 4,
}

/// The bit in the number of a schedule that asks for a monotonic schedule. All schedules of this library are monotonic.
pub(crate) const MONOTONIC: u32 = 0x8000_0000;

/// `run-sched-var`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    pub(crate) kind: Kind,
    pub(crate) monotonic: bool,
    /// 0 stands for the default of the kind.
    pub(crate) chunk: i32,
}

impl Kind {
    pub(crate) fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            1 => Self::Static,
            2 => Self::Dynamic,
            3 => Self::Guided,
            4 => Self::Auto,
            _ => return None,
        })
    }
}

/// The binding of threads, in the interface's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bind {
    False = 0,
    True = 1,
    Primary = 2,
    Close = 3,
    Spread = 4,
}

/// The largest number of nested active regions.
pub(crate) const MOST_LEVELS: u32 = 255;

/// Control variables that a task inherits from the task that makes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Icv {
    /// The number of threads of a region. `None` stands for the default ([`Icv::threads`]).
    pub(crate) threads: Option<u32>,
    pub(crate) dynamic: bool,
    pub(crate) max_active: u32,
    pub(crate) schedule: Schedule,
    pub(crate) thread_limit: u32,
    pub(crate) default_device: i32,
    pub(crate) bind: Bind,
    pub(crate) allocator: usize,
}
