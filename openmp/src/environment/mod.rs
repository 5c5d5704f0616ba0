//! The user's environment variables, and the number of cores.

pub(crate) mod cores;
mod display;
pub(crate) mod effect;
pub(crate) mod icv;
pub(crate) mod idle;
mod parse;
pub(crate) mod places;

pub(crate) use display::{display, show};

use crate::system::limits::limit;
use icv::{Bind, Icv, Kind, MOST_LEVELS, Schedule};
use parse::Variable;
use places::Places;
use std::sync::OnceLock;
use std::time::Duration;

/// The settings, which are fixed when the library is loaded.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The control variables of the first task.
    pub(crate) icv: Icv,
    /// `OMP_NUM_THREADS` for each level of nesting. Empty if the variable is not set.
    pub(crate) threads: Vec<u32>,
    /// `OMP_PROC_BIND` for each level of nesting.
    pub(crate) binds: Vec<Bind>,
    pub(crate) places: Places,
    pub(crate) cancellation: bool,
    pub(crate) max_task_priority: i32,
    /// How long waiting threads spin before they sleep. `None` if this depends on the number of cores.
    pub(crate) patience: Option<Duration>,
    pub(crate) active_wait: Option<bool>,
    pub(crate) stack_size: Option<usize>,
    pub(crate) num_teams: u32,
    pub(crate) teams_thread_limit: u32,
    pub(crate) display_affinity: bool,
    pub(crate) affinity_format: String,
    pub(crate) target_mandatory: bool,
    /// `MANYCORE_OMP_CARRY`: whether teams of more threads than cores are carried (`carry`).
    pub(crate) carries: bool,
    /// `MANYCORE_OMP_CUTS`: whether a signal may make carried threads leave a core between two barriers.
    pub(crate) cuts: bool,
    /// `MANYCORE_OMP_HEED`: whether the library leaves cores to other processes that keep them busy.
    pub(crate) heeds: bool,
    /// Whether `OMP_DISPLAY_ENV` asks for output. Later changes are then printed as well.
    pub(crate) displays: bool,
}

/// Whether the user's variables bind threads to places.
#[allow(dead_code, reason = "only `carry` calls this")]
pub(crate) fn binds() -> bool {
    settings().icv.bind != Bind::False
}

/// Returns the settings. The first call, when the library is loaded, reads them.
pub(crate) fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(read)
}

/// The size in bytes of the stacks of a team's threads: the size that the user has set, or else the limit of the
/// process, which other threads get too.
pub(crate) fn stack_size() -> Option<usize> {
    (settings().stack_size).or_else(|| limit(libc::RLIMIT_STACK).map(|bytes| bytes as usize))
}

fn read() -> Settings {
    places::at_first();
    let threads = Variable::new("OMP_NUM_THREADS")
        .positives()
        .unwrap_or_default();
    let (binds, bound) = parse::binds();
    // If threads are not to be bound, the variables for places are not read, so that their values cause no complaint.
    let places = (binds.first() != Some(&Bind::False))
        .then(parse::places)
        .flatten();
    let nested = Variable::new("OMP_NESTED").truth();
    let lists = threads.len() > 1 || binds.len() > 1;
    let max_active = Variable::new("OMP_MAX_ACTIVE_LEVELS")
        .number(0, i64::from(i32::MAX))
        .map_or_else(
            || match nested {
                Some(true) => MOST_LEVELS,
                Some(false) => 1,
                None if lists => MOST_LEVELS,
                None => 1,
            },
            |levels| (levels as u32).min(MOST_LEVELS),
        );
    let active_wait = parse::wait_policy();
    let spins = parse::spin_count();
    let thread_limit = Variable::new("OMP_THREAD_LIMIT").number(1, i64::from(i32::MAX));
    let teams_limit = Variable::new("OMP_TEAMS_THREAD_LIMIT").number(1, i64::from(i32::MAX));
    // If only places are set, threads are bound.
    let bind = binds
        .first()
        .copied()
        .unwrap_or(if places.is_some() && !bound {
            Bind::True
        } else {
            Bind::False
        });
    let icv = Icv {
        threads: threads.first().copied(),
        dynamic: Variable::new("OMP_DYNAMIC").truth().unwrap_or(false),
        max_active,
        schedule: parse::schedule().unwrap_or(Schedule {
            kind: Kind::Dynamic,
            monotonic: false,
            chunk: 1,
        }),
        thread_limit: thread_limit.map_or(u32::MAX, |limit| limit as u32),
        default_device: Variable::new("OMP_DEFAULT_DEVICE")
            .number(0, i64::from(i32::MAX))
            .unwrap_or(0) as i32,
        bind,
        allocator: parse::allocator().unwrap_or(1),
    };
    Settings {
        icv,
        threads,
        binds,
        places: places.unwrap_or_default(),
        cancellation: Variable::new("OMP_CANCELLATION").truth().unwrap_or(false),
        max_task_priority: Variable::new("OMP_MAX_TASK_PRIORITY")
            .number(0, i64::from(i32::MAX))
            .unwrap_or(0) as i32,
        patience: spins.or(match active_wait {
            Some(true) => Some(Duration::from_secs(10)),
            Some(false) => Some(Duration::ZERO),
            None => None,
        }),
        active_wait,
        stack_size: parse::stack_size(),
        num_teams: Variable::new("OMP_NUM_TEAMS")
            .number(1, i64::from(i32::MAX))
            .unwrap_or(0) as u32,
        teams_thread_limit: teams_limit.unwrap_or(0) as u32,
        display_affinity: Variable::new("OMP_DISPLAY_AFFINITY")
            .truth()
            .unwrap_or(false),
        affinity_format: Variable::new("OMP_AFFINITY_FORMAT")
            .raw()
            .unwrap_or_else(|| "level %L thread %i affinity %A".into()),
        target_mandatory: parse::target_mandatory(),
        carries: Variable::new("MANYCORE_OMP_CARRY").truth().unwrap_or(true),
        cuts: Variable::new("MANYCORE_OMP_CUTS").truth().unwrap_or(true),
        heeds: Variable::new("MANYCORE_OMP_HEED").truth().unwrap_or(true),
        displays: matches!(
            Variable::new("OMP_DISPLAY_ENV").text().as_deref(),
            Some("true" | "1" | "verbose")
        ),
    }
}
