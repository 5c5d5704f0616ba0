//! Front ends: what runs on the simulated cores. Each implements
//! `engine::Body` for its threads and asks the engine for the rest.

pub(crate) mod arena;
pub(crate) mod fiber;
pub mod guest;
pub(crate) mod simulation;
