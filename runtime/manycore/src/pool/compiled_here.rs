//! Functions that this crate compiles for [`Native`], so that crates that use native pools need not.
//!
//! The compiler takes a generic function from the crate that has compiled it already, if the function is
//! `#[inline(never)]`. Otherwise it compiles the function again in each crate that calls it. Some code behind `join`,
//! a scope, a job or a loop is generic over the platform alone. That code is marked `#[inline(never)]`, and the tables
//! in this file and in `loops/dispatch.rs` name it, so that the compiler compiles it in this crate. No code reads the
//! tables, so no program contains them. `ci/once.sh` counts how much of the runtime is compiled in a user's crate.

use super::{Builder, Context, Pool, Registry, Worker};
use manycore_platform::Native;

/// The address of a function.
pub(crate) struct Address(#[expect(dead_code, reason = "to have it compiled is all")] *const ());

impl Address {
    pub(crate) const fn of(function: *const ()) -> Self {
        Self(function)
    }
}

// SAFETY: an `Address` is the address of code, which no thread owns. Nothing reads or follows it.
unsafe impl Sync for Address {}

#[expect(dead_code, reason = "as above")]
static COMPILED_HERE: [Address; 23] = [
    Address::of(Builder::<Native>::build_on_this_host as *const ()),
    Address::of(Context::<Native>::of_worker as *const ()),
    Address::of(Pool::<Native>::end as *const ()),
    Address::of(Registry::<Native>::await_oneshot as *const ()),
    Address::of(Registry::<Native>::become_spare_worker as *const ()),
    Address::of(Registry::<Native>::end_threads as *const ()),
    Address::of(Registry::<Native>::fill_caller_slot as *const ()),
    Address::of(Registry::<Native>::enter_slowly as *const ()),
    Address::of(Registry::<Native>::handle_panic as *const ()),
    Address::of(Registry::<Native>::has_thread_beside_caller as *const ()),
    Address::of(Registry::<Native>::leave_again as *const ()),
    Address::of(Registry::<Native>::leave_slowly as *const ()),
    Address::of(Registry::<Native>::need_threads as *const ()),
    Address::of(Registry::<Native>::end_detached as *const ()),
    Address::of(Registry::<Native>::begin_detached as *const ()),
    Address::of(Registry::<Native>::leave_visit as *const ()),
    Address::of(Registry::<Native>::post_and_wait as *const ()),
    Address::of(Registry::<Native>::visit as *const ()),
    Address::of(Registry::<Native>::post_begun as *const ()),
    Address::of(Registry::<Native>::tell_of_mail as *const ()),
    Address::of(Worker::<Native>::await_stolen as *const ()),
    Address::of(Worker::<Native>::wait_in_scope as *const ()),
    Address::of(Worker::<Native>::yield_now as *const ()),
];
