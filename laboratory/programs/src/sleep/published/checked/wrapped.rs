//! Counters with one thing about them changed or watched; the rest is the
//! production code.

use super::super::counters::{Counters, Seen};
use manycore_platform::Platform;

/// Counters that are `Original` in all that is not written anew.
pub(super) trait Altered<P: Platform>: Send + Sync + 'static {
    type Original: Counters<P>;

    fn over(original: Self::Original) -> Self;

    fn original(&self) -> &Self::Original;

    fn leave(&self) -> u32 {
        self.original().leave()
    }

    fn lie_down(&self, announced: u32) -> bool {
        self.original().lie_down(announced)
    }

    fn get_up(&self) {
        self.original().get_up();
    }

    fn post(&self) -> Seen {
        self.original().post()
    }
}

/// Altered counters as counters.
pub(super) struct As<A>(A);

impl<P: Platform, A: Altered<P>> Counters<P> for As<A> {
    fn new() -> Self {
        Self(A::over(A::Original::new()))
    }

    fn name(&self) {
        self.0.original().name();
    }

    fn enter(&self) {
        self.0.original().enter();
    }

    fn leave(&self) -> u32 {
        self.0.leave()
    }

    fn announce(&self) -> u32 {
        self.0.original().announce()
    }

    fn lie_down(&self, announced: u32) -> bool {
        self.0.lie_down(announced)
    }

    fn get_up(&self) {
        self.0.get_up();
    }

    fn sleeping(&self) -> u32 {
        self.0.original().sleeping()
    }

    fn post(&self) -> Seen {
        self.0.post()
    }

    fn inactive(&self, seen: Seen) -> Option<u32> {
        self.0.original().inactive(seen)
    }
}
