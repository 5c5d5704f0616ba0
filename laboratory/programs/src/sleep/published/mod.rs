//! The sleep policies of rayon, and those of Fontena's experiment on rayon's counters. They differ only in the
//! memory words and cache lines of the counters. This folder's `README.md` lists the policies, and argues that
//! the protocol is right.

mod bed;
#[cfg(test)]
mod checked;
mod counters;
mod discipline;
mod one_word;
mod protocol;
#[cfg(test)]
mod tests;
mod three_words;
mod variants;

pub(super) use discipline::Discipline;
pub use discipline::{AsPublished, Sound};
pub use protocol::Published;
pub(super) use variants::Variant;
pub use variants::{
    LazyInactive, NoInactive, NoJec, NoJecPadded, NoJecSleepers, NoJecSleepersPadded, Packed,
    PackedPadded, Split, SplitPadded, SplitSleepers, SplitSleepersPadded,
};
