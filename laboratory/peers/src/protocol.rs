//! The messages between the measuring process and a peer's process: one line of JSON each way.

use crate::load::Load;
use crate::recursion::Recursion;
use crate::traffic::Traffic;
use serde::{Deserialize, Serialize};

/// The first message of a peer's process: its version, if known, or the reason why it cannot run.
pub type Hello = Result<Option<String>, String>;

/// An order to a peer, and the policy to run it under.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    pub policy: String,
    pub order: Order,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Order {
    /// Check that a loop over `0..n` runs every index exactly once.
    Check { n: usize },
    /// Run loops and time each.
    Loops {
        load: Load,
        pace: Pace,
        warm_up_ms: u64,
        sampling_ms: u64,
    },
    /// Run a recursion repeatedly and time each run. The results are nanoseconds for each of its
    /// parts.
    Joins {
        recursion: Recursion,
        warm_up_ms: u64,
        sampling_ms: u64,
    },
    /// Serve clients. The results are nanoseconds from a request's scheduled arrival to its answer.
    Serve(Traffic),
    /// Run a few loops, wait 100 ms, and measure the processor time of the next `ms` milliseconds.
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

/// The answer of a peer's process. After an error the process accepts further orders.
pub type Answer = Result<Outcome, String>;

/// The results of an order, without the warm-up.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Nanoseconds a loop or a request, one number for each sample.
    pub latencies: Vec<f64>,
    /// Processor time of the whole process divided by elapsed time.
    pub cores: f64,
    /// Processor time of the whole process.
    pub processor_ms: f64,
    /// The number of samples of unserved requests. Such a sample is the request's wait until the
    /// end.
    pub unserved: usize,
    /// Whether a ready thread of the process had to wait for a core.
    pub disturbed: bool,
}
