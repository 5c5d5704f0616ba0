//! The simulated world of manycore: a deterministic manycore machine.
#![allow(missing_docs, reason = "taken away when the crate is whole")]

mod account;
pub mod config;
mod core_set;
mod engine;
mod front;
mod memory;
pub mod network;
mod os;

pub use account::{Activity, Breakdown, HotLine, NamedSpin, Order, Report};
pub use engine::{SimulationError, Statistics, Waiting};
pub use front::arena::Allocator;
pub use front::fiber::{Broadcast, Run, Simulated, SimulatedThread, Simulation};
pub use network::{Channel, Delivery, Filter, MatchOperation, Message};
