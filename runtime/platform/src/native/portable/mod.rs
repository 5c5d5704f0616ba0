//! The parts that the standard library has on every system. A system without its own file uses all of them. The other
//! systems use those parts that they lack.

mod fence;
#[cfg(not(all(target_family = "wasm", not(target_feature = "atomics"))))]
mod futex;
mod process;
mod thread;

pub(super) use fence::{are_light, heavy, light};
#[cfg(all(unix, not(miri)))]
pub(super) use futex::begin_anew;
#[cfg(not(all(target_family = "wasm", not(target_feature = "atomics"))))]
pub(super) use futex::{wait, wake};
pub(crate) use process::{allowed_cpus, cpu_time};
pub(super) use thread::{
    begin_on, bind, core, is_blocked, leave_core, preemptions, sharpen_timer, thread_number,
    wake_elsewhere,
};
