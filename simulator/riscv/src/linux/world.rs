//! The machine as the kernel uses it. [`Machine`] is the part of the machine that harts use.

use super::task::{Task, Wake};
use crate::hart::Machine;
use crate::region::Mark;
use manycore_chip::config::Topology;

/// A machine that runs the kernel's tasks.
pub(crate) trait World: Machine {
    /// Begins a system call.
    fn enter(&mut self, call: Entry);

    /// Whether the task must suspend before the kernel does something that other tasks notice.
    fn must_wait(&mut self) -> bool;

    /// The busy time of all cores together, in nanoseconds.
    fn busy_nanoseconds(&self) -> u64;

    /// The time that the running task has had a core, in nanoseconds.
    fn own_nanoseconds(&self) -> u64;

    /// The first cycle at which `nanoseconds` have passed since the start.
    fn cycles_at(&self, nanoseconds: u64) -> u64;

    /// Puts the task to sleep on a futex, for at most `nanoseconds`. The task must suspend.
    fn futex_wait(&mut self, physical: u64, nanoseconds: Option<u64>);

    /// Why the task's latest sleep ended.
    fn woken(&mut self) -> Wake;

    /// Wakes up to `count` sleepers of a futex. Returns their number.
    fn futex_wake(&mut self, physical: u64, count: u32) -> u64;

    /// Starts a task that may run on these cores, or on all cores if the list is empty. Returns the task's handle.
    fn spawn(&mut self, task: Task, cores: &[usize]) -> u32;

    /// Ends another task's sleep, or its wait in a spin loop.
    fn disturb(&mut self, handle: u32);

    /// Executes a fence on this core, and on all other cores that run these tasks.
    fn fence(&mut self, handles: &[u32]);

    /// Waits for another task to end. Returns `true` if the running task must suspend.
    fn join(&mut self, handle: u32) -> bool;

    /// Lets other tasks run. The running task must suspend.
    fn yield_now(&mut self);

    /// Sets the cores that a task may run on. Returns `false` if a core does not exist.
    fn set_affinity(&mut self, handle: u32, cores: &[usize]) -> bool;

    /// The core that runs the task.
    fn core(&self) -> u32;

    fn topology(&self) -> &Topology;

    fn cores(&self) -> u32 {
        self.topology().cores()
    }

    /// Clock frequency in MHz.
    fn megahertz(&self) -> f64;

    /// Whether the task must suspend before an instruction that begins simulated time, because another machine
    /// continues the program from there.
    fn hands_over(&mut self) -> bool;

    /// Sets the program's mark of a region of interest.
    fn mark(&mut self, mark: Mark);

    /// Executes an instruction of ATAC's network.
    fn network(&mut self, function: u32, a: u64, b: u64) -> Delivered;
}

/// The result of an instruction of ATAC's network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivered {
    Value(u64),
    /// The task suspends, and executes the instruction again.
    Wait,
    /// There is no such function, or no network.
    Nothing,
}

/// The kind of a system call's entry into the kernel. Each kind has its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Plain,
    Wait,
    Spawn,
}
