//! Damaged machines: each is refused in one line, or simulates a program correctly, in little time
//! and memory.

#[path = "support/fuzz.rs"]
mod harness;

use crate::support::program::Program;
use fastrand::Rng;
use harness::{change, input, number};
use manycore_chip::config::{Config, keys, preset_names, range};
use std::sync::LazyLock;

/// These take a few seconds.
const QUICK: u64 = 1_500;

#[test]
fn damaged_machines() {
    harness::run("fuzz::damaged_machines", QUICK, |rng| match rng.u8(..8) {
        0 => settings(rng),
        _ => file(rng),
    });
}

/// The presets are read once.
static PRESETS: LazyLock<Vec<(Config, String)>> = LazyLock::new(|| {
    let preset = |name| {
        let config = Config::preset(name).unwrap();
        let text = config.to_toml();
        (config, text)
    };
    preset_names().map(preset).collect()
});

fn preset(rng: &mut Rng) -> &'static (Config, String) {
    &PRESETS[rng.usize(..PRESETS.len())]
}

/// A machine's file with a few changes.
fn file(rng: &mut Rng) -> &'static str {
    let mut text = preset(rng).1.clone();
    let other = &preset(rng).1;
    for _ in 0..rng.usize(1..=4) {
        change(rng, &mut text, other);
    }
    input(text.clone());
    match Config::from_toml(&text, "m.toml") {
        Ok(machine) => {
            let echo = Config::from_toml(&machine.to_toml(), "echo");
            assert_eq!(echo.as_ref(), Ok(&machine));
            simulate(rng, &machine, "files that are machines")
        }
        Err(error) => {
            let error = error.to_string();
            let place = error.strip_prefix("m.toml:").unwrap();
            let line: usize = place.split_once(':').unwrap().0.parse().unwrap();
            assert!(line <= text.lines().count() + 1, "{error}");
            assert!(!error.contains('\n'), "{error}");
            "files refused"
        }
    }
}

/// A preset with some of its values changed by `--set`.
fn settings(rng: &mut Rng) -> &'static str {
    let mut machine = preset(rng).0.clone();
    let mut said = machine.name.clone();
    let mut changed = false;
    for _ in 0..rng.usize(1..=5) {
        let setting = setting(rng);
        said += &format!(" --set {setting:?}");
        input(said.clone());
        let before = machine.clone();
        match machine.set(&setting) {
            Ok(()) => changed = true,
            Err(error) => {
                let error = error.to_string();
                assert!(error.starts_with("--set "), "{error}");
                assert_eq!(machine, before, "{error}");
            }
        }
    }
    match changed {
        true => simulate(rng, &machine, "settings that make machines"),
        false => "settings refused",
    }
}

fn setting(rng: &mut Rng) -> String {
    const WORDS: [&str; 12] = [
        "msi",
        "mesi",
        "full-map",
        "ackwise",
        "broadcast",
        "first-touch",
        "interleave",
        "far",
        "near",
        "llsc",
        "through",
        "hop-by-hop",
    ];
    let known: Vec<&str> = keys().collect();
    let key = known[rng.usize(..known.len())].replace('*', &rng.u8(..3).to_string());
    let value = match (range(&key), rng.u8(..8)) {
        (Some((least, _)), 0) => least.to_string(),
        (Some((_, most)), 1) => most.to_string(),
        // Any value in the range, with a uniform logarithm.
        (Some((least, most)), 2..6) => {
            let low = least.max(0.01).ln();
            let value = (low + rng.f64() * (most.ln() - low)).exp();
            if least.fract() == 0.0 {
                value.round().to_string()
            } else {
                value.to_string()
            }
        }
        (Some(_), _) => number(rng),
        (None, 0) => number(rng),
        (None, 1) => rng.bool().to_string(),
        (None, _) => WORDS[rng.usize(..WORDS.len())].to_owned(),
    };
    let mut setting = format!("{key}={value}");
    if rng.u8(..8) == 0 {
        change(rng, &mut setting, &known.join("\n"));
    }
    setting
}

/// Simulates a short random program on `machine`. The program must end, all its checks must hold, and all cycles must
/// be accounted for.
fn simulate(rng: &mut Rng, machine: &Config, only_read: &'static str) -> &'static str {
    let tiles = u64::from(machine.cores / machine.threads_per_core);
    let l2 = machine.l2.as_ref().map_or(0, |l2| l2.size);
    let llc = machine.llc.as_ref().map_or(0, |llc| llc.size);
    let bytes = tiles * (machine.l1.size + l2) + u64::from(machine.groups()) * llc;
    // It takes long to allocate large tags.
    let rarely = 1 + ((bytes / u64::from(machine.line)) >> 18);
    if rng.u64(..8 + 64 * rarely) >= 8 {
        return only_read;
    }
    let program = Program::random(rng.u64(..), machine.cores as usize, 12);
    if let Err(error) = program.run(machine) {
        panic!("{error}");
    }
    "machines that simulated a program"
}
