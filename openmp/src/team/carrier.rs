//! The trait through which modules below `carry` let `carry` execute a team.

use super::context::Context;

/// Carries one team at a time: workers, one kernel thread for each core, execute the members of the team, the ranks.
pub(crate) trait Carrier: Sync {
    /// Begins a region with the caller, the leader of the team, as rank 0. If threads may no longer be carried, does
    /// nothing and returns `false`.
    fn lead(&self, context: &Context) -> bool;

    /// The leader calls this when the region is over.
    fn leave(&self, context: &Context);

    /// The leader calls this when the team is dissolved.
    fn release(&self);

    /// The leader calls this in place of [`release`](Self::release) if there was no room for the team's threads.
    /// `waiting` ranks wait for a team.
    fn lacks_room(&self, waiting: usize);

    /// Plans the time to the next barrier. That time begins at the address `site` in the program. All ranks have
    /// arrived, and the caller releases them after this call. A caller that `begins` a region does not wait for that
    /// release.
    fn open_episode(&self, site: usize, begins: bool);

    /// Called after the caller has released the ranks. The carrier may move some of them to other kernel threads.
    fn has_opened(&self);

    /// Called when all ranks have arrived at a barrier for which the carrier has no plan.
    fn miss_episode(&self);
}
