//! Requests and their answers.

use super::cache::LineId;
use super::operation::{Operation, Word};

/// Bits of a message without data: type, address and tiles (as in Graphite for 64 tiles). A message
/// with data also has the bits of the line.
pub(super) const CONTROL_BITS: u32 = 64;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) core: u32,
    pub(crate) line: LineId,
    pub(crate) stage: Stage,
    pub(crate) operation: Operation,
    pub(crate) word: Word,
    /// The time when the request reaches its stage.
    pub(crate) arrived: u64,
    /// The number of other requests for the line, served or waiting, at that time.
    pub(crate) found: u32,
    /// Whether the core waits for the answer.
    pub(crate) awaited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The last-level cache of the requester's group.
    Group,
    /// The line's home (the place that serialises the line's requests).
    Home,
}

/// The part of the machine that answered a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// A cache of the requester's own group.
    Group,
    /// A cache of another group.
    Remote,
    Memory,
}

/// The result of an access that has taken effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served {
    /// The time when the requester has its answer and may continue.
    pub(crate) done: u64,
    /// The cycles of the access in which an atomic operation was executed.
    pub(crate) execution: u64,
    pub(crate) class: Class,
    /// The word's value before the operation.
    pub(crate) value: u64,
    /// Whether the operation was done. A conditional store can fail.
    pub(crate) stored: bool,
    /// How many other caches have dropped the line, or may only read it now.
    pub(crate) taken: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Arrival {
    Served(Served),
    /// The request reaches the next stage at this time.
    Travels(u64, Stage),
    /// The request waits in the line's queue. If this is `Some`, the caller must call
    /// [`Memory::next_waiting`](super::Memory::next_waiting) at that time. If it is `None`, the
    /// caller has already planned that call.
    Queued(Option<u64>),
}

/// The source of the data and the time of their arrival.
pub(super) struct Data {
    pub(super) at: u64,
    pub(super) class: Class,
}
