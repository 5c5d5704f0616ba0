//! Policies by name.

use super::Mode;
use super::published::{
    AnyPublished, AsPublished, Discipline, LazyInactive, NoInactive, NoJec, NoJecPadded,
    NoJecSleepers, NoJecSleepersPadded, Packed, PackedPadded, Sound, Split, SplitPadded,
    SplitSleepers, SplitSleepersPadded, Variant,
};
use manycore::sleep::Nearest;
use manycore::{Make, World};
use manycore_platform::{Native, Platform};
use std::error::Error;
use std::fmt;

/// What to do with a policy that is known by name only at run time: a closure
/// that is generic over a type.
///
/// ```
/// use manycore::{Make, Native, Pool, World};
/// use manycore_programs::sleep::{Mode, PolicyVisitor, with_policy};
///
/// struct Join;
///
/// impl PolicyVisitor<Native> for Join {
///     type Output = (i32, i32);
///
///     fn visit<W: World<Platform = Native>>(self, make: Make<W>) -> (i32, i32) {
///         let pool = Pool::builder().threads(2).in_world::<W>(make).build().unwrap();
///         pool.join(|| 1, || 2)
///     }
/// }
/// assert_eq!(with_policy("split-padded", Mode::Sound, Join), Ok((1, 2)));
/// ```
pub trait PolicyVisitor<P: Platform> {
    /// What comes of it.
    type Output;

    /// Called with how the policy is made.
    fn visit<W: World<Platform = P>>(self, make: Make<W>) -> Self::Output;
}

/// No policy has this name, in this mode.
///
/// ```
/// use manycore_programs::sleep::{Mode, UnknownPolicy};
///
/// let error = UnknownPolicy { name: "spilt".into(), mode: Mode::Sound };
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

/// A policy by name and mode, and how it is made.
type Entry<P> = (&'static str, Mode, Make<AnyPublished<P>>);

/// The published policies, and the one place to add to.
macro_rules! registry {
    ($($variant:ident: $($mode:ident)*,)*) => {
        fn published<P: Platform>() -> Vec<Entry<P>> {
            vec![$($((
                <$variant as Variant>::NAME,
                <$mode as Discipline>::MODE,
                AnyPublished::of::<$variant, $mode> as Make<AnyPublished<P>>,
            )),*),*]
        }
    };
}

registry! {
    Packed: Sound AsPublished,
    PackedPadded: Sound AsPublished,
    Split: Sound AsPublished,
    SplitPadded: Sound AsPublished,
    SplitSleepers: Sound AsPublished,
    SplitSleepersPadded: Sound AsPublished,
    NoJec: Sound AsPublished,
    NoJecPadded: Sound AsPublished,
    NoJecSleepers: Sound AsPublished,
    NoJecSleepersPadded: Sound AsPublished,
    LazyInactive: Sound AsPublished,
    NoInactive: Sound AsPublished,
}

/// The one of applications.
const OURS: (&str, Mode) = ("ours", Mode::Sound);

/// The policies there are, by name and mode: ours, the sound ones, those as published.
///
/// ```
/// use manycore_programs::sleep::{Mode, policies};
///
/// assert!(policies().contains(&("nojec-sleepers-padded", Mode::AsPublished)));
/// ```
pub fn policies() -> Vec<(&'static str, Mode)> {
    let published = published::<Native>();
    let of = |wanted: Mode| {
        let in_mode = published.iter().filter(move |entry| entry.1 == wanted);
        in_mode.map(|&(name, mode, _)| (name, mode))
    };
    let all = [OURS].into_iter().chain(of(Mode::Sound));
    all.chain(of(Mode::AsPublished)).collect()
}

/// Calls `visitor` with the policy of this name and mode, on the platform `P`. Whatever the
/// visitor does is compiled twice: for ours, and for all published ones, which share a type.
///
/// # Errors
///
/// [`UnknownPolicy`], which lists those there are.
///
/// [`PolicyVisitor`] has an example.
pub fn with_policy<P: Platform, V: PolicyVisitor<P>>(
    name: &str,
    mode: Mode,
    visitor: V,
) -> Result<V::Output, UnknownPolicy> {
    if (name, mode) == OURS {
        return Ok(visitor.visit::<P>(Nearest::new));
    }
    let entries = published::<P>();
    match entries
        .iter()
        .find(|entry| (entry.0, entry.1) == (name, mode))
    {
        Some(entry) => Ok(visitor.visit::<AnyPublished<P>>(entry.2)),
        None => Err(UnknownPolicy {
            name: name.into(),
            mode,
        }),
    }
}
