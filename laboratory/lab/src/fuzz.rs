//! Damaged user input. Each input is refused as bad input or gives a plan, in little time and memory.

#[path = "../../../simulator/chip/tests/machine/support/fuzz.rs"]
pub(crate) mod harness;

use crate::cli::{Cli, Command};
use crate::failure::BadInput;
use crate::study::STUDIES;
use crate::{command, model};
use fastrand::Rng;
use harness::{change, input, number};
use manycore_chip::config::preset_names;

/// The number of cases in a quick run of some seconds.
const QUICK: u64 = 2_000;

#[test]
fn damaged_input() {
    harness::run("fuzz::damaged_input", QUICK, |rng| match rng.u8(..16) {
        0 => command_line(rng),
        1..4 => model::fuzz::parameters(rng),
        _ => model::fuzz::table(rng),
    });
}

/// Reads a command line up to the plan of its study.
fn command_line(rng: &mut Rng) -> &'static str {
    let arguments = arguments(rng);
    input(format!("{arguments:?}"));
    let cli = Cli::from_arguments(["manycore".to_owned()].into_iter().chain(arguments));
    let args = match cli.map(|cli| cli.command) {
        Err(_) => return "command lines refused by their form",
        Ok(Command::Study(args)) => args,
        Ok(_) => return "command lines of other commands",
    };
    let plan = command::study::request(&args).and_then(|(study, request)| study.plan(&request));
    match plan {
        Ok(_) => "studies planned",
        Err(error) => {
            assert!(error.is::<BadInput>(), "{error:#}");
            "studies refused"
        }
    }
}

fn one_of<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.usize(..all.len())]
}

fn arguments(rng: &mut Rng) -> Vec<String> {
    let study = one_of(rng, &STUDIES);
    let mut arguments = vec!["study".to_owned(), study.name().to_owned()];
    if rng.bool() {
        let presets: Vec<&str> = preset_names().chain(["native", "none.toml"]).collect();
        arguments.extend(["--on".to_owned(), one_of(rng, &presets).to_owned()]);
    }
    for _ in 0..rng.usize(..4) {
        const FLAGS: [&str; 8] = [
            "--threads",
            "--cores",
            "--only",
            "--seed",
            "--full",
            "--quick",
            "--fresh",
            "--format",
        ];
        const WORDS: [&str; 8] = [
            "channel", "futex", "tiny", "sharded", "ours", "tr", "csv", "json",
        ];
        let flag = one_of(rng, &FLAGS);
        arguments.push(flag.to_owned());
        if !matches!(flag, "--full" | "--quick" | "--fresh") {
            arguments.push(match flag {
                "--only" | "--format" => one_of(rng, &WORDS).to_owned(),
                _ => numbers(rng),
            });
        }
    }
    for _ in 0..rng.usize(..4) {
        let keys: Vec<&str> = study.keys().iter().map(|key| key.name).collect();
        let machines: Vec<&str> = manycore_chip::config::keys().collect();
        let key = if rng.u8(..4) > 0 {
            one_of(rng, &keys)
        } else {
            one_of(rng, &machines)
        };
        arguments.extend(["--set".to_owned(), format!("{key}={}", numbers(rng))]);
    }
    if rng.u8(..4) == 0 {
        let at = rng.usize(..arguments.len());
        let other = arguments.join("\n");
        change(rng, &mut arguments[at], &other);
    }
    arguments
}

/// A number, or a list of a few or of very many numbers.
fn numbers(rng: &mut Rng) -> String {
    let items = match rng.u8(..32) {
        0 => rng.usize(..5_000),
        1..8 => rng.usize(..70),
        _ => 1,
    };
    let items: Vec<String> = (0..items).map(|_| number(rng)).collect();
    items.join(",")
}
