//! A pool that follows a quota of one and a half CPUs does not exhaust it.

use crate::cgroup::Group;
use crate::child;
use crate::load::spin;
use manycore::Pool;
use manycore::elastic::Watch;
use std::io::{BufRead, BufReader};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

const TEST: &str = "throttling::a_fractional_quota_never_runs_out";

/// The kernel counts the periods in which the quota ran out, for a group that contains only the child. Other
/// load on this machine makes the child use less. It can also delay the watch: then two workers run on
/// between two samples. So one period in twenty is allowed.
#[test]
fn a_fractional_quota_never_runs_out() {
    if child::is("quota") {
        return work();
    }
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return println!("skipped: one CPU, which no quota of one and a half limits");
    }
    let Some(group) = Group::new("cpu", "quota") else {
        return println!("skipped: no writable control group");
    };
    group.set_quota(Some(1.5));
    let mut child = child::start(TEST, "quota");
    group.add(child.id());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut expect = |word: &str| {
        let line = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains(word)));
        line.unwrap_or_else(|| panic!("the child ended before it said `{word}`"))
            .unwrap()
    };
    // The child may be throttled before it is in the group, and in the first second after.
    expect("warm");
    let before = group.throttled();
    let line = expect("done");
    let throttled = group.throttled() - before;
    println!("{line}; {throttled} periods throttled");
    assert!(child.wait().unwrap().success());
    assert!(throttled <= 2, "{throttled} of 40 periods throttled");
}

/// The child's work: loops without a pause.
fn work() {
    let start = Instant::now();
    let watch = Watch::start().unwrap();
    let pool = Pool::builder()
        .threads(2)
        .follow(watch.allotment())
        .build()
        .unwrap();
    let ran = AtomicU64::new(0);
    let run_for = |time| {
        let end = Instant::now() + time;
        while Instant::now() < end {
            pool.parallel_for(0..10_000, |_| {
                spin(100);
                ran.fetch_add(1, Relaxed);
            });
        }
    };
    run_for(Duration::from_secs(2));
    assert!(watch.limits().quota.is_some(), "{:?}", watch.limits());
    println!("warm");
    run_for(Duration::from_secs(4));
    println!(
        "done after {:.1} s, {} iterations",
        start.elapsed().as_secs_f64(),
        ran.into_inner()
    );
}
