//! A pool's threads: their names, handlers and makers. Pools that end without waiting.

use manycore::seam::{self, BuilderExt};
use manycore::{BuildError, Pool};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, mpsc};
use std::time::Duration;
use std::{io, thread};

/// The name function is called just before its thread is made.
#[test]
fn a_name_that_panics_leaves_no_thread() {
    let (sender, ends) = mpsc::channel();
    let builder = Pool::builder()
        .threads(4)
        .dedicated(true)
        .on_thread_exit(move |index| sender.send(index).unwrap())
        .names(|index| match index {
            2 => resume_unwind(Box::new("no name")),
            _ => format!("named {index}"),
        });
    let built = catch_unwind(AssertUnwindSafe(|| builder.build().map(drop)));
    assert_eq!(built.unwrap_err().downcast_ref(), Some(&"no name"));
    drop(builder);
    let mut ended: Vec<usize> = ends.iter().collect();
    ended.sort_unstable();
    assert_eq!(ended, [0, 1]);
}

#[test]
fn a_handler_of_starts_that_panics() {
    let (sender, panics) = mpsc::channel();
    let pool = Pool::builder()
        .threads(2)
        .dedicated(true)
        .on_thread_start(|index| resume_unwind(Box::new(index)))
        .panic_handler(move |payload| sender.send(*payload.downcast::<usize>().unwrap()).unwrap())
        .build()
        .unwrap();
    assert_eq!(pool.join(|| 1, || 2), (1, 2));
    drop(pool);
    let mut indices: Vec<usize> = panics.iter().collect();
    indices.sort_unstable();
    assert_eq!(indices, [0, 1]);
}

/// Builds a pool of three threads that `make` starts.
fn with_maker(
    mut make: impl FnMut(seam::ThreadStart) -> io::Result<()>,
) -> Result<Pool, BuildError> {
    seam::build(&Pool::builder().threads(3), None, Some(&mut make))
}

/// The caller's function starts the pool's threads. Either all start, or the error names the missing one.
#[test]
fn threads_of_another_maker() {
    let mut threads = Vec::new();
    let pool = with_maker(|start| {
        threads.push(thread::spawn(|| start.run()));
        Ok(())
    });
    let pool = pool.unwrap();
    let ran = pool.broadcast(|context| (context.index(), thread::current().id()));
    for (index, thread) in ran {
        assert_eq!(thread, threads[index].thread().id());
    }
    drop(pool);
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());

    let mut made = Vec::new();
    let error = with_maker(|start| {
        if start.index() == 1 {
            return Err(io::Error::other("enough"));
        }
        made.push(thread::spawn(|| start.run()));
        Ok(())
    });
    let error = error.unwrap_err();
    assert!(
        matches!(&error, BuildError::Spawn { rank: 1, .. }),
        "{error}"
    );
    made.into_iter().for_each(|thread| thread.join().unwrap());
}

/// A thread that was made before the failure sends jobs to threads that are never made. The maker fails or panics.
#[test]
fn a_handler_that_broadcasts_to_threads_that_are_never_made() {
    for case in 0..if cfg!(miri) { 4 } else { 60 } {
        crate::live::ends(&format!("case {case}"), move || {
            let (threads, fails) = (2 + case % 3, 1 + case % 3 / 2);
            let builder = Pool::builder().threads(threads);
            let builder = builder.on_thread_start(|_| _ = manycore::broadcast(|_| ()));
            let mut made = Vec::new();
            let mut make = |start: seam::ThreadStart| {
                if start.index() < fails {
                    made.push(thread::spawn(|| start.run()));
                    return Ok(());
                }
                thread::sleep(Duration::from_millis(case as u64 % 5));
                match case % 2 {
                    0 => Err(io::Error::other("enough")),
                    _ => resume_unwind(Box::new("enough")),
                }
            };
            let build = || seam::build(&builder, None, Some(&mut make)).map(drop);
            let built = catch_unwind(AssertUnwindSafe(build));
            assert!(!matches!(built, Ok(Ok(()))));
            made.into_iter().for_each(|thread| thread.join().unwrap());
        });
    }
}

/// A thread that waits in another pool keeps its permit, and runs other jobs itself.
#[test]
fn a_pool_without_a_reserve_has_its_threads_only() {
    let pool = Pool::builder()
        .threads(1)
        .dedicated(true)
        .reserve(false)
        .build()
        .unwrap();
    let other = pool_of(1);
    let (ours, order) = (pool.install(|| thread::current().id()), Mutex::new(vec![]));
    pool.scope(|scope| {
        scope.spawn(|_| {
            other.install(|| thread::sleep(Duration::from_millis(5)));
            order.lock().unwrap().push(thread::current().id());
        });
        scope.spawn(|_| order.lock().unwrap().push(thread::current().id()));
    });
    assert_eq!(order.into_inner().unwrap(), [ours, ours]);
}

fn pool_of(threads: usize) -> Pool {
    let builder = Pool::builder().threads(threads).dedicated(true);
    builder.build().unwrap()
}

/// Spawned jobs run without a waiting caller, and other threads run the adopted thread's jobs.
#[test]
fn a_pool_that_is_dismissed() {
    for adopts in [false, true] {
        let jobs = thread::spawn(move || {
            let builder = Pool::builder().threads(3).adopt_current_thread(adopts);
            let pool = builder.build().unwrap();
            let (sender, receiver) = mpsc::channel();
            for job in 0..50 {
                let sender = sender.clone();
                pool.spawn(move || sender.send(job).unwrap());
            }
            pool.dismiss();
            drop(sender);
            receiver.iter().sum::<i32>()
        });
        assert_eq!(jobs.join().unwrap(), 49 * 50 / 2);
    }
}

/// Threads that replaced waiting ones end when they have no work.
#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(miri, ignore = "looks into /proc")]
fn threads_of_the_reserve_end() {
    let pool = Pool::builder().threads(2).name("reserve").build().unwrap();
    let other = pool_of(1);
    pool.scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|_| other.install(|| thread::sleep(Duration::from_micros(300))));
        }
    });
    let threads = || crate::tasks::named("reserve").len();
    // The pool keeps one thread more than its own, for the next job that waits.
    crate::eventually::eventually("the threads end", || (threads() <= 2).then_some(()));
    assert_eq!(pool.join(|| 1, || other.install(|| 2)), (1, 2));
}
