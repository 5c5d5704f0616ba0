//! System calls: their table, and the calls that use several parts of a process.

mod awaited;
mod changed;
mod children;
mod exec;
mod fence;
mod futex;
mod inherit;
mod made;
mod missing;
mod pipes;
mod poll;
mod proc;
mod processes;
mod scheduling;
mod streams;
mod system;
mod table;
mod threads;
mod vectors;
mod waits;

pub(super) use futex::waits as futex_waits;
pub use table::system_calls;
pub(super) use table::{call, number};
pub(super) use waits::{interrupt, woken};
