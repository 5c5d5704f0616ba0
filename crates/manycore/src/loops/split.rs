//! `split`: recursive halving through `join`, as deep as there is demand.

use crate::pool::FnContext;

/// How often a range may still be halved.
///
/// It begins with as many halvings as give each thread a part; a part that was
/// stolen begins anew, since somebody was idle. So a range is divided where
/// there is demand, and otherwise hardly more often than there are threads
/// (demand-driven splitting, as TBB's `auto_partitioner` and rayon have it).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    threads: usize,
    left: usize,
}

impl Budget {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            threads,
            left: threads,
        }
    }

    /// The budget of each half, if there is to be one.
    pub(crate) fn halve(self, context: &FnContext) -> Option<Self> {
        let left = if context.migrated() {
            self.threads.max(self.left / 2)
        } else if self.left > 0 {
            self.left / 2
        } else {
            return None;
        };
        Some(Self { left, ..self })
    }
}
