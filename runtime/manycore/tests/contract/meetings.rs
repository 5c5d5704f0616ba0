//! Items of one loop that wait for each other, and scopes whose body waits for their jobs.

use manycore::Pool;
use manycore::prelude::*;
use std::sync::{Barrier, mpsc};

/// No more items than threads meet, in every run of a loop that has only such runs.
#[test]
fn items_of_a_loop_meet() {
    for threads in 2..=4 {
        let pool = Pool::builder().threads(threads).build().unwrap();
        for items in 2..=threads {
            let barrier = Barrier::new(items);
            for _ in 0..if cfg!(miri) { 2 } else { 300 } {
                pool.parallel_for(0..items, |_| _ = barrier.wait());
            }
            for _ in 0..if cfg!(miri) { 2 } else { 100 } {
                pool.install(|| (0..items).into_par_iter().for_each(|_| _ = barrier.wait()));
            }
        }
    }
}

/// Also if the pool has one thread, as on a machine of one CPU.
#[test]
fn the_body_of_a_scope_in_place_receives_from_its_jobs() {
    for threads in 1..=2 {
        let pool = Pool::builder().threads(threads).build().unwrap();
        let sum = pool.in_place_scope(|scope| {
            let (send, receive) = mpsc::channel();
            for number in 0..20 {
                let send = send.clone();
                scope.spawn(move |_| send.send(number).unwrap());
            }
            drop(send);
            receive.iter().sum::<u32>()
        });
        assert_eq!(sum, 190);
    }
}
