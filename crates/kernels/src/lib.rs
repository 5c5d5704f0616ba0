//! Programs that verify their own answer: the loads that manycore's studies
//! put on its loops.
//!
//! A [`Load`] is a loop with independent iterations. It is made from a seed,
//! runs on any platform, has a sequential version, tells a simulated chip what
//! an iteration costs, and [`audit`] shows whether a loop ran every iteration
//! exactly once and whether each did its work.
//!
//! | kernel | iterations |
//! |---|---|
//! | [`UnitTask`] | the unit task of the block-size document: read, compute, write |
//! | [`Irregular::triangular`] | cost grows with the index |
//! | [`Irregular::reverse_triangular`] | cost falls with the index |
//! | [`Irregular::heavy_tailed`] | a few iterations hold much of the work |
//! | [`Tiny`] | about 5 ns each |
//!
//! ```
//! use manycore_kernels::{Load, Tiny, audit};
//! use manycore_platform::Native;
//!
//! let load = Tiny::new(1000, 42);
//! load.sequential::<Native>();
//! // A loop that claims to be parallel: here it is `for`.
//! audit::<Native, _>(&load, |n, body| (0..n).for_each(body)).unwrap();
//! // One that forgets the last iteration is caught.
//! assert!(audit::<Native, _>(&load, |n, body| (0..n - 1).for_each(body)).is_err());
//! ```

mod additions;
mod audit;
mod buffer;
pub mod fork;
mod irregular;
mod load;
mod tiny;
mod unit_task;

pub use additions::opaque_additions;
pub use audit::{Fault, audit};
pub use irregular::Irregular;
pub use load::Load;
pub use tiny::Tiny;
pub use unit_task::{Folding, InvalidSize, TaskSize, UnitTask};
