//! The meaning of a policy's counters, in any layout.
//!
//! * **inactive**: threads that look for work, including sleepers;
//! * **sleeping**: threads asleep or about to be;
//! * **JEC**, the jobs event counter: odd if jobs were posted since the last thread announced that it is sleepy, even
//!   otherwise. A post makes the JEC odd and an announcement makes it even. Each writes the JEC only if its value
//!   changes.
//!
//! All accesses are sequentially consistent, as published. Both modes use this ordering, so that they run the same
//! instructions (on x86-64 weaker orderings would compile to the same). The argument for the sound mode needs less:
//! increments are read-modify-writes that release, loads acquire (a thread that sees a counted sleeper finds the
//! sleeper in bed, that is, marked as asleep in its own word), and the fences of
//! [`Discipline`](super::discipline::Discipline).

use manycore_platform::{CachePadded, Platform};
use std::ops::Deref;

/// The counters that a post has read. They fit in a register.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub(super) sleeping: u32,
    /// The number of inactive threads, or 0 if the policy does not read it on every post.
    pub(super) inactive: u32,
}

/// The counters of one policy.
pub trait Counters<P: Platform>: Send + Sync + 'static {
    fn new() -> Self;

    /// Names the words for a simulator's reports.
    fn name(&self);

    /// Counts a thread that begins to look for work as inactive.
    fn enter(&self);

    /// Removes a thread that stops looking from the inactive threads. Returns the number of sleepers.
    fn leave(&self) -> u32;

    /// Announces a sleepy thread. Returns the JEC, for [`lie_down`](Self::lie_down) to compare.
    fn announce(&self) -> u32;

    /// Counts the thread among the sleepers. Returns `false`, without counting it, if a job was posted
    /// after its announcement.
    fn lie_down(&self, announced: u32) -> bool;

    /// Removes a thread from the sleepers.
    fn get_up(&self);

    /// The number of sleepers.
    fn sleeping(&self) -> u32;

    /// Notes a posted job. Returns the counters that decide whether to wake.
    fn post(&self) -> Seen;

    /// The number of inactive threads, for a post that has seen sleepers. `None` if posts of this policy ignore this
    /// number.
    fn inactive(&self, seen: Seen) -> Option<u32>;
}

/// Whether a thread has announced itself since the last post, by the JEC.
#[inline(always)]
pub(super) fn is_sleepy(jec: u32) -> bool {
    jec.is_multiple_of(2)
}

/// The placement of a word.
pub trait Line: Send + Sync + 'static {
    type Of<T: Send + Sync>: Deref<Target = T> + From<T> + Send + Sync;
}

/// The word shares a cache line with its neighbours.
#[derive(Debug)]
pub struct SharedLine;

/// The word has its own line (in fact two lines, because some hardware fetches pairs).
#[derive(Debug)]
pub struct OwnLine;

impl Line for SharedLine {
    type Of<T: Send + Sync> = Bare<T>;
}

impl Line for OwnLine {
    type Of<T: Send + Sync> = CachePadded<T>;
}

/// A word without padding.
#[derive(Debug)]
#[repr(transparent)]
pub struct Bare<T>(T);

impl<T> From<T> for Bare<T> {
    fn from(word: T) -> Self {
        Self(word)
    }
}

impl<T> Deref for Bare<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}
