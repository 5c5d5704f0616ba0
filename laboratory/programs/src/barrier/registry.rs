//! Barriers by name.

use super::{
    Barrier, ChannelBarrier, CombiningBarrier, CountedBarrier, DefaultBarrier,
    DisseminationBarrier, FutexBarrier, Glibc2011Barrier, GroupedBarrier, McsBarrier,
    SenseOnALineBarrier, SpinSleepBarrier, TournamentBarrier,
};
use manycore_chip::Broadcast;
use manycore_platform::{Native, Platform};
use manycore_team::seam::SenseBarrier;

/// What to do with a barrier that is known by name only at run time: a closure
/// that is generic over a type.
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
/// ```
pub trait BarrierVisitor<P: Platform> {
    /// What comes of it.
    type Output;

    /// Called with the barrier.
    fn visit<B: Barrier<P>>(self) -> Self::Output;
}

/// No barrier has this name.
///
/// ```
/// use manycore::Native;
/// use manycore_programs::barrier::{Barrier, BarrierVisitor, with_barrier};
///
/// struct Nothing;
///
/// impl BarrierVisitor<Native> for Nothing {
///     type Output = ();
///
///     fn visit<B: Barrier<Native>>(self) {}
/// }
/// let error = with_barrier("chanel", Nothing).unwrap_err();
/// assert!(error.to_string().starts_with("no barrier `chanel`; there are "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no barrier `{name}`; there are {}", barriers().join(", "))]
pub struct UnknownBarrier {
    /// The name asked for.
    pub name: String,
}

/// The list, and the one place to add to: types, over the platform `$p`.
macro_rules! registry {
    ($p:ident: $($barrier:ty,)*) => {
        /// The names of the barriers there are.
        ///
        /// ```
        /// assert!(manycore_programs::barrier::barriers().contains(&"channel"));
        /// ```
        pub fn barriers() -> Vec<&'static str> {
            type $p = Native;
            vec![$(<$barrier as Barrier<$p>>::NAME),*]
        }

        /// Calls `visitor` with the barrier of this name, on the platform `P`.
        /// Whatever the visitor does is compiled once for each barrier.
        ///
        /// # Errors
        ///
        /// [`UnknownBarrier`], which lists those there are.
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
        pub fn with_barrier<$p: Broadcast, V: BarrierVisitor<$p>>(
            name: &str,
            visitor: V,
        ) -> Result<V::Output, UnknownBarrier> {
            $(
                if name == <$barrier as Barrier<$p>>::NAME {
                    return Ok(visitor.visit::<$barrier>());
                }
            )*
            Err(UnknownBarrier { name: name.into() })
        }
    };
}

registry! { P:
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
