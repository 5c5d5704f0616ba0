//! The model-checked world: platforms over two checkers, so that the runtime's own code, not a copy, runs under them.
//!
//! * [`Loom`] tries every interleaving of a few threads and steps, and every value that a weakly ordered load may
//!   return.
//! * [`Shuttle`] runs whole pools under thousands of random schedules, one step at a time.
//! * [`Buffered`] is `Shuttle` with a store buffer for each thread. It shows whether asymmetric fences are needed.
//! * [`Faulty`] is any of these with one fault, to test the checks: a check must [catch](caught) a protocol on faulty
//!   atomics.
//!
//! This crate's `README.md` says what these checkers cannot show.

mod apart;
mod buffered;
mod cells;
mod faulty;
mod loom;
mod model;
mod shuttle;

pub use apart::caught_apart;
pub use buffered::Buffered;
pub use faulty::{
    Deaf, Fault, Faulty, Fenced, NoFence, NoHeavyFence, Relaxed, TornAdd, TornBits, TornCas,
    TornSwap,
};
pub use loom::{Loom, Plain};
pub use model::{
    caught, caught_at_random, exhaustively, loom_model, preemptions, scaled, shuttle_pct,
    shuttle_random, team,
};
pub use shuttle::Shuttle;
