//! Counters with one operation changed or watched. The rest is the production code.

use super::super::counters::{Counters, Seen};
use manycore_platform::Platform;

/// Counters that differ from `Original` only in overridden methods.
pub(super) trait Altered<P: Platform>: Send + Sync + 'static {
    type Original: Counters<P>;

    /// A check calls this once, before all other methods.
    fn begin(_: &Self::Original) {}

    fn leave(original: &Self::Original) -> u32 {
        original.leave()
    }

    fn lie_down(original: &Self::Original, announced: u32) -> bool {
        original.lie_down(announced)
    }

    fn get_up(original: &Self::Original) {
        original.get_up();
    }

    fn post(original: &Self::Original) -> Seen {
        original.post()
    }
}

pub(super) struct As<P: Platform, A: Altered<P>>(A::Original);

impl<P: Platform, A: Altered<P>> Counters<P> for As<P, A> {
    fn new() -> Self {
        let original = A::Original::new();
        A::begin(&original);
        Self(original)
    }

    fn name(&self) {
        self.0.name();
    }

    fn enter(&self) {
        self.0.enter();
    }

    fn leave(&self) -> u32 {
        A::leave(&self.0)
    }

    fn announce(&self) -> u32 {
        self.0.announce()
    }

    fn lie_down(&self, announced: u32) -> bool {
        A::lie_down(&self.0, announced)
    }

    fn get_up(&self) {
        A::get_up(&self.0);
    }

    fn sleeping(&self) -> u32 {
        self.0.sleeping()
    }

    fn post(&self) -> Seen {
        A::post(&self.0)
    }

    fn inactive(&self, seen: Seen) -> Option<u32> {
        self.0.inactive(seen)
    }
}
