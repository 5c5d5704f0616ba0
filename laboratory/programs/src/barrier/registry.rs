//! Barriers by name.

use super::{
    Barrier, ChannelBarrier, CombiningBarrier, CountedBarrier, DefaultBarrier,
    DisseminationBarrier, FutexBarrier, Glibc2011Barrier, GroupedBarrier, McsBarrier,
    SenseOnALineBarrier, SpinSleepBarrier, TournamentBarrier,
};
use crate::names::types_by_name;
use manycore_team::seam::SenseBarrier;

// A new barrier needs only an entry here.
types_by_name! { P: Barrier, "no barrier";
    /// A closure, generic over the barrier's type, for a barrier whose name is known only at run time.
    ///
    /// ```
    /// use manycore::Native;
    /// use manycore_programs::barrier::{Barrier, BarrierVisitor, with_barrier};
    ///
    /// struct Size;
    ///
    /// impl BarrierVisitor<Native> for Size {
    ///     type Output = usize;
    ///
    ///     fn visit<B: Barrier<Native>>(self) -> usize {
    ///         size_of::<B>()
    ///     }
    /// }
    /// assert!(with_barrier("channel", Size).unwrap() > 0);
    /// let error = with_barrier("chanel", Size).unwrap_err();
    /// assert!(error.to_string().starts_with("no barrier `chanel`; there are "));
    /// ```
    trait BarrierVisitor;
    /// The names of all barriers.
    ///
    /// ```
    /// assert!(manycore_programs::barrier::barriers().contains(&"channel"));
    /// ```
    fn barriers;
    /// Calls `visitor` with the barrier of this name, on the platform `P`. The visitor's code is compiled
    /// once for each barrier.
    ///
    /// # Errors
    ///
    /// If no barrier has this name. The error lists all names.
    ///
    /// ```
    /// use manycore::Native;
    /// use manycore_programs::barrier::Barrier;
    /// use manycore_programs::barrier::{BarrierVisitor, barriers, with_barrier};
    ///
    /// struct Name;
    ///
    /// impl BarrierVisitor<Native> for Name {
    ///     type Output = &'static str;
    ///
    ///     fn visit<B: Barrier<Native>>(self) -> &'static str {
    ///         B::NAME
    ///     }
    /// }
    /// for name in barriers() {
    ///     assert_eq!(with_barrier(name, Name), Ok(name));
    /// }
    /// ```
    fn with_barrier;
    ChannelBarrier<P>,
    SenseBarrier<P>,
    CombiningBarrier<P>,
    DisseminationBarrier<P>,
    TournamentBarrier<P>,
    McsBarrier<P>,
    FutexBarrier<P>,
    Glibc2011Barrier<P>,
    SenseOnALineBarrier<P>,
    SpinSleepBarrier<P>,
    CountedBarrier<P>,
    GroupedBarrier<P>,
    DefaultBarrier<P>,
}
