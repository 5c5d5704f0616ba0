//! The variants of the published sleep policies: their counters, words and cache lines.

use super::counters::{Counters, OwnLine, SharedLine};
use super::one_word::OneWord;
use super::three_words::{Inactive, Shape, ThreeWords};
use manycore_platform::Platform;

/// The differences between the published policies.
pub trait Variant: Send + Sync + 'static {
    const NAME: &'static str;
    type Counters<P: Platform>: Counters<P>;
}

/// Declares a type with documentation, an example and its `Variant`.
macro_rules! variant {
    ($(#[doc = $doc:literal])* $variant:ident = $name:literal, $counters:ident<$shape:ty>) => {
        $(#[doc = $doc])*
        ///
        /// ```
        #[doc = concat!("use manycore_programs::sleep::published::{Published, ", stringify!($variant), "};")]
        /// use manycore::Native;
        ///
        #[doc = concat!("type Policy = Published<Native, ", stringify!($variant), ">;")]
        #[doc = concat!("assert_eq!(Policy::NAME, \"", $name, "\");")]
        /// ```
        #[derive(Clone, Copy, Debug)]
        pub struct $variant;

        impl Variant for $variant {
            const NAME: &'static str = $name;
            type Counters<P: Platform> = $counters<P, $shape>;
        }
    };
}

/// Declares a variant with three words. Its type is also their shape.
macro_rules! split {
    ($(#[doc = $doc:literal])* $variant:ident = $name:literal, $line:ty, jec: $jec:literal, $inactive:ident) => {
        variant!($(#[doc = $doc])* $variant = $name, ThreeWords<$variant>);

        impl Shape for $variant {
            type Line = $line;
            const JEC: bool = $jec;
            const INACTIVE: Inactive = Inactive::$inactive;
        }
    };
}

variant!(
    /// rayon's policy: the three counters in one word. The rest of the word's line is read-only data.
    Packed = "packed", OneWord<SharedLine>
);
variant!(
    /// rayon's word on a line of its own (not among the published).
    PackedPadded = "packed-padded", OneWord<OwnLine>
);
split!(
    /// Three words on one line; a post reads all of them.
    Split = "split", SharedLine, jec: true, Read
);
split!(
    /// Three words on three lines; a post reads all of them.
    SplitPadded = "split-padded", OwnLine, jec: true, Read
);
split!(
    /// Three words on one line; a post reads the JEC (jobs event counter) and the sleepers (not among the published).
    SplitSleepers = "split-sleepers", SharedLine, jec: true, Kept
);
split!(
    /// Three words on three lines; a post reads the JEC and the sleepers.
    SplitSleepersPadded = "split-sleepers-padded", OwnLine, jec: true, Kept
);
split!(
    /// Two words on one line, no JEC; a post reads both.
    NoJec = "nojec", SharedLine, jec: false, Read
);
split!(
    /// Two words on two lines, no JEC; a post reads both.
    NoJecPadded = "nojec-padded", OwnLine, jec: false, Read
);
split!(
    /// Two words on one line, no JEC; a post reads the sleepers.
    NoJecSleepers = "nojec-sleepers", SharedLine, jec: false, Kept
);
split!(
    /// Two words on two lines, no JEC; a post reads the sleepers.
    NoJecSleepersPadded = "nojec-sleepers-padded", OwnLine, jec: false, Kept
);
split!(
    /// Two words on two lines, no JEC; a post reads the sleepers, and the inactive threads only if there
    /// are sleepers (not among the published).
    LazyInactive = "lazy-inactive", OwnLine, jec: false, ReadLate
);
split!(
    /// One word on its own line, which counts the sleepers. Idle threads that do not sleep are not counted (not among
    /// the published).
    NoInactive = "no-inactive", OwnLine, jec: false, Absent
);
