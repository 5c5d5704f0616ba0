//! Under a limit on address space, as batch queues set: what a simulation asks
//! of the host follows what its machine and program need.
#![cfg(target_os = "linux")]

use manycore::Builder;
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation, SimulationError};
use manycore_platform::{Atomic, AtomicInteger, Ordering::Relaxed, Platform, ThreadSpec};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::process::Command;

/// Runs the test of this name again, in a process with `kilobytes` of address
/// space; `true` in that process.
fn limited(test: &str, kilobytes: u64) -> bool {
    const INSIDE: &str = "MANYCORE_LIMITED";
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let output = Command::new("sh")
        .args(["-c", "ulimit -v \"$0\" && exec \"$@\""])
        .arg(kilobytes.to_string())
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(INSIDE, "")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    false
}

/// Bytes of address space that this process has.
fn in_use() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = pages.split(' ').next().unwrap().parse().unwrap();
    pages * rustix::param::page_size() as u64
}

/// No more address space than `bytes` beyond what there is.
fn allow(bytes: u64) {
    let limit = Rlimit {
        current: Some(in_use() + bytes),
        ..getrlimit(Resource::As)
    };
    setrlimit(Resource::As, limit).unwrap();
}

#[test]
fn sixty_four_cores_need_no_4_gigabytes() {
    if !limited("limits::sixty_four_cores_need_no_4_gigabytes", 4 << 20) {
        return;
    }
    for preset in ["atac-64", "westmere-ex", "kunpeng-920"] {
        let machine = Config::preset(preset).unwrap();
        let run = Simulation::new(&machine).run(|| {
            let place = |thread| vec![thread];
            let pool = Builder::<Simulated>::on_platform()
                .build_on(64, 1, (0..64).map(place).collect())
                .unwrap();
            let sum = <Simulated as Platform>::AtomicU64::new(0);
            pool.parallel_for(0..10_000, |i| {
                sum.fetch_add(i as u64, Relaxed);
            });
            sum.load(Relaxed)
        });
        assert_eq!(run.unwrap().value, (0..10_000_u64).sum::<u64>());
    }
}

#[test]
fn a_host_without_memory_is_an_error_that_says_so() {
    if !limited(
        "limits::a_host_without_memory_is_an_error_that_says_so",
        4 << 20,
    ) {
        return;
    }
    let mut machine = Config::preset("atac-64").unwrap();
    machine.set("cores=16").unwrap();
    let run = |program: fn() -> Vec<String>| Simulation::new(&machine).run(program);
    // The first run has no limit, so that the host's own allocator already has the memory that it needs.
    run(Vec::new).unwrap();
    let before = getrlimit(Resource::As);
    allow(512 << 10);
    let refused = run(Vec::new).unwrap_err();
    let SimulationError::Host(why) = refused else {
        panic!("{refused}")
    };
    assert!(why.contains("ulimit -v"), "{why}");
    // Enough for some threads, not for all.
    setrlimit(Resource::As, before).unwrap();
    allow(8 << 20);
    let errors = run(|| {
        let spawn = |_| Simulated::spawn(ThreadSpec::default(), Box::new(|| {}));
        let threads: Vec<_> = (0..63).map(spawn).collect();
        let (made, refused): (Vec<_>, Vec<_>) = threads.into_iter().partition(Result::is_ok);
        assert!(!made.is_empty());
        made.into_iter().flatten().for_each(Simulated::join);
        refused
            .into_iter()
            .filter_map(Result::err)
            .map(|error| error.to_string())
            .collect()
    });
    let errors = errors.unwrap().value;
    assert!(
        !errors.is_empty() && errors.iter().all(|why| why.contains("ulimit -v")),
        "{errors:?}"
    );
}
