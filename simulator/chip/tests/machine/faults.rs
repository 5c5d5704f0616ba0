//! Programs that would crash or hang without a message. Each runs in a process of its own, which must report the fault.
#![cfg(target_os = "linux")]

use super::support::named;
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::Platform;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Runs the test of this name again in its own process. Returns that process's standard error, up to a line that
/// contains `until`. In that process, returns `None`.
fn apart(test: &str, until: &str) -> Option<String> {
    const INSIDE: &str = "MANYCORE_FAULT";
    if std::env::var_os(INSIDE).is_some() {
        return None;
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(INSIDE, "")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = String::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        told += &(line.unwrap() + "\n");
        if told.contains(until) {
            break;
        }
    }
    // This ends a process that hangs. Other processes have ended by now.
    let _ = child.kill();
    let status = child.wait().unwrap();
    assert!(!status.success(), "{told}");
    Some(told)
}

fn machine() -> Config {
    Config::preset("dahu").unwrap()
}

/// Recurses deeper than any stack.
fn deep(level: u64) -> u64 {
    let here = std::hint::black_box([level; 64]);
    match level {
        u64::MAX => 0,
        _ => deep(level + 1) + here[63],
    }
}

#[test]
fn a_stack_overflow_names_its_thread() {
    let test = "faults::a_stack_overflow_names_its_thread";
    let Some(told) = apart(test, "overflowed") else {
        let run = Simulation::new(&machine()).run(|| {
            Simulated::join(named("the deep one", vec![3], || {
                std::hint::black_box(deep(0));
            }));
        });
        panic!("not told: {run:?}");
    };
    let expected = "the simulated thread 1 (the deep one) on core 3 has overflowed its stack";
    assert!(told.contains(expected), "{told}");
    assert!(told.contains("Simulation::stack_size"), "{told}");
}

#[test]
fn a_thread_that_waits_by_a_std_atomic_is_named() {
    static BELL: AtomicBool = AtomicBool::new(false);
    let test = "faults::a_thread_that_waits_by_a_std_atomic_is_named";
    let Some(told) = apart(test, "stands still") else {
        let run = Simulation::new(&machine()).run(|| {
            let waiter = named("the waiter", vec![1], || {
                while !BELL.load(Relaxed) {
                    std::hint::spin_loop();
                }
            });
            Simulated::compute(1_000_000);
            BELL.store(true, Relaxed);
            Simulated::join(waiter);
        });
        panic!("it ended: {run:?}");
    };
    assert!(
        told.contains("the simulated thread 1 (the waiter)"),
        "{told}"
    );
    assert!(told.contains("an atomic or a lock of std"), "{told}");
}

/// A simulation inside of a simulated thread is an error. The outer one still has its stacks.
#[test]
fn a_simulation_inside_a_simulation_is_refused() {
    let run = Simulation::new(&machine()).run(|| {
        let nested = || Simulation::new(&machine()).run(|| 1).map(|run| run.value);
        let text = Arc::new(Mutex::new(String::new()));
        let inner = Arc::clone(&text);
        Simulated::join(named("nested", vec![1], move || {
            *inner.lock().unwrap() = nested().unwrap_err().to_string();
        }));
        let count = Arc::new(AtomicU64::new(0));
        for core in 2..10 {
            let count = Arc::clone(&count);
            let body = move || _ = count.fetch_add(1, Relaxed);
            Simulated::join(named("later", vec![core], body));
        }
        let told = text.lock().unwrap().clone();
        (told, nested().is_err(), count.load(Relaxed))
    });
    let (told, refused, count) = run.unwrap().value;
    assert!(told.contains("another simulation"), "{told}");
    assert!(refused && count == 8, "{count}");
    // Outside of the simulation, the next one runs.
    let next = Simulation::new(&machine()).run(|| 1);
    assert_eq!(next.unwrap().value, 1);
}
