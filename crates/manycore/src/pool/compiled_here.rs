//! What the crates of native pools' users call, and need not compile.
//!
//! The compiler takes a generic function from the crate that has compiled it already, if the function is
//! `#[inline(never)]`; else it compiles the function again in each crate that calls it. So what lies behind
//! `join`, a scope, a job or a loop, and depends on the world alone, is marked that way, and this table has
//! the compiler compile it here, for [`Native`]. Nobody reads the table, so that no program contains it.
//! `ci/once.sh` counts how much of the runtime is compiled in a user's crate.

use super::{Builder, Context, Pool, Registry, Worker};
use crate::loops::drive;
use crate::sync::Word;
use manycore_platform::Native;

/// The address of a function.
struct Address(#[expect(dead_code, reason = "to have it compiled is all")] *const ());

// SAFETY: nobody reads it.
unsafe impl Sync for Address {}

#[expect(dead_code, reason = "as above")]
static COMPILED_HERE: [Address; 19] = [
    Address(Builder::<Native>::build_on_this_host as *const ()),
    Address(Context::<Native>::of_worker::<Native> as *const ()),
    Address(Word::<Native>::wait as *const ()),
    Address(Pool::<Native>::end as *const ()),
    Address(Registry::<Native>::await_told as *const ()),
    Address(Registry::<Native>::end_threads as *const ()),
    Address(Registry::<Native>::fill_caller_slot as *const ()),
    Address(Registry::<Native>::handle_panic as *const ()),
    Address(Registry::<Native>::leave_slowly as *const ()),
    Address(Registry::<Native>::need_threads as *const ()),
    Address(Registry::<Native>::one_root_less as *const ()),
    Address(Registry::<Native>::one_root_more as *const ()),
    Address(Registry::<Native>::post_and_wait as *const ()),
    Address(Registry::<Native>::post_scoped as *const ()),
    Address(Registry::<Native>::tell_of_mail as *const ()),
    Address(Worker::<Native>::await_stolen as *const ()),
    Address(Worker::<Native>::wait_in_scope as *const ()),
    Address(Worker::<Native>::yield_now as *const ()),
    Address(drive::<Native> as *const ()),
];
