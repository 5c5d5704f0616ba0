//! As published, or repaired.

/// Whether a policy is as its authors published it, or repaired.
///
/// ```
/// use manycore_programs::sleep::Mode;
///
/// assert_eq!("as-published".parse(), Ok(Mode::AsPublished));
/// assert_eq!(Mode::Sound.to_string(), "sound");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Words, orderings and checks as published, with the wake-ups that they
    /// lose; a watchdog recovers those. For measurements only.
    AsPublished,
    /// The same words, and no wake-up lost.
    Sound,
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::AsPublished => "as-published",
            Self::Sound => "sound",
        })
    }
}

impl std::str::FromStr for Mode {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "as-published" => Ok(Self::AsPublished),
            "sound" => Ok(Self::Sound),
            _ => Err(format!(
                "unknown mode `{name}`; expected sound or as-published"
            )),
        }
    }
}
