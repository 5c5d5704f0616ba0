//! The trait through which modules below `carry` have it execute a team.

use super::context::Context;

/// Carries one team at a time. The members of that team are ranks, which one worker for each core executes.
pub(crate) trait Carrier: Sync {
    /// Begins a region with the caller, the leader of the team, as rank 0. If threads may no longer be carried, does
    /// nothing and returns `false`.
    fn lead(&self, context: &Context) -> bool;

    /// The leader calls this when the region is over.
    fn leave(&self, context: &Context);

    /// The leader calls this when the team is dissolved.
    fn release(&self);

    /// Plans the time to the next barrier, which begins at the address `site` in the program. All ranks have arrived,
    /// and the caller releases them after this call. If the caller `begins` a region, it goes on itself.
    fn open_episode(&self, site: usize, begins: bool);

    /// Called after the caller has released the ranks. The carrier may move some of them to other kernel threads.
    fn has_opened(&self);

    /// All ranks have arrived at a barrier for which the carrier has no plan.
    fn miss_episode(&self);
}
