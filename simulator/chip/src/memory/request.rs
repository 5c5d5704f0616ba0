//! A request on its way, and its answer.

use super::cache::LineId;
use super::operation::{Operation, Word};

/// Bits of a message without and with a line of data: 64 bits of type,
/// address and tiles, and the line itself (Graphite's count for 64 tiles).
pub(super) const CONTROL_BITS: u32 = 64;

/// One core's access on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) core: u32,
    pub(crate) line: LineId,
    pub(crate) stage: Stage,
    pub(crate) operation: Operation,
    pub(crate) word: Word,
    /// When it reaches the stage, or has.
    pub(crate) arrived: u64,
    /// Whether its core waits for it.
    pub(crate) awaited: bool,
}

/// The stage of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The last-level cache of the requester's group.
    Group,
    /// The line's home.
    Home,
}

/// Which part of the machine answered a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// A cache of the requester's own group.
    Group,
    /// A cache of another group.
    Remote,
    Memory,
}

/// An access that took effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served {
    /// When the requester has its answer and may go on.
    pub(crate) done: u64,
    /// The part of that for executing an atomic operation.
    pub(crate) execution: u64,
    pub(crate) class: Class,
    /// The word before the operation.
    pub(crate) value: u64,
    /// Whether the operation was done: a conditional store may not be.
    pub(crate) stored: bool,
    /// How many others had the line and have lost it, or may only read it now.
    pub(crate) taken: u32,
}

/// The result of an arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arrival {
    Served(Served),
    /// It reaches the next stage at this time.
    Travels(u64, Stage),
    /// It waits in the line's queue; `Some` if the caller must come back with
    /// [`Memory::next_waiting`](super::Memory::next_waiting) at that time, `None` if it already will.
    Queued(Option<u64>),
}

/// The source of the data and the time of their arrival.
pub(super) struct Data {
    pub(super) at: u64,
    pub(super) class: Class,
}
