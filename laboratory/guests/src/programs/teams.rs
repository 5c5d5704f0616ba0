//! Operations of a whole team.

use super::{Failure, expect};
use crate::calls::Calls;
use crate::runtime::{Runtime, Together};

/// The number of barriers in a region.
pub(super) const BARRIERS: u32 = 100;

/// A region without work.
pub(super) fn region<R: Runtime>(
    threads: usize,
    calls: &mut Calls,
    what: Together,
) -> Result<(), Failure> {
    has_teams::<R>()?;
    R::start(threads).enter(|_| {
        calls.make(|call| {
            R::together(what, call);
        });
    });
    let each = match what {
        Together::Barriers(barriers) => u64::from(barriers),
        _ => 1,
    };
    let right = (calls.last() + 1) * each;
    (0..threads).try_for_each(|member| expect("visits", R::visits(member), right))
}

/// A reduction of three variables.
pub(super) fn reduction<R: Runtime>(threads: usize, calls: &mut Calls) -> Result<(), Failure> {
    has_teams::<R>()?;
    let mut found = 0;
    R::start(threads).enter(|_| {
        calls.make(|call| found = R::together(Together::Reduction, call));
    });
    let (last, members) = (calls.last(), threads as u64);
    let sum = members * last + members * (members - 1) / 2;
    let right = sum + 3 * last + 5 * (last + members - 1);
    expect("the reduction", found, right)
}

fn has_teams<R: Runtime>() -> Result<(), Failure> {
    match R::TEAMS {
        true => Ok(()),
        false => Err(Failure::Lacks("teams")),
    }
}
