//! The simulated world of manycore: a deterministic manycore machine.
#![allow(missing_docs, reason = "taken away when the crate is whole")]

#[allow(dead_code, unused_imports, reason = "the engine is their first user")]
mod account;
#[allow(dead_code, unused_imports, reason = "the engine is their first user")]
mod front;

pub use account::{Activity, Breakdown, HotLine, NamedSpin, Order, Report};
pub use front::arena::Allocator;
