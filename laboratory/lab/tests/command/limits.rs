//! Tests of the command under the limits that batch queues set.

use crate::{Bench, Run};
use std::process::Command;

/// Runs the command with 4 GB of address space.
fn in_four_gigabytes(bench: &Bench, args: &str) -> Run {
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 4194304 && exec \"$@\"", "sh"])
        .arg(env!("CARGO_BIN_EXE_manycore"))
        .args(args.split(' '))
        .current_dir(bench.path(""))
        .output()
        .unwrap();
    Run {
        args: args.to_owned(),
        output,
    }
}

#[test]
fn sixty_four_cores_are_simulated() {
    let bench = Bench::new();
    let barrier = "study barrier --on atac-64 --cores 64 --set episodes=1 --set beside=none \
                   --only channel,sense --format csv";
    let limited = in_four_gigabytes(&bench, barrier).ok().out();
    assert_eq!(
        limited.lines().filter(|line| line.contains(",64,")).count(),
        6,
        "{limited}"
    );
    // Existing files do not change the findings.
    assert_eq!(bench.run(barrier).ok().out(), limited);
}

#[test]
fn a_machine_of_eighty_cores_is_measured() {
    let bench = Bench::new();
    let machine = "machine --on westmere-ex --threads 1,64 --format json";
    let limited = in_four_gigabytes(&bench, machine).ok().out();
    assert!(limited.contains("\"hash\""), "{limited}");
}
