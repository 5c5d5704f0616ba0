//! Simulations under a limit on address space, as batch queues set it. A simulation asks the host for as much as its
//! machine and program need.
#![cfg(target_os = "linux")]

use manycore::Builder;
use manycore_chip::config::Config;
use manycore_chip::guest::{Before, Core, State};
use manycore_chip::{Activity, Simulated, Simulation, SimulationError};
use manycore_platform::{Atomic, AtomicInteger, Ordering::Relaxed, Platform, ThreadSpec};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::process::Command;

/// Runs the test of this name again in a process with `kilobytes` of address space. Returns `true` in that process.
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

/// Limits the address space to `bytes` more than is in use.
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
    // This is enough for some threads, but not for all.
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

/// The longest times end the run, or are waits without an end. They do not overflow.
#[test]
fn the_longest_times_do_not_overflow() {
    let machine = Config::preset("dahu").unwrap();
    for instructions in [1 << 54, 1 << 58, 1 << 60, 1 << 62, u64::MAX] {
        let run = Simulation::new(&machine).run(|| {
            Simulated::compute(instructions);
            Simulated::read(&[0_u8; 4096]);
        });
        match run {
            Ok(run) => assert!(run.statistics.report.total[Activity::Memory] > 0),
            Err(error) => assert!(matches!(error, SimulationError::Runaway { .. }), "{error}"),
        }
    }
    let mut began = false;
    let main = move |core: &mut Core<'_>| {
        if !std::mem::replace(&mut began, true) {
            let never = (5, Before::Ran(u64::MAX));
            let body = |_: &mut Core<'_>| State::Ended;
            core.go_on_with("never".into(), Box::new(body), never, &[])
                .unwrap();
            core.go_on_in_kernel(u64::MAX);
            return State::Suspended;
        }
        State::Exited
    };
    let run = Simulation::new(&machine).run_guest(Box::new(main));
    assert!(
        matches!(run, Err(SimulationError::Runaway { .. })),
        "{run:?}"
    );
}
