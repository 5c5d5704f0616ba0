//! Threads that request work of several kinds at the same time.

use super::recursion::fibonacci;
use super::results::Results;
use super::{Failure, expect};
use crate::calls::Calls;
use crate::runtime::Runtime;
use crate::work::{FIFTH_OF_A_US, spin};

const CALLERS: usize = 3;

/// Iterations and tasks of a request, and the index of its Fibonacci number.
const ITERATIONS: usize = 256;
const TASKS: usize = 16;
const INDEX: u64 = 12;

/// Each caller's requests are a loop, a recursion, and a few spawned tasks. A call's time is the
/// mean over the callers.
pub(super) fn server<R: Runtime>(pool: &R, calls: &mut Calls) -> Result<(), Failure> {
    let done: Vec<Result<Calls, Failure>> = std::thread::scope(|scope| {
        let callers = [(); CALLERS].map(|()| {
            let mut calls = calls.clone();
            scope.spawn(move || caller(pool, &mut calls).map(|()| calls))
        });
        let callers = callers.into_iter();
        callers
            .map(|caller| caller.join().expect("a panic ends the process"))
            .collect()
    });
    let done: Result<Vec<Calls>, Failure> = done.into_iter().collect();
    *calls = Calls::mean(&done?);
    Ok(())
}

fn caller<R: Runtime>(pool: &R, calls: &mut Calls) -> Result<(), Failure> {
    let (loops, tasks) = (Results::new(ITERATIONS), Results::new(TASKS));
    let mut number = 0;
    let value = |at: u64, call: u64| spin(at ^ call, FIFTH_OF_A_US);
    calls.make(|call| {
        number = pool.enter(|context| {
            R::parallel_for(context, ITERATIONS, |at| {
                loops.set(at, value(at as u64, call))
            });
            R::fork(context, |context| {
                R::spawn_each(context, TASKS, |at| tasks.set(at, value(at as u64, call)));
                fibonacci::<R>(context, INDEX)
            })
        });
    });
    expect("fib", number, 144)?;
    loops.expect(|at| value(at, calls.last()))?;
    tasks.expect(|at| value(at, calls.last()))
}
