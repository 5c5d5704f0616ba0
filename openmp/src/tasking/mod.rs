//! Making tasks, running them, and waiting for them: in a `taskwait`, in a group or at a barrier.
//!
//! A thread in a `taskwait` runs descendants of its task only: a tied task may not be begun by a
//! thread that has put aside another that it does not descend from. What lies in its own queue
//! above the *mark*, the queue's end when its task began, are such (`wait`).

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
