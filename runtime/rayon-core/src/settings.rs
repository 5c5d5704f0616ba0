//! The settings that rayon lacks. They come from the environment, so that a program need not change, or from an
//! extension of the builder.

use crate::builder::ThreadPoolBuilder;
use manycore::seam::BuilderExt;
use manycore::{Affinity, Builder, topology};
use std::env;
use std::error::Error;

/// The settings of one pool.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    affinity: Affinity,
    pub(crate) follow: bool,
    callers: bool,
    reserve: bool,
    scopes_alone: bool,
    lazy: bool,
}

impl Settings {
    /// Reads the settings from the environment. Reports and ignores an invalid value: the program did not ask for this
    /// crate, and must not end because of it.
    pub(crate) fn of_environment() -> Self {
        let switch = |name, default| match env::var(name).as_deref() {
            Err(_) | Ok("") => default,
            Ok("0") => false,
            Ok("1") => true,
            Ok(other) => {
                eprintln!("manycore: {name}={other} is ignored; expected 0 or 1");
                default
            }
        };
        let affinity = match env::var("MANYCORE_AFFINITY").as_deref() {
            Err(_) | Ok("") => Affinity::None,
            Ok(text) => affinity_of(text).unwrap_or_else(|error| {
                eprintln!("manycore: MANYCORE_AFFINITY={text} is ignored: {error}");
                Affinity::None
            }),
        };
        Self {
            affinity,
            follow: switch("MANYCORE_FOLLOW", false),
            callers: switch("MANYCORE_CALLERS", false),
            reserve: switch("MANYCORE_RESERVE", true),
            scopes_alone: switch("MANYCORE_SCOPES_ALONE", false),
            lazy: switch("MANYCORE_LAZY", false),
        }
    }

    /// Applies the settings to `builder`.
    pub(crate) fn apply(&self, builder: Builder) -> Builder {
        builder
            .affinity(self.affinity.clone())
            .dedicated(!self.callers)
            .reserve(self.reserve)
            .scopes_help_outer(!self.scopes_alone)
            .lazy(self.lazy)
    }
}

/// The affinity in `text`, if this process may use its CPUs: the machine or the container may have other CPUs than the
/// author of the variable expected.
fn affinity_of(text: &str) -> Result<Affinity, Box<dyn Error>> {
    let affinity: Affinity = text.parse()?;
    affinity.assign(&topology::recent(), 1)?;
    Ok(affinity)
}

/// Settings that rayon's builder lacks. Each setting also has an environment variable, for programs that cannot be
/// changed. A call overrides the variable.
///
/// ```
/// use rayon_core::{ThreadPoolBuilder, ThreadPoolBuilderExt};
///
/// let pool = ThreadPoolBuilder::new().num_threads(2).callers_take_part(true).build()?;
/// let here = std::thread::current().id();
/// assert_eq!(pool.install(|| std::thread::current().id()), here);
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
pub trait ThreadPoolBuilderExt: Sized {
    /// Binds the threads to CPUs. Variable: `MANYCORE_AFFINITY`, by default `none`.
    #[must_use]
    fn affinity(self, affinity: Affinity) -> Self;

    /// Sets whether the pool follows the cores that the system leaves. Variable: `MANYCORE_FOLLOW`, by default `0`. A
    /// separate thread, which takes 0.5% of a CPU, watches the cores.
    #[must_use]
    fn follow_cores(self, follow: bool) -> Self;

    /// Sets whether a thread that calls the pool from outside acts as a thread of the pool during the call. Variable:
    /// `MANYCORE_CALLERS`, by default `0`, as in rayon. With `1` an installed call needs no hand-over, but runs on its
    /// caller's thread, stack and thread-local variables.
    #[must_use]
    fn callers_take_part(self, take_part: bool) -> Self;

    /// Sets whether the pool may start another thread in place of a waiting thread. Variable: `MANYCORE_RESERVE`, by
    /// default `1`. A pool with a spawn handler has no reserve. Without a reserve a waiting worker runs unrelated
    /// jobs, as rayon's workers do. Start handlers and exit handlers also see the threads of the reserve.
    #[must_use]
    fn reserve(self, reserve: bool) -> Self;

    /// Sets whether a thread at the end of a scope runs no jobs of the scopes around it. Variable:
    /// `MANYCORE_SCOPES_ALONE`, by default `0`, as in rayon. With `1` a thread that holds a lock around an inner scope
    /// runs no job of the outer scope, which might need the lock.
    #[must_use]
    fn scopes_alone(self, alone: bool) -> Self;

    /// Sets whether the pool starts its threads when there is work for them, and not when it is built. Variable:
    /// `MANYCORE_LAZY`, by default `0`, as in rayon. Start handlers run when the threads start. A pool with a spawn
    /// handler starts its threads at once.
    #[must_use]
    fn lazy(self, lazy: bool) -> Self;
}

impl<S> ThreadPoolBuilderExt for ThreadPoolBuilder<S> {
    fn affinity(mut self, affinity: Affinity) -> Self {
        self.settings.affinity = affinity;
        self
    }

    fn follow_cores(mut self, follow: bool) -> Self {
        self.settings.follow = follow;
        self
    }

    fn callers_take_part(mut self, take_part: bool) -> Self {
        self.settings.callers = take_part;
        self
    }

    fn reserve(mut self, reserve: bool) -> Self {
        self.settings.reserve = reserve;
        self
    }

    fn scopes_alone(mut self, alone: bool) -> Self {
        self.settings.scopes_alone = alone;
        self
    }

    fn lazy(mut self, lazy: bool) -> Self {
        self.settings.lazy = lazy;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_affinity_that_the_machine_does_not_have_is_refused() {
        assert_eq!(affinity_of("compact").unwrap(), Affinity::Compact);
        for wrong in ["0-1000000", "somewhere"] {
            assert!(affinity_of(wrong).is_err(), "{wrong}");
        }
    }
}
