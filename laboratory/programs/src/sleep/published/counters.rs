//! The meaning of a policy's counters, whatever words hold them.
//!
//! * **inactive**: threads that look for work, sleepers included;
//! * **sleeping**: threads asleep or about to be;
//! * **JEC**, the jobs event counter: odd if jobs were posted since the last thread announced that
//!   it is sleepy, even otherwise. A post makes it odd and an announcement even, and each writes it
//!   only if that changes it.
//!
//! All accesses are sequentially consistent as published, in both modes, so
//! that both run the same instructions (on x86-64 the weakest would be these).
//! The argument for the sound mode needs less: that the increments are
//! read-modify-writes, that they release and the loads acquire (whoever counts
//! a sleeper finds it in bed), and the fences of
//! [`Discipline`](super::discipline::Discipline).

use manycore_platform::{CachePadded, Platform};
use std::ops::Deref;

/// The counters that a post has read; small enough for a register.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub(super) sleeping: u32,
    /// 0 if the policy does not read it on every post.
    pub(super) inactive: u32,
}

/// The counters of one policy.
pub trait Counters<P: Platform>: Send + Sync + 'static {
    fn new() -> Self;

    /// Names the words, for a simulator's accounts.
    fn name(&self);

    /// A thread begins to look for work.
    fn enter(&self);

    /// A thread looks no longer; returns how many sleep.
    fn leave(&self) -> u32;

    /// A thread is sleepy; returns the JEC, to be compared by
    /// [`lie_down`](Self::lie_down).
    fn announce(&self) -> u32;

    /// Counts the thread among the sleepers; `false`: not, for a job was posted
    /// since it announced itself.
    fn lie_down(&self, announced: u32) -> bool;

    /// Takes a thread off the sleepers.
    fn get_up(&self);

    /// How many sleep.
    fn sleeping(&self) -> u32;

    /// A job was posted; what must be known to decide whether to wake.
    fn post(&self) -> Seen;

    /// The inactive threads, for a post that has seen sleepers, if the policy
    /// lets them count.
    fn inactive(&self, seen: Seen) -> Option<u32>;
}

/// Whether a JEC says that a thread announced itself since the last post.
#[inline(always)]
pub(super) fn is_sleepy(jec: u32) -> bool {
    jec.is_multiple_of(2)
}

/// The placement of a word.
pub trait Line: Send + Sync + 'static {
    type Of<T: Send + Sync>: Deref<Target = T> + From<T> + Send + Sync;
}

/// On the line of its neighbours.
#[derive(Debug)]
pub struct SharedLine;

/// On a line of its own (two, where the hardware fetches them in pairs).
#[derive(Debug)]
pub struct OwnLine;

impl Line for SharedLine {
    type Of<T: Send + Sync> = Bare<T>;
}

impl Line for OwnLine {
    type Of<T: Send + Sync> = CachePadded<T>;
}

/// A word and nothing around it.
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
