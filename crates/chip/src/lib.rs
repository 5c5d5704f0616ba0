//! The simulated world of manycore: a deterministic manycore machine.
#![allow(missing_docs, reason = "taken away when the crate is whole")]

pub mod config;
#[allow(dead_code, reason = "until the engine uses it")]
mod core_set;
#[allow(dead_code, unused_imports, reason = "until the engine uses it")]
mod os;
