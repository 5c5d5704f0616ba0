//! Where ranks cannot be carried: members are threads, also where they are more than the cores.

use crate::context::Context;

/// There is none.
pub(crate) enum Rank {}

impl Rank {
    pub(crate) fn wait_until(&self, _condition: &dyn Fn() -> bool) {
        match *self {}
    }

    pub(crate) fn is_member(&self, _id: u32) {
        match *self {}
    }

    pub(crate) fn holds(&self) {
        match *self {}
    }

    pub(crate) fn holds_no_more(&self) {
        match *self {}
    }
}

pub(crate) fn claim(_context: &Context, _depth: usize, _size: u32) -> bool {
    false
}

pub(crate) fn release() {}

pub(crate) fn lead(_context: &Context) -> bool {
    false
}

pub(crate) fn leave(_context: &Context) {}

pub(crate) fn arrive(_context: &Context) {}

pub(crate) fn open_episode(_site: usize, _begins: bool) {}

pub(crate) fn miss_episode() {}

pub(crate) fn make_room(_context: &Context) {}

pub(crate) fn become_rank(_context: &Context) {}

pub(crate) fn notify() {}

pub(crate) fn on_load() {}

/// None is defined here.
pub(crate) fn is_heard() -> bool {
    false
}

/// Signals are what they are.
pub(crate) fn with_signals_blocked<R>(body: impl FnOnce() -> R) -> R {
    body()
}
