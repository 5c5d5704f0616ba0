//! Programs that divide their work by joins.

use super::{Failure, expect};
use crate::calls::Calls;
use crate::runtime::Runtime;

/// Fibonacci's number, with a join at every call.
pub(super) fn fib<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
) -> Result<(), Failure> {
    const INDEX: u64 = 22;
    let mut found = 0;
    calls.make(|_| found = R::fork(context, |context| fibonacci::<R>(context, INDEX)));
    expect("fib", found, 17_711)
}

fn fibonacci<R: Runtime>(context: &mut R::Context<'_>, index: u64) -> u64 {
    if index < 2 {
        return index;
    }
    let (a, b) = R::join(
        context,
        |context| fibonacci::<R>(context, index - 1),
        |context| fibonacci::<R>(context, index - 2),
    );
    a + b
}
