//! Linux as a program sees it: memory, files, threads, futexes, signals, time.
//!
//! A [`System`] owns the processes. The threads of a process are its [`Task`]s. The parts of a process are [`memory`],
//! [`files`], [`signals`] with the timers, and [`threads`]. If a call needs several parts, a function of one part
//! borrows the other parts. A system call ([`calls`]) takes effect in one step, in the order of simulated time. A call
//! accesses the guest's memory without the simulated caches.

mod calls;
mod custom;
mod errno;
mod files;
mod load;
mod memory;
mod names;
mod news;
mod orphaned;
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
