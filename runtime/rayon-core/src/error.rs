//! The error of a pool that cannot be made.

use manycore::BuildError;
use std::error::Error;
use std::{fmt, io};

/// The reason why a pool could not be made.
///
/// ```
/// let nobody = rayon_core::ThreadPoolBuilder::new()
///     .num_threads(1)
///     .spawn_handler(|_| Err(std::io::Error::other("no thread today")));
/// assert_eq!(nobody.build().unwrap_err().to_string(), "no thread today");
/// ```
#[derive(Debug)]
pub struct ThreadPoolBuildError(Why);

#[derive(Debug)]
enum Why {
    GlobalExists,
    InPool,
    Io(io::Error),
}

impl ThreadPoolBuildError {
    pub(crate) fn global_exists() -> Self {
        Self(Why::GlobalExists)
    }

    /// Whether this system has no threads.
    pub(crate) fn is_unsupported(&self) -> bool {
        matches!(&self.0, Why::Io(error) if error.kind() == io::ErrorKind::Unsupported)
    }
}

impl From<BuildError> for ThreadPoolBuildError {
    fn from(error: BuildError) -> Self {
        Self(match error {
            BuildError::AlreadyInPool => Why::InPool,
            BuildError::Spawn { source, .. } => Why::Io(source),
            other => Why::Io(io::Error::other(other)),
        })
    }
}

impl fmt::Display for ThreadPoolBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The first two messages are rayon's own, since programs compare them.
        match &self.0 {
            Why::GlobalExists => {
                f.write_str("The global thread pool has already been initialized.")
            }
            Why::InPool => {
                f.write_str("The current thread is already part of another thread pool.")
            }
            Why::Io(error) => error.fmt(f),
        }
    }
}

impl Error for ThreadPoolBuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            Why::Io(error) => Some(error),
            Why::GlobalExists | Why::InPool => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_is_the_systems_error() {
        let error = ThreadPoolBuildError(Why::Io(io::ErrorKind::WouldBlock.into()));
        let source = error.source().and_then(|it| it.downcast_ref::<io::Error>());
        assert_eq!(source.map(io::Error::kind), Some(io::ErrorKind::WouldBlock));
    }
}
