//! The accounts of a run. They count its cycles by core and activity ([`Breakdown`]), by cache line and named object
//! ([`Lines`]), over time ([`Timeline`]), and the counters of the machine's parts ([`Counters`]).
//!
//! Each cycle of a core is charged to exactly one [`Activity`], so a core's activities add up to
//! the length of the run.

mod activity;
mod census;
mod counters;
mod energy;
mod histogram;
mod lines;
mod names;
mod report;
mod rows;
mod spans;
mod timeline;
mod trace;
mod traffic;

pub use activity::{Activity, Breakdown};
pub(crate) use census::{Census, MemoryCensus};
pub use counters::{
    CacheCounters, ControllerCounters, CoreCounters, Counters, Latencies, LinkCounters,
    OpticalCounters, Sample,
};
pub use energy::Energy;
pub use histogram::Histogram;
pub(crate) use lines::{Lines, Source, Taken};
pub(crate) use names::{Name, Names};
pub use report::{HotLine, NamedSpin, Order, Report};
pub use rows::CounterRow;
pub(crate) use spans::{Span, Spans};
pub(crate) use timeline::{Segment, Timeline};
pub(crate) use trace::Labels;
pub use trace::Trace;
pub(crate) use traffic::{GroupTraffic, MeshTraffic};

type Cycles = u64;
