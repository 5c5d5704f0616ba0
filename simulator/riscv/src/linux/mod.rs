//! Linux as a program sees it: memory, files, threads, futexes, signals, time.
//!
//! A [`System`] owns the processes. A process is shared by its [`Task`]s. It is composed of owners. An owner keeps its own
//! state, and borrows the other owners that a call needs: [`memory`], [`files`], [`signals`] with
//! the timers, [`threads`]. A system call ([`calls`]) takes effect in one step, in the order of
//! simulated time; it reads and writes the guest's memory, past the caches.

mod calls;
mod custom;
mod errno;
mod files;
mod load;
mod memory;
mod names;
mod process;
mod random;
mod resume;
mod robust;
mod signal;
mod signals;
mod sysfs;
mod system;
mod task;
mod threads;
mod time;
mod users;
mod words;
mod world;

pub use calls::system_calls;
pub(crate) use files::Streams;
pub(crate) use load::{Start, load};
pub(crate) use resume::resume;
pub(crate) use system::System;
pub(crate) use task::{Task, TaskState, Wake};
pub(crate) use threads::name;
pub(crate) use world::{Delivered, Entry, World};
