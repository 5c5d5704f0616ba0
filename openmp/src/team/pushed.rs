//! Clauses of the next region, which clang's programs push by calls.

use crate::environment::icv::Bind;

/// The values of `num_threads` and `proc_bind` for the thread's next region.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pushed {
    pub(crate) threads: u32,
    pub(crate) bind: Option<Bind>,
    /// Teams of a league, and the limit of each one's threads.
    pub(crate) teams: (u32, u32),
}
