//! Native code on simulated cores. Each simulated thread is a stackful coroutine that runs Rust
//! code over the platform [`Simulated`].

mod body;
mod cells;
mod context;
mod messages;
mod overflow;
mod platform;
mod run;
mod stacks;
#[cfg(test)]
mod tests;
mod watchdog;

pub use super::arena::Stack;
pub use cells::{Cell, Cell32, Cell64, CellBool, CellPtr, CellUsize};
pub use platform::{Simulated, SimulatedThread};
