//! Front ends: the kinds of threads that run on the simulated cores. Each front end implements
//! `engine::Body` for its threads and calls the engine for everything that takes simulated time.

pub(crate) mod arena;
pub(crate) mod fiber;
pub mod guest;
pub(crate) mod simulation;
