//! The trait by which the layers below `carry` use it for a team.

use super::context::Context;

/// Carries one team at a time: its members are ranks, executed by a worker for each core.
pub(crate) trait Carrier: Sync {
    /// The caller, which has the team, begins a region as rank 0. Returns `false`, and has done nothing, where threads
    /// are not to be carried any more.
    fn lead(&self, context: &Context) -> bool;

    /// The region is over; called by its leader.
    fn leave(&self, context: &Context);

    /// The team is no more. Its leader calls this.
    fn release(&self);

    /// All ranks have arrived, and are let go after this. Here the next episode begins, at an address of the
    /// program; or the caller `begins` a region, and goes on.
    fn open_episode(&self, site: usize, begins: bool);

    /// The caller has let the ranks go. The carrier may move some of them to other threads.
    fn has_opened(&self);

    /// All ranks have arrived at something that was not planned.
    fn miss_episode(&self);
}
