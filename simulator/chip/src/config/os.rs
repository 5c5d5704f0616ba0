//! The operating system.

use serde::{Deserialize, Serialize};

/// The operating system. All times are in cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Os {
    /// The period of the scheduler's clock interrupt.
    pub tick: u64,
    /// The time that a clock interrupt takes from the interrupted thread.
    pub tick_cost: u64,
    /// The period in which each runnable thread of a core runs once.
    pub latency: u64,
    /// The least time that a thread runs in such a period.
    pub min_granularity: u64,
    /// A woken thread preempts the running thread if the woken thread is behind by more than this time.
    pub wakeup_granularity: u64,
    /// The time of a switch from one thread to another on a core.
    pub switch: u64,
    /// The additional time if a thread runs on another core than before.
    pub migration: u64,
    /// The time into the kernel and back.
    pub syscall: u64,
    /// The time that a thread takes to interrupt one more core, with an inter-processor interrupt.
    pub ipi: u64,
    /// The time that such an interrupt takes from the interrupted thread. The interrupting thread waits until the last
    /// interrupted core is done.
    pub interrupt: u64,
    /// The time of a futex wait in the kernel before the thread sleeps.
    pub futex_wait: u64,
    /// The time of a futex wake in the kernel for each woken thread.
    pub futex_wake: u64,
    /// The time from the wake until an idle core begins to switch to the thread.
    pub wake_latency: u64,
    /// The additional time if that core has been idle for `deep_after`.
    pub deep_latency: u64,
    /// After this idle time, a core sleeps deeply.
    pub deep_after: u64,
    /// The time that the maker of a thread takes to make it.
    pub spawn: u64,
    /// An idle core waits this time, times the number of cores in its group, between two rounds of periodic load
    /// balancing (Linux: `sd->balance_interval`, 1 ms for each core).
    pub balance: u64,
    /// The factor by which a busy core waits longer between two rounds (Linux: `sd->busy_factor`, 16).
    pub balance_busy: u64,
    /// A core that has just become idle does not pull a thread that ran less than this time ago,
    /// because the thread's data are in its old core's caches (Linux:
    /// `sysctl_sched_migration_cost`, 0.5 ms).
    pub hot: u64,
    /// A timed sleep ends up to this much later than requested.
    pub timer_slack: u64,
    /// If true, a wake-up does not look for idle cores: the woken thread runs on its last core, or on the waker's core
    /// if that has less load. Linux does this on a virtual machine if the host takes away its halted cores
    /// (`available_idle_cpu`). Without a value, wake-ups look for idle cores.
    pub sticky_wakes: Option<bool>,
    /// The frequency governor. Without a value, all cores run at the clock's frequency.
    pub governor: Option<Governor>,
}

/// Sets each core's frequency to 1.25 times its load, as Linux's `schedutil` does. The load is a
/// mean over time that decays by half in `half_life` idle cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Governor {
    /// The lowest frequency, relative to the clock's frequency, which is the highest.
    pub slowest: f64,
    /// Cycles between two changes of the frequency.
    pub period: u64,
    /// Cycles of idleness that halve the load.
    pub half_life: u64,
}
