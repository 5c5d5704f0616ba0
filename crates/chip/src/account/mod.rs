//! Where the cycles went: by core and activity ([`Breakdown`]), by cache line and
//! named object ([`Lines`]), and over time ([`Timeline`]).
//!
//! Every cycle of every core is charged to exactly one [`Activity`], so that
//! the sums of a core are the length of the run.

mod activity;
mod lines;
mod names;
mod report;
mod timeline;
mod trace;

pub use activity::{Activity, Breakdown};
pub(crate) use lines::{Lines, Source, Taken};
pub(crate) use names::{Name, Names};
pub use report::{HotLine, NamedSpin, Order, Report};
pub(crate) use timeline::{Segment, Timeline};
pub(crate) use trace::{Labels, Trace};

type Cycles = u64;
