//! As published, or repaired.

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
        /// Words, orderings and checks as published, with the wake-ups that they
        /// lose; a watchdog recovers those. For measurements only.
        AsPublished = "as-published",
        /// The same words, and no wake-up lost.
        Sound = "sound",
    }
}
