//! The operating system.

use serde::{Deserialize, Serialize};

/// The operating system: times in cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Os {
    /// The scheduler's clock interrupt.
    pub tick: u64,
    /// Cycles that the interrupt takes from the interrupted thread.
    pub tick_cost: u64,
    /// In this time every runnable thread of a core runs once.
    pub latency: u64,
    /// But none for less than this.
    pub min_granularity: u64,
    /// How far behind a woken thread must be to displace the running one.
    pub wakeup_granularity: u64,
    /// From one thread to another on a core.
    pub switch: u64,
    /// Added when a thread runs on another core than before.
    pub migration: u64,
    /// Into the kernel and back.
    pub syscall: u64,
    /// Cycles that the interrupting thread pays for each further core.
    pub ipi: u64,
    /// Cycles that such an interrupt takes from the interrupted thread, and from the interrupting
    /// thread, which waits for the last of them.
    pub interrupt: u64,
    /// Cycles of a futex wait in the kernel before the thread sleeps.
    pub futex_wait: u64,
    /// Cycles of a futex wake in the kernel for each thread that it wakes.
    pub futex_wake: u64,
    /// From the wake to the moment an idle core picks the thread up.
    pub wake_latency: u64,
    /// Added when that core has been idle for `deep_after`.
    pub deep_latency: u64,
    /// Idle time after which a core sleeps deeply.
    pub deep_after: u64,
    /// Making a thread, for the maker.
    pub spawn: u64,
    /// Between two rounds of periodic load balancing of an idle core, for each
    /// core of its group (Linux: `sd->balance_interval`, 1 ms a core).
    pub balance: u64,
    /// How many times longer a busy core waits (Linux: `sd->busy_factor`, 16).
    pub balance_busy: u64,
    /// A thread that ran so recently has its data in the core's caches, and is
    /// not pulled by a core that has just become idle (Linux:
    /// `sysctl_sched_migration_cost`, 0.5 ms).
    pub hot: u64,
    /// Spread of timer interrupts: a timed sleep ends up to this late.
    pub timer_slack: u64,
    /// A wake-up sees no idle core: the woken thread runs where it last ran, or on the waker's core if that has
    /// less to do. So it is under Linux on a virtual machine whose host takes the halted cores
    /// (`available_idle_cpu`). Without a value it sees them.
    pub sticky_wakes: Option<bool>,
    /// Without one all cores run at the clock's frequency.
    pub governor: Option<Governor>,
}

/// Sets each core's frequency by how busy the core was, as Linux's `schedutil`
/// does: to 1.25 times the load, a mean that halves when the core idles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Governor {
    /// The lowest frequency, relative to the clock's, which is the highest.
    pub slowest: f64,
    /// Cycles between two changes.
    pub period: u64,
    /// Cycles of idleness that halve the load.
    pub half_life: u64,
}
