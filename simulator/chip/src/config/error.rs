//! Errors in a machine's description. Each message is one line.

/// The reason why a [`Config`](super::Config) cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A machine's file does not describe a machine.
    #[error("{file}:{line}: {problem}")]
    InFile {
        /// The name of the file, as the caller gave it.
        file: String,
        /// The line's number, from 1.
        line: usize,
        /// The key, and what was expected.
        problem: String,
    },
    /// A `key=value` does not fit the machine.
    #[error("--set {setting}: {problem}")]
    InSetting {
        /// The whole `key=value`.
        setting: String,
        /// The key, and what was expected.
        problem: String,
    },
    /// The name is neither a preset nor a path.
    #[error("no machine `{name}`, expected a path ending in .toml or one of {known}")]
    UnknownMachine {
        /// The requested name.
        name: String,
        /// The presets, separated by commas.
        known: String,
    },
    /// The file cannot be read.
    #[error("{file}: cannot be read: {reason}; expected a machine's file")]
    Unreadable {
        /// The file's path.
        file: String,
        /// The message of the host's operating system.
        reason: String,
    },
}

/// An error in the value at a dotted key. An empty key means the whole machine.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) key: String,
    pub(super) what: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.key.is_empty() {
            f.write_str(&self.what)
        } else {
            write!(f, "{}: {}", self.key, self.what)
        }
    }
}
