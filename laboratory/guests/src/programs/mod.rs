//! The programs, by name.

mod loops;
mod recursion;

use crate::calls::Calls;
use crate::runtime::Runtime;

/// What a user may ask for.
pub(crate) const NAMES: &[&str] = &["empty", "fine", "mid", "coarse", "skew", "reduce", "fib"];

/// Why there is no result.
#[derive(Debug)]
pub(crate) enum Failure {
    Wrong(String),
    Arguments(String),
    /// What the runtime has not.
    Lacks(&'static str),
}

/// Makes the calls of a program, and verifies the result.
pub(crate) fn run<R: Runtime>(
    name: &str,
    threads: usize,
    calls: &mut Calls,
) -> Result<(), Failure> {
    match name {
        "empty" => inside::<R>(threads, |context| loops::empty::<R>(context, calls)),
        "fine" => inside::<R>(threads, |context| loops::fine::<R>(context, calls)),
        "mid" => inside::<R>(threads, |context| loops::mid::<R>(context, calls)),
        "coarse" => inside::<R>(threads, |context| loops::coarse::<R>(context, calls)),
        "skew" => inside::<R>(threads, |context| loops::skew::<R>(context, calls)),
        "reduce" => inside::<R>(threads, |context| loops::reduce::<R>(context, calls)),
        "fib" => joining::<R>(threads, |context| recursion::fib::<R>(context, calls)),
        _ => Err(Failure::Arguments(format!(
            "{name}: expected one of {}",
            NAMES.join(", ")
        ))),
    }
}

/// Runs a program inside a pool.
fn inside<R: Runtime>(
    threads: usize,
    program: impl FnOnce(&mut R::Context<'_>) -> Result<(), Failure> + Send,
) -> Result<(), Failure> {
    R::start(threads).enter(program)
}

/// Runs a program with joins inside a pool.
fn joining<R: Runtime>(
    threads: usize,
    program: impl FnOnce(&mut R::Context<'_>) -> Result<(), Failure> + Send,
) -> Result<(), Failure> {
    match R::JOINS {
        true => inside::<R>(threads, program),
        false => Err(Failure::Lacks("join")),
    }
}

/// Compares a result with the right one.
fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: T, right: T) -> Result<(), Failure> {
    match found == right {
        true => Ok(()),
        false => Err(Failure::Wrong(format!(
            "{what}: expected {right:?}, found {found:?}"
        ))),
    }
}
