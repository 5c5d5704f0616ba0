//! The messages between the measuring process and a peer's process: one line of JSON each way.

use crate::load::Load;
use crate::recursion::Recursion;
use crate::traffic::Traffic;
use serde::{Deserialize, Serialize};

/// Sent by a peer's process once, when it is ready: the version if it knows
/// one, or why it cannot run.
pub type Hello = Result<Option<String>, String>;

/// An order to a peer under a policy.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    pub policy: String,
    pub order: Order,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Order {
    /// Show that a loop over `0..n` runs every index exactly once.
    Check { n: usize },
    /// Run loops and time each.
    Loops {
        load: Load,
        pace: Pace,
        warm_up_ms: u64,
        sampling_ms: u64,
    },
    /// Run a recursion over and over and time each; nanoseconds a part of it.
    Joins {
        recursion: Recursion,
        warm_up_ms: u64,
        sampling_ms: u64,
    },
    /// Serve clients; nanoseconds a request, from its scheduled arrival on.
    Serve(Traffic),
    /// Run a few loops, wait 100 ms, and watch the processor time used for
    /// `ms` more.
    Idle { ms: u64 },
}

/// The caller's activity between two loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pace {
    /// Nothing.
    Hot,
    /// Computes for 1 ms.
    AfterGap,
    /// Sleeps, so that a loop starts every 1.1 ms.
    Periodic,
}

/// The answer of a peer's process; an error ends nothing but this order.
pub type Answer = Result<Outcome, String>;

/// The results of an order, without the warm-up.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Nanoseconds a loop, or a request, one a sample.
    pub latencies: Vec<f64>,
    /// Processor time of the whole process over time passed.
    pub cores: f64,
    /// Processor time of the whole process.
    pub processor_ms: f64,
    /// Requests among the samples that were not served: they had waited at least this long.
    pub unserved: usize,
    /// Whether a thread of the process was ready and had to wait for a core
    /// that another process held.
    pub disturbed: bool,
}
