//! The same program on the same machine gives the same run, whatever the host
//! does meanwhile.

use crate::support::program::Program;
use crate::support::{machine, machines};
use manycore_chip::config::Config;
use std::fmt::Write;
use std::process::Command;

/// The hash and the cycles of one run.
type Print = (u64, u64);

fn print(seed: u64, machine: &Config) -> Print {
    let program = Program::random(seed, machine.cores as usize, 80);
    let statistics = program.run(machine).unwrap();
    (statistics.hash, statistics.cycles)
}

/// Machines that also pre-empt and move threads often.
fn hasty(mut machine: Config) -> Config {
    let os = &mut machine.os;
    (os.tick, os.tick_cost) = (900, 50);
    (os.latency, os.min_granularity) = (2_000, 700);
    (os.balance, os.hot) = (1_500, 400);
    machine
}

fn jobs() -> Vec<(u64, Config)> {
    let machines: Vec<_> = machines().into_iter().map(|(_, machine)| machine).collect();
    let job = |seed: u64| {
        let machine = machines[seed as usize % machines.len()].clone();
        let machine = if seed.is_multiple_of(2) {
            hasty(machine)
        } else {
            machine
        };
        (seed, machine)
    };
    (0..100).map(job).collect()
}

/// Runs all `jobs` on `threads` host threads. If `backwards`, the last job comes first.
fn prints(jobs: &[(u64, Config)], threads: usize, backwards: bool) -> Vec<Print> {
    let mut prints = vec![(0, 0); jobs.len()];
    let share = jobs.len().div_ceil(threads);
    std::thread::scope(|scope| {
        for (jobs, prints) in jobs.chunks(share).zip(prints.chunks_mut(share)) {
            scope.spawn(move || {
                let mut order: Vec<_> = jobs.iter().zip(prints).collect();
                if backwards {
                    order.reverse();
                }
                for ((seed, machine), place) in order {
                    *place = print(*seed, machine);
                }
            });
        }
    });
    prints
}

#[test]
fn a_hundred_programs_in_both_orders_on_one_and_two_host_threads() {
    let jobs = jobs();
    let first = prints(&jobs, 1, false);
    for (threads, backwards) in [(1, true), (2, false), (2, true)] {
        assert_eq!(prints(&jobs, threads, backwards), first, "on {threads}");
    }
    let mut hashes: Vec<_> = first.iter().map(|print| print.0).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(
        hashes.len(),
        jobs.len(),
        "different programs, different hashes"
    );
}

/// The hash changes if one latency changes by one cycle.
#[test]
fn another_machine_another_hash() {
    let usual = print(1, &machine("atac-64", &[]));
    for setting in ["memory.latency=101", "coherence.latency=7", "l2.latency=8"] {
        assert_ne!(
            print(1, &machine("atac-64", &[setting])),
            usual,
            "{setting}"
        );
    }
}

/// The host's heap holds garbage of sizes that the simulator uses, too.
#[test]
fn the_hosts_heap_does_not_matter() {
    let machine = hasty(machine("gold5225r", &[]));
    let usual = print(7, &machine);
    let mut garbage = Vec::new();
    for round in 0..5 {
        for size in [8, 24, 100, 1_000, 5_000, 100_000, 3_000_000] {
            garbage.push(vec![round as u8; size + round]);
        }
        garbage.swap_remove(round * 3);
        assert_eq!(print(7, &machine), usual);
    }
}

const CHILD: &str = "MANYCORE_DETERMINISM_CHILD";

fn some_prints() -> String {
    let mut text = String::new();
    for (seed, machine) in jobs().iter().take(30) {
        let (hash, cycles) = print(*seed, machine);
        writeln!(text, "print {seed} {hash:016x} {cycles}").unwrap();
    }
    text
}

/// Runs this test in other processes with other environments. Their address spaces, stacks and hash seeds differ.
#[test]
fn other_processes_agree() {
    let mine = some_prints();
    if std::env::var_os(CHILD).is_some() {
        println!("\n{mine}");
        return;
    }
    for child in 0..3 {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([
            "--exact",
            "determinism::other_processes_agree",
            "--nocapture",
        ]);
        command.env(CHILD, "x".repeat(1 + 5_000 * child));
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines = text.lines().filter(|line| line.starts_with("print "));
        let theirs: String = lines.map(|line| format!("{line}\n")).collect();
        assert_eq!(theirs, mine, "process {child}");
    }
}
