//! The modes of a sleep policy: as published, or repaired.

use crate::by_name;

by_name! {
    /// Whether a policy is as its authors published it, or repaired.
    ///
    /// ```
    /// use manycore_programs::sleep::Mode;
    ///
    /// assert_eq!("as-published".parse(), Ok(Mode::AsPublished));
    /// assert_eq!(Mode::Sound.to_string(), "sound");
    /// ```
    pub enum Mode: "unknown mode", "expected some of" {
        /// Words, orderings and checks are as published. This mode loses wake-ups, and a watchdog recovers them. It is
        /// only for measurements.
        AsPublished = "as-published",
        /// The same words, without lost wake-ups.
        Sound = "sound",
    }
}
