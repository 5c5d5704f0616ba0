//! The clauses of the next region. Programs that clang compiled pass these by separate calls.

use crate::environment::icv::Bind;

/// The clauses for the thread's next region.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pushed {
    pub(crate) threads: u32,
    pub(crate) bind: Option<Bind>,
    /// The number of teams of a league, and the thread limit of each team.
    pub(crate) teams: (u32, u32),
}
