//! Making tasks, running them, and waiting for them: in a `taskwait`, in a group or at a barrier.
//!
//! A thread in a `taskwait` runs descendants of its task only: if a thread has put a tied task
//! aside, it may begin only that task's descendants. The tasks in its own queue above the *mark*,
//! the queue's end when its task began, are descendants (`wait`).

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
pub(crate) use meet::{arrive, meet};
pub(crate) use run::run_any;
pub(crate) use wait::{wait, wait_for_dependences};
