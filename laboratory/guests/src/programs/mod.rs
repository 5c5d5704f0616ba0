//! The programs, by name.

mod grids;
mod loops;
mod recursion;
mod results;
mod server;
mod sorts;
mod teams;

use crate::calls::Calls;
use crate::runtime::{Runtime, Together};
use recursion::Shape;

/// The names of all programs. `unit-N` has blocks of N iterations.
pub(crate) const NAMES: &[&str] = &[
    "empty",
    "fine",
    "mid",
    "coarse",
    "skew",
    "memory",
    "reduce",
    "fib",
    "tree-255",
    "tree-255-heavy",
    "tree-255-light",
    "tree-4095",
    "tree-4095-heavy",
    "tree-4095-light",
    "tree-65535",
    "tree-65535-heavy",
    "tree-65535-light",
    "quicksort",
    "mergesort",
    "blur",
    "nbody",
    "bfs",
    "server",
    "unit",
    "unit-N",
    "tasks",
    "nested",
    "region",
    "barrier",
    "reduction",
];

/// The reason why there is no result.
#[derive(Debug)]
pub(crate) enum Failure {
    Wrong(String),
    Arguments(String),
    /// The runtime lacks this operation.
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
        "nested" => joining::<R>(threads, |context| loops::nested::<R>(context, calls)),
        "memory" => inside::<R>(threads, |context| loops::memory::<R>(context, calls)),
        "blur" => inside::<R>(threads, |context| grids::blur::<R>(context, calls)),
        "nbody" => inside::<R>(threads, |context| grids::nbody::<R>(context, calls)),
        "bfs" => inside::<R>(threads, |context| grids::bfs::<R>(context, calls)),
        "quicksort" => joining::<R>(threads, |context| sorts::quicksort::<R>(context, calls)),
        "mergesort" => joining::<R>(threads, |context| sorts::mergesort::<R>(context, calls)),
        "server" => match (R::JOINS, R::SPAWNS) {
            (false, _) => Err(Failure::Lacks("join")),
            (_, false) => Err(Failure::Lacks("spawn in a scope")),
            _ => server::server(&R::start(threads), calls),
        },
        "tasks" => match R::SPAWNS {
            true => inside::<R>(threads, |context| loops::tasks::<R>(context, calls)),
            false => Err(Failure::Lacks("spawn in a scope")),
        },
        "region" => teams::region::<R>(threads, calls, Together::Region),
        "barrier" => teams::region::<R>(threads, calls, Together::Barriers(teams::BARRIERS)),
        "reduction" => teams::reduction::<R>(threads, calls),
        _ => parametrised::<R>(name, threads, calls),
    }
}

/// Runs a program whose name has a number.
fn parametrised<R: Runtime>(name: &str, threads: usize, calls: &mut Calls) -> Result<(), Failure> {
    let parts: Vec<&str> = name.split('-').collect();
    let number = |text: &str| text.parse().ok().filter(|&number| number > 0);
    let (nodes, shape) = match parts[..] {
        ["unit"] => return inside::<R>(threads, |context| loops::unit::<R>(context, calls, None)),
        ["unit", block] if number(block).is_some() => {
            let block = number(block);
            return inside::<R>(threads, |context| loops::unit::<R>(context, calls, block));
        }
        ["tree", nodes] => (number(nodes), Shape::Balanced),
        ["tree", nodes, "heavy"] => (number(nodes), Shape::HeavyFirst),
        ["tree", nodes, "light"] => (number(nodes), Shape::LightFirst),
        _ => (None, Shape::Balanced),
    };
    match nodes.filter(|&nodes| NAMES.contains(&name) && nodes > 0) {
        Some(nodes) => joining::<R>(threads, |context| {
            recursion::tree::<R>(context, calls, nodes, shape)
        }),
        None => Err(Failure::Arguments(format!(
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
