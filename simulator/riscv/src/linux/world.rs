//! The machine as Linux uses it, beyond what harts use.

use super::task::{Task, Wake};
use crate::hart::Machine;
use crate::region::Mark;
use manycore_chip::config::Topology;

/// A machine under the kernel.
pub(crate) trait World: Machine {
    /// A system call begins.
    fn enter(&mut self, call: Entry);

    /// Whether the task must suspend before the kernel does what others notice.
    fn must_wait(&mut self) -> bool;

    /// Nanoseconds during which cores were busy.
    fn busy_nanoseconds(&self) -> u64;

    /// Nanoseconds for which the running task has had a core.
    fn own_nanoseconds(&self) -> u64;

    /// The first cycle of the clock at which `nanoseconds` since the start have gone by.
    fn cycles_at(&self, nanoseconds: u64) -> u64;

    /// Sleeps on a futex; the task suspends.
    fn futex_wait(&mut self, physical: u64, nanoseconds: Option<u64>);

    /// By what the latest sleep ended.
    fn woken(&mut self) -> Wake;

    /// Wakes up to `count` sleepers; how many.
    fn futex_wake(&mut self, physical: u64, count: u32) -> u64;

    /// Starts a task that may run on some cores, or on all if the set is empty; its handle.
    fn spawn(&mut self, task: Task, cores: &[usize]) -> u32;

    /// Ends another task's sleep, or its wait in a spin loop, if it is in one.
    fn disturb(&mut self, handle: u32);

    /// Waits for another task to end: suspend if `true`.
    fn join(&mut self, handle: u32) -> bool;

    /// Lets others run; the task suspends.
    fn yield_now(&mut self);

    /// Sets the cores on which a task may run; `false` for a core that is not there.
    fn set_affinity(&mut self, handle: u32, cores: &[usize]) -> bool;

    /// The core that runs the task.
    fn core(&self) -> u32;

    /// How the machine's cores belong together.
    fn topology(&self) -> &Topology;

    /// Cores of the machine.
    fn cores(&self) -> u32 {
        self.topology().cores()
    }

    /// Clock frequency in MHz.
    fn megahertz(&self) -> f64;

    /// Whether the task must suspend before an instruction that begins simulated time:
    /// another machine goes on with the program.
    fn hands_over(&mut self) -> bool;

    /// The program marks a region of interest.
    fn mark(&mut self, mark: Mark);

    /// Carries out an instruction of ATAC's network.
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

/// By what a system call enters the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Plain,
    Wait,
    Spawn,
}
