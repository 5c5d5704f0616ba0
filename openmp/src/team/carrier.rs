//! The trait through which the layers below `carry` use `carry` for a team.

use super::context::Context;

/// Carries one team at a time. The members of that team are ranks, which one worker for each core executes.
pub(crate) trait Carrier: Sync {
    /// The caller, the leader of the team, begins a region as rank 0. If threads may no longer be carried, does nothing
    /// and returns `false`.
    fn lead(&self, context: &Context) -> bool;

    /// The region is over. Its leader calls this.
    fn leave(&self, context: &Context);

    /// The team is dissolved. Its leader calls this.
    fn release(&self);

    /// All ranks have arrived, and the caller releases them after this call. The next episode begins at the address
    /// `site` in the program. If the caller `begins` a region, it goes on itself.
    fn open_episode(&self, site: usize, begins: bool);

    /// The caller has released the ranks. The carrier may move some of them to other threads.
    fn has_opened(&self);

    /// All ranks have arrived at a barrier that the carrier has no plan for.
    fn miss_episode(&self);
}
