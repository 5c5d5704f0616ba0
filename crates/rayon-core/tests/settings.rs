//! What this crate's builder can do and rayon's cannot.

use rayon_core::{ThreadPoolBuilder, ThreadPoolBuilderExt, join, scope};
use std::sync::{Mutex, mpsc};
use std::thread;

#[test]
fn callers_take_part_or_hand_over() {
    let here = thread::current().id();
    let runs_on = |take_part| {
        let builder = ThreadPoolBuilder::new().num_threads(2);
        let pool = builder.callers_take_part(take_part).build().unwrap();
        pool.install(|| thread::current().id())
    };
    assert_eq!(runs_on(true), here);
    assert_ne!(runs_on(false), here);
}

#[test]
fn scopes_help_outer_ones_or_not() {
    let order = |alone| {
        let builder = ThreadPoolBuilder::new().num_threads(1);
        let pool = builder.scopes_alone(alone).build().unwrap();
        let order = Mutex::new(Vec::new());
        let note = |what| order.lock().unwrap().push(what);
        pool.install(|| {
            scope(|outer| {
                scope(|inner| {
                    inner.spawn(|_| note("inner"));
                    outer.spawn(|_| note("outer"));
                });
                note("end");
            });
        });
        order.into_inner().unwrap()
    };
    assert_eq!(order(false), ["outer", "inner", "end"]);
    assert_eq!(order(true), ["inner", "end", "outer"]);
}

/// Handlers see each thread once, whatever waits.
#[test]
fn a_pool_with_handlers_has_no_reserve() {
    let (tell, starts) = mpsc::channel();
    let builder = ThreadPoolBuilder::new().num_threads(2);
    let pool = builder
        .start_handler(move |index| tell.send(index).unwrap())
        .build()
        .unwrap();
    let other = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        for _ in 0..20 {
            other.install(|| thread::sleep(std::time::Duration::from_millis(1)));
            join(|| (), || thread::sleep(std::time::Duration::from_millis(1)));
        }
    });
    drop(pool);
    // The handler goes with the last thread.
    let mut indices: Vec<_> = starts.iter().collect();
    indices.sort_unstable();
    assert_eq!(indices, [0, 1]);
}

/// A pool's end waits for nobody, and all that was spawned runs.
#[test]
fn dropping_a_pool_waits_for_nothing() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let (go, wait) = mpsc::channel::<()>();
    let (tell, told) = mpsc::channel();
    pool.spawn(move || {
        wait.recv().unwrap();
        tell.send(5).unwrap();
    });
    drop(pool);
    go.send(()).unwrap();
    assert_eq!(told.recv(), Ok(5));
}
