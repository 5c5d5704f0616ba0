//! Policies by name.

use super::published::{
    AsPublished, LazyInactive, NoInactive, NoJec, NoJecPadded, NoJecSleepers, NoJecSleepersPadded,
    Packed, PackedPadded, Published, Sound, Split, SplitPadded, SplitSleepers, SplitSleepersPadded,
};
use manycore::sleep::{Mode, Nearest, Sleep};
use manycore_platform::{Native, Platform};
use std::error::Error;
use std::fmt;

/// What to do with a policy that is known by name only at run time: a closure
/// that is generic over a type.
///
/// ```
/// use manycore::sleep::{Mode, Sleep};
/// use manycore_research::sleep::{PolicyVisitor, with_policy};
/// use manycore::Native;
///
/// struct Size;
///
/// impl PolicyVisitor<Native> for Size {
///     type Output = usize;
///
///     fn visit<S: Sleep<Native>>(self) -> usize {
///         size_of::<S>()
///     }
/// }
/// let size = |name| with_policy(name, Mode::Sound, Size).unwrap();
/// assert!(size("split-padded") > size("split"));
/// ```
pub trait PolicyVisitor<P: Platform> {
    /// What comes of it.
    type Output;

    /// Called with the policy.
    fn visit<S: Sleep<P>>(self) -> Self::Output;
}

/// No policy has this name, in this mode.
///
/// ```
/// use manycore::sleep::{Mode, Sleep};
/// use manycore_research::sleep::{PolicyVisitor, with_policy};
/// use manycore::Native;
///
/// struct Nothing;
///
/// impl PolicyVisitor<Native> for Nothing {
///     type Output = ();
///
///     fn visit<S: Sleep<Native>>(self) {}
/// }
/// let error = with_policy("spilt", Mode::Sound, Nothing).unwrap_err();
/// assert!(error.to_string().starts_with("no sleep policy `spilt` in mode sound; there are ours, packed,"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPolicy {
    /// The name asked for.
    pub name: String,
    /// The mode asked for.
    pub mode: Mode,
}

impl fmt::Display for UnknownPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, mode) = (&self.name, self.mode);
        let names = names(mode);
        write!(
            f,
            "no sleep policy `{name}` in mode {mode}; there are {names}"
        )
    }
}

impl Error for UnknownPolicy {}

fn names(mode: Mode) -> String {
    let in_mode = policies().into_iter().filter(|policy| policy.1 == mode);
    let names: Vec<_> = in_mode.map(|(name, _)| name).collect();
    names.join(", ")
}

/// The list, and the one place to add to: types, over the platform `$p`.
macro_rules! registry {
    ($p:ident: $($policy:ty,)*) => {
        /// The policies there are, by name and mode.
        ///
        /// ```
        /// use manycore::sleep::Mode;
        /// use manycore_research::sleep::policies;
        ///
        /// assert!(policies().contains(&("nojec-sleepers-padded", Mode::AsPublished)));
        /// ```
        pub fn policies() -> Vec<(&'static str, Mode)> {
            type $p = Native;
            vec![$((<$policy as Sleep<$p>>::NAME, <$policy as Sleep<$p>>::MODE)),*]
        }

        /// Calls `visitor` with the policy of this name and mode, on the
        /// platform `P`. Whatever the visitor does is compiled once for each
        /// policy.
        ///
        /// # Errors
        ///
        /// [`UnknownPolicy`], which lists those there are.
        ///
        /// ```
        /// use manycore::sleep::{Mode, Sleep};
        /// use manycore_research::sleep::{PolicyVisitor, policies, with_policy};
        /// use manycore::Native;
        ///
        /// struct Name;
        ///
        /// impl PolicyVisitor<Native> for Name {
        ///     type Output = (&'static str, Mode);
        ///
        ///     fn visit<S: Sleep<Native>>(self) -> Self::Output {
        ///         (S::NAME, S::MODE)
        ///     }
        /// }
        /// for (name, mode) in policies() {
        ///     assert_eq!(with_policy(name, mode, Name), Ok((name, mode)));
        /// }
        /// ```
        pub fn with_policy<$p: Platform, V: PolicyVisitor<$p>>(
            name: &str,
            mode: Mode,
            visitor: V,
        ) -> Result<V::Output, UnknownPolicy> {
            $(
                if (name, mode) == (<$policy as Sleep<$p>>::NAME, <$policy as Sleep<$p>>::MODE) {
                    return Ok(visitor.visit::<$policy>());
                }
            )*
            let name = name.into();
            Err(UnknownPolicy { name, mode })
        }
    };
}

registry! { P:
    Nearest<P>,
    Published<P, Packed, Sound>,
    Published<P, PackedPadded, Sound>,
    Published<P, Split, Sound>,
    Published<P, SplitPadded, Sound>,
    Published<P, SplitSleepers, Sound>,
    Published<P, SplitSleepersPadded, Sound>,
    Published<P, NoJec, Sound>,
    Published<P, NoJecPadded, Sound>,
    Published<P, NoJecSleepers, Sound>,
    Published<P, NoJecSleepersPadded, Sound>,
    Published<P, LazyInactive, Sound>,
    Published<P, NoInactive, Sound>,
    Published<P, Packed, AsPublished>,
    Published<P, PackedPadded, AsPublished>,
    Published<P, Split, AsPublished>,
    Published<P, SplitPadded, AsPublished>,
    Published<P, SplitSleepers, AsPublished>,
    Published<P, SplitSleepersPadded, AsPublished>,
    Published<P, NoJec, AsPublished>,
    Published<P, NoJecPadded, AsPublished>,
    Published<P, NoJecSleepers, AsPublished>,
    Published<P, NoJecSleepersPadded, AsPublished>,
    Published<P, LazyInactive, AsPublished>,
    Published<P, NoInactive, AsPublished>,
}
