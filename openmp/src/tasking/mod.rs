//! Makes tasks, runs them, and waits for them: in a `taskwait`, in a group or at a barrier.
//!
//! A thread in a `taskwait` runs only descendants of its task: OpenMP lets a thread with a suspended tied task begin
//! only descendants of that task. The *mark* of a task is the end of its thread's queue when the task began. All tasks
//! above the mark in that queue are descendants (`wait`).

mod event;
mod group;
mod make;
mod meet;
pub(crate) mod reduction;
mod run;
mod wait;

pub(crate) use event::fulfil;
pub(crate) use group::{begin_group, end_group};
pub(crate) use make::make;
#[cfg(target_arch = "x86_64")]
pub(crate) use make::{begin_here, end_here};
pub(crate) use meet::{arrive, end_tasks, meet};
pub(crate) use run::run_any;
pub(crate) use wait::{wait, wait_for_dependences};
