//! The sleep policies of rayon and of the experiment on its counters, which
//! differ in the words and lines they touch and in nothing else. `README.md`
//! beside this file says which is which, and argues the protocol.

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
