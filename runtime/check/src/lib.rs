//! The model-checked world: [`manycore_platform`]'s seam over two checkers, so
//! that the runtime's own code, not a copy of it, runs under them.
//!
//! * [`Loom`] tries every interleaving of a few threads and steps, and every
//!   value that a weakly ordered load may return.
//! * [`Shuttle`] runs whole pools under thousands of random schedules, one
//!   step at a time.
//! * [`Buffered`] is shuttle's with a store buffer a thread: what asymmetric fences are for.
//! * [`Faulty`] is any of them with one fault built in, for the checks of
//!   the checks: a protocol on faulty atomics must be [`caught`].
//!
//! This crate's `README.md` says what neither checker can show.

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
    caught, caught_at_random, exhaustively, loom_model, shuttle_pct, shuttle_random, team,
};
pub use shuttle::Shuttle;
