//! The simulated world of manycore: a deterministic manycore machine.
#![allow(missing_docs, reason = "taken away when the crate is whole")]

pub mod config;
#[allow(dead_code, reason = "taken away when the engine uses it")]
pub mod network;
