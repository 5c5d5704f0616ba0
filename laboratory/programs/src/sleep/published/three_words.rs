//! The three counters in separate words. A policy may ignore some counters. An ignored word keeps its place, so that
//! the layout stays the same.

use super::counters::{Counters, Line, Seen, is_sleepy};
use manycore_platform::{Atomic, AtomicInteger, Ordering::SeqCst, Platform};

/// How a policy uses the count of inactive threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inactive {
    /// Every post reads the count first, even if no thread sleeps.
    Read,
    /// A post reads the count only after it has seen a sleeper.
    ReadLate,
    /// Threads write the count, but no thread reads it.
    Kept,
    /// No thread writes or reads the count.
    Absent,
}

/// The differences between policies of three words.
pub trait Shape: Send + Sync + 'static {
    type Line: Line;
    /// Whether the policy has the JEC (jobs event counter).
    const JEC: bool;
    const INACTIVE: Inactive;
}

#[repr(C)]
pub struct ThreeWords<P: Platform, S: Shape> {
    pub(super) jec: <S::Line as Line>::Of<P::AtomicU32>,
    pub(super) inactive: <S::Line as Line>::Of<P::AtomicU32>,
    pub(super) sleeping: <S::Line as Line>::Of<P::AtomicU32>,
}

impl<P: Platform, S: Shape> ThreeWords<P, S> {
    #[cold]
    fn event(&self, mut jec: u32, wanted: impl Fn(u32) -> bool) -> u32 {
        while wanted(jec) {
            let next = jec.wrapping_add(1);
            match self.jec.compare_exchange(jec, next, SeqCst, SeqCst) {
                Ok(_) => return next,
                Err(now) => jec = now,
            }
        }
        jec
    }
}

impl<P: Platform, S: Shape> Counters<P> for ThreeWords<P, S> {
    fn new() -> Self {
        Self {
            jec: P::AtomicU32::new(0).into(),
            inactive: P::AtomicU32::new(0).into(),
            sleeping: P::AtomicU32::new(0).into(),
        }
    }

    fn name(&self) {
        if S::JEC {
            P::name(&*self.jec, "sleep: jec");
        }
        if S::INACTIVE != Inactive::Absent {
            P::name(&*self.inactive, "sleep: inactive");
        }
        P::name(&*self.sleeping, "sleep: sleeping");
    }

    fn enter(&self) {
        if S::INACTIVE != Inactive::Absent {
            self.inactive.fetch_add(1, SeqCst);
        }
    }

    fn leave(&self) -> u32 {
        if S::INACTIVE != Inactive::Absent {
            self.inactive.fetch_sub(1, SeqCst);
            // A poster that counts this thread as idle may wake no other thread and rely on this one. So
            // this thread must see the sleepers that the poster saw (README, "The last to leave wakes
            // others").
            P::fence_after_rmw();
        }
        self.sleeping()
    }

    fn announce(&self) -> u32 {
        if !S::JEC {
            return 0;
        }
        let jec = self.jec.load(SeqCst);
        self.event(jec, |jec| !is_sleepy(jec))
    }

    fn lie_down(&self, announced: u32) -> bool {
        // These are two steps, where a single word needs one. They miss a job that is posted between them.
        if S::JEC && self.jec.load(SeqCst) != announced {
            return false;
        }
        self.sleeping.fetch_add(1, SeqCst);
        true
    }

    fn get_up(&self) {
        self.sleeping.fetch_sub(1, SeqCst);
    }

    fn sleeping(&self) -> u32 {
        self.sleeping.load(SeqCst)
    }

    #[inline(always)]
    fn post(&self) -> Seen {
        if S::JEC {
            let jec = self.jec.load(SeqCst);
            if is_sleepy(jec) {
                self.event(jec, is_sleepy);
            }
        }
        // This is read before the sleepers, so a thread that falls asleep in between counts as asleep, not as awake.
        let inactive = match S::INACTIVE {
            Inactive::Read => self.inactive.load(SeqCst),
            _ => 0,
        };
        Seen {
            sleeping: self.sleeping.load(SeqCst),
            inactive,
        }
    }

    fn inactive(&self, seen: Seen) -> Option<u32> {
        match S::INACTIVE {
            Inactive::Read => Some(seen.inactive),
            Inactive::ReadLate => Some(self.inactive.load(SeqCst)),
            Inactive::Kept | Inactive::Absent => None,
        }
    }
}
