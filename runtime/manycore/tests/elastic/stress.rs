//! A process's CPUs change a thousand times under load, from outside and from within. No job is lost, and no
//! thread runs without a permit.

use crate::cgroup::Group;
use crate::child;
use crate::load::{Detached, round, spin};
use manycore::Pool;
use manycore::elastic::Watch;
use rustix::thread::{CpuSet, Pid, sched_setaffinity};
use std::io::{BufRead, BufReader, Write};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

const TEST: &str = "stress::a_thousand_changes_lose_nothing";
/// The number of changes of each kind.
const CHANGES: usize = 250;
/// The pool has more threads than CPUs, so that the cap can exceed the CPUs.
const THREADS: usize = 4;

#[test]
fn a_thousand_changes_lose_nothing() {
    if child::is("stress") {
        return work();
    }
    let mut child = child::start(TEST, "stress");
    let quota = Group::new("cpu", "stress");
    let cpuset = Group::new("cpuset", "stress");
    for (group, what) in [(&quota, "quota"), (&cpuset, "cpuset")] {
        match group {
            Some(group) => group.add(child.id()),
            None => println!("skipped: no writable control group, so no change of the {what}"),
        }
    }
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut expect = |word: &str| {
        // Skips what the test harness prints.
        let found = from.find(|line| line.as_ref().is_ok_and(|line| line.ends_with(word)));
        assert!(found.is_some(), "the child ended before it said `{word}`");
    };
    expect("ready");
    let cpus = usable();
    let first = &cpus[..1];
    let mut random = fastrand::Rng::with_seed(7);
    for change in 0..CHANGES {
        confine(child.id(), if change % 2 == 0 { first } else { &cpus });
        std::thread::sleep(Duration::from_micros(random.u64(..4_000)));
        if let Some(group) = &quota {
            group.set_quota([Some(1.0), Some(1.5), None, Some(0.5)][random.usize(..4)]);
        }
        std::thread::sleep(Duration::from_micros(random.u64(..4_000)));
        if let Some(group) = &cpuset {
            let of = if change % 2 == 0 { first } else { &cpus };
            let names: Vec<_> = of.iter().map(ToString::to_string).collect();
            group.write("cpuset.cpus", &names.join(","));
        }
        writeln!(to, "cap {}", 1 + random.usize(..THREADS)).unwrap();
    }
    if let Some(group) = &quota {
        group.set_quota(None);
    }
    // On one CPU at the end, all workers but worker 0 must be parked.
    writeln!(to, "uncap").unwrap();
    confine(child.id(), first);
    writeln!(to, "parked").unwrap();
    expect("all parked");
    confine(child.id(), &cpus);
    writeln!(to, "end").unwrap();
    expect("all ran");
    drop(to);
    assert!(child.wait().unwrap().success());
}

fn usable() -> Vec<usize> {
    let mask = rustix::thread::sched_getaffinity(None).unwrap();
    (0..CpuSet::MAX_CPU)
        .filter(|&cpu| mask.is_set(cpu))
        .collect()
}

/// Confines all threads of a process, as `taskset -a -p` does.
fn confine(process: u32, cpus: &[usize]) {
    let mut mask = CpuSet::new();
    cpus.iter().for_each(|&cpu| mask.set(cpu));
    // Twice: a thread that starts during the first pass inherits its starter's mask.
    for _ in 0..2 {
        let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
        for task in tasks.filter_map(Result::ok) {
            let id = task.file_name().to_string_lossy().parse::<i32>().unwrap();
            // The call fails if the thread has ended, or if the cpuset has none of these CPUs.
            let _ = sched_setaffinity(Pid::from_raw(id), &mask);
        }
    }
}

/// The child: keeps a pool busy while it follows commands.
fn work() {
    let watch = Watch::start().unwrap();
    let build = || {
        Pool::builder()
            .threads(THREADS)
            .follow(watch.allotment())
            .build()
    };
    let pool = build().unwrap();
    println!("ready");
    let (sender, receiver) = std::sync::mpsc::channel::<String>();
    std::thread::scope(|scope| {
        let watch = &watch;
        scope.spawn(move || {
            for line in std::io::stdin().lines().map_while(Result::ok) {
                match line.strip_prefix("cap ") {
                    Some(cores) => watch.cap(cores.parse::<NonZeroUsize>().ok()),
                    None if line == "uncap" => watch.cap(None),
                    None => _ = sender.send(line),
                }
            }
        });
        let (mut rounds, mut detached) = (0, Detached::default());
        loop {
            match receiver.try_recv().as_deref() {
                Ok("parked") => check_parked(&pool, watch),
                Ok(_) => break,
                Err(_) => {}
            }
            round(&pool, rounds, &mut detached);
            rounds += 1;
        }
        detached.wait();
        assert!(rounds > 10, "{rounds} rounds: no load");
        println!("{rounds} rounds; all ran");
    });
}

/// Waits until the watch has seen that one CPU is left. From then on two threads never run at once. (The
/// running thread need not be the caller: a worker with the only permit may run the caller's loop.)
fn check_parked(pool: &Pool, watch: &Watch) {
    let patience = Instant::now() + Duration::from_secs(60);
    while watch.allotment().cores() > 1 {
        assert!(Instant::now() < patience, "{:?}", watch.limits());
        std::thread::sleep(Duration::from_millis(1));
    }
    let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let body = |_| {
        most.fetch_max(running.fetch_add(1, Relaxed) + 1, Relaxed);
        spin(1_000);
        running.fetch_sub(1, Relaxed);
    };
    // Blocks that began earlier are not part of these loops.
    (0..20).for_each(|_| pool.parallel_for(0..1_000, body));
    assert_eq!(most.into_inner(), 1, "more than one thread ran at once");
    // Parked threads use no time: only this thread and the watch do.
    let (mine, all) = (times(true), times(false));
    std::thread::sleep(Duration::from_millis(300));
    let (mine, all) = (times(true) - mine, times(false) - all);
    assert!(
        all - mine < Duration::from_millis(150),
        "{all:?}, of which here {mine:?}"
    );
    println!("all parked");
}

/// Returns the CPU time of this thread, or of all threads.
fn times(of_thread: bool) -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let clock = if of_thread {
        ClockId::ThreadCPUTime
    } else {
        ClockId::ProcessCPUTime
    };
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}
