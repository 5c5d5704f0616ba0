//! Pools that end during jobs of other pools, or during their own jobs.

use super::live::ends;
use manycore::Pool;
use std::sync::{Arc, mpsc};

fn pool(threads: usize, dedicated: bool) -> Arc<Pool> {
    let builder = Pool::builder().threads(threads).dedicated(dedicated);
    Arc::new(builder.build().unwrap())
}

/// A job of `b` drops pool `a`, whose last job then calls `b`.
#[test]
fn dropped_by_a_job_whose_pool_it_calls() {
    for (threads, dedicated) in [(1, true), (1, false), (2, true), (2, false)] {
        ends("a drop in another pool's job", move || {
            for _ in 0..10 {
                let (a, b) = (pool(threads, dedicated), pool(threads, dedicated));
                let (go, gone) = mpsc::channel();
                let (sender, receiver) = mpsc::channel();
                let (back, job_sender) = (Arc::clone(&b), sender.clone());
                a.spawn(move || {
                    gone.recv().unwrap();
                    // By now the drop most likely waits. The test holds either way.
                    std::thread::sleep(std::time::Duration::from_millis(2));
                    job_sender.send(back.join(|| 1, || 2).1).unwrap();
                });
                b.spawn(move || {
                    go.send(()).unwrap();
                    drop(a);
                    sender.send(0).unwrap();
                });
                // The order is fixed, since the drop waits for the last job.
                assert_eq!(receiver.iter().collect::<Vec<_>>(), [2, 0]);
            }
        });
    }
}

/// A job is the last owner, and goes on to use the pool's free functions.
#[test]
fn dropped_by_its_own_job() {
    for (threads, dedicated) in [(1, true), (1, false), (2, true), (3, false)] {
        ends("a drop in the pool's own job", move || {
            for _ in 0..10 {
                let pool = pool(threads, dedicated);
                let (go, gone) = mpsc::channel();
                let (sender, receiver) = mpsc::channel();
                let own = Arc::clone(&pool);
                pool.spawn(move || {
                    gone.recv().unwrap();
                    drop(own);
                    let later_sender = sender.clone();
                    manycore::spawn(move || later_sender.send(3).unwrap());
                    sender.send(manycore::join(|| 1, || 2).1).unwrap();
                });
                drop(pool);
                go.send(()).unwrap();
                let mut said: Vec<_> = receiver.iter().collect();
                said.sort_unstable();
                assert_eq!(said, [2, 3]);
            }
        });
    }
}

/// While a drop waits for a job that sleeps, the pool's threads sleep as well.
#[cfg(target_os = "linux")]
#[test]
fn a_drop_that_waits_costs_nothing() {
    use std::collections::HashMap;
    use std::path::PathBuf;
    use std::time::Duration;
    use std::{fs, thread};

    /// Allowed processor time in nanoseconds, of 500 ms on each of four threads.
    const ALLOWED: u64 = 50_000_000;

    /// Returns the processor time by thread, in nanoseconds, without ended threads.
    fn used(name: &str) -> HashMap<PathBuf, u64> {
        let used = |task: PathBuf| {
            let text = fs::read_to_string(task.join("schedstat")).ok()?;
            let first = text.split(' ').next()?;
            let nanoseconds = first.parse().expect("a number of nanoseconds");
            Some((task, nanoseconds))
        };
        super::tasks::named(name)
            .into_iter()
            .filter_map(used)
            .collect()
    }

    for threads in [1, 2, 4] {
        let name = format!("burn-{threads}");
        let builder = Pool::builder().threads(threads).name(&name);
        let pool = builder.build().unwrap();
        let (begin, begun) = mpsc::channel();
        let (go, gone) = mpsc::channel::<()>();
        pool.spawn(move || {
            begin.send(()).unwrap();
            gone.recv().unwrap();
        });
        begun.recv().unwrap();
        let dropping = thread::spawn(move || drop(pool));
        thread::sleep(Duration::from_millis(200));
        let before = used(&name);
        assert!(!before.is_empty(), "the job's thread exists");
        thread::sleep(Duration::from_millis(500));
        let after = used(&name);
        let spent = |(task, now): (&PathBuf, &u64)| now - before.get(task).unwrap_or(&0);
        let spent: u64 = after.iter().map(spent).sum();
        assert!(
            spent <= ALLOWED,
            "{threads} threads: {spent} ns while a job slept"
        );
        go.send(()).unwrap();
        dropping.join().unwrap();
    }
}
