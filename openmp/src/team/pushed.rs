//! The clauses of the next region. Programs that clang compiled pass these by separate calls.

use crate::environment::icv::Bind;
use std::ffi::{c_char, c_int};

/// The clauses for the thread's next region.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pushed {
    pub(crate) threads: u32,
    /// The severity and the message, if the region must have as many threads as that.
    pub(crate) strict: Option<(c_int, *const c_char)>,
    pub(crate) bind: Option<Bind>,
    /// The number of teams of a league, and the thread limit of each team.
    pub(crate) teams: (u32, u32),
}
