//! Policies by name.

use super::Mode;
use super::published::{
    AsPublished, Discipline, LazyInactive, NoInactive, NoJec, NoJecPadded, NoJecSleepers,
    NoJecSleepersPadded, Packed, PackedPadded, Published, Sound, Split, SplitPadded, SplitSleepers,
    SplitSleepersPadded, Variant,
};
use crate::UnknownName;
use manycore::seam::Make;
use manycore_platform::{Native, Platform};

/// A policy's name and mode, and the function that makes it.
type Entry<P> = (&'static str, Mode, Make<P>);

/// The published policies. A new policy needs only an entry here.
macro_rules! registry {
    ($($variant:ident: $($mode:ident)*,)*) => {
        fn published<P: Platform>() -> Vec<Entry<P>> {
            vec![$($((
                <$variant as Variant>::NAME,
                <$mode as Discipline>::MODE,
                Published::<P, $variant, $mode>::boxed as Make<P>,
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

/// The sleep policy of `manycore`.
const OURS: (&str, Mode) = ("ours", Mode::Sound);

/// All policies, by name and mode: manycore's policy, then the policies in the sound mode, then those as published.
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

/// How to make the policy with this name and mode, for [`BuilderExt::policy`](manycore::seam::BuilderExt::policy).
/// `None` stands for manycore's own policy.
///
/// # Errors
///
/// If no policy has this name in this mode. The error lists all names.
///
/// ```
/// use manycore::Pool;
/// use manycore::seam::BuilderExt;
/// use manycore_programs::sleep::{Mode, policy};
///
/// let split = policy("split-padded", Mode::Sound)?;
/// let pool = Pool::builder().threads(2).policy(split).build()?;
/// assert_eq!(pool.join(|| 1, || 2), (1, 2));
/// let error = policy::<manycore::Native>("spilt", Mode::Sound).unwrap_err();
/// assert!(error.to_string().starts_with("no sleep policy of mode sound is called `spilt`; there are ours,"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn policy<P: Platform>(name: &str, mode: Mode) -> Result<Option<Make<P>>, UnknownName> {
    if (name, mode) == OURS {
        return Ok(None);
    }
    let entries = published::<P>();
    let entry = (entries.iter()).find(|entry| (entry.0, entry.1) == (name, mode));
    match entry {
        Some(entry) => Ok(Some(entry.2)),
        None => {
            let in_mode = policies().into_iter().filter(|policy| policy.1 == mode);
            let refusal = match mode {
                Mode::Sound => "no sleep policy of mode sound is called",
                Mode::AsPublished => "no sleep policy of mode as-published is called",
            };
            let names = in_mode.map(|(name, _)| name).collect();
            Err(UnknownName::among(names, refusal, name))
        }
    }
}
