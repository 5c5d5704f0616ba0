//! Linux, which has all facilities that the platform uses.

mod cpus;
mod fence;
mod futex;
mod process;
mod thread;

pub(super) use fence::{are_light, heavy, light};
pub(super) use futex::{wait, wake};
pub(crate) use process::{allowed_cpus, cpu_time};
pub(super) use thread::{
    begin_on, bind, core, is_blocked, leave_core, preemptions, sharpen_timer, thread_number,
    wake_elsewhere,
};

/// A child of a fork calls this. The kernel's futexes have no state in the process, so there is
/// nothing to do.
pub(super) fn begin_anew() {}
