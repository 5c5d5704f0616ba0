//! Machines and threads for the tests of whole programs.
#![allow(dead_code, reason = "each test file uses a part")]

pub(crate) mod barrier;
pub(crate) mod linear;
pub(crate) mod program;

use manycore_chip::config::Config;
use manycore_chip::{Simulated, SimulatedThread};
use manycore_platform::{Platform, ThreadSpec};

/// `preset` with `settings`.
pub(crate) fn machine(preset: &str, settings: &[&str]) -> Config {
    let mut config = Config::preset(preset).unwrap();
    for setting in settings {
        config.set(setting).unwrap();
    }
    config
}

/// How many times as many random cases as in CI the environment asks for. `ci/long.sh random` asks for 20 times as many.
pub(crate) fn times() -> u64 {
    let value = std::env::var("MANYCORE_SCHEDULES").ok();
    value.map_or(1, |value| value.parse().expect("a number"))
}

/// Stores and prefetches that a core does not wait for. The queues are so short that they fill.
pub(crate) const OVERLAP: &str =
    "core.overlap={lines=6, store-buffer=3, streams=2, distance=4, whole-lines=true}";

/// Machines with each protocol and directory, each kind of last level and of atomic operation, with write-back and
/// write-through caches, and with one and several threads a core.
pub(crate) fn machines() -> Vec<(String, Config)> {
    let mut all = Vec::new();
    for protocol in ["msi", "mesi"] {
        for (directory, pointers) in [
            ("full-map", 0),
            ("ackwise", 1),
            ("ackwise", 2),
            ("broadcast", 0),
        ] {
            let settings = [
                "cores=16".to_owned(),
                format!("coherence.protocol={protocol}"),
                format!("coherence.pointers={pointers}"),
                format!("coherence.directory={directory}"),
            ];
            let settings: Vec<_> = settings.iter().map(String::as_str).collect();
            let name = format!("{protocol} {directory} {pointers}");
            all.push((name, machine("atac-64", &settings)));
        }
    }
    for (preset, setting) in [
        ("atac-64", "atomics.kind=llsc"),
        ("atac-64", "coherence.data-path=direct"),
        ("atac-64", "coherence.clean-forward=true"),
        ("atac-64", "network.mesh.contention=hop-by-hop"),
        ("gold5225r", "threads-per-core=1"),
        ("gold5225r", "threads-per-core=2"),
        ("gold5225r", "coherence.directory=broadcast"),
        ("gold5225r", "coherence.data-path=through-home"),
        ("westmere-ex", "threads-per-core=1"),
        ("westmere-ex", "threads-per-core=2"),
        ("opteron-6172", "threads-per-core=1"),
        ("tr3970x", "threads-per-core=1"),
        ("kunpeng-920", "atomics.kind=llsc"),
        ("graviton-a72", "threads-per-core=1"),
        ("niagara-2", "threads-per-core=8"),
        ("tilegx-36", "threads-per-core=1"),
        ("gold5225r", "atomics.kind=far"),
        ("westmere-ex", "atomics.kind=far"),
        ("graviton2-64", "threads-per-core=1"),
        ("graviton2-64", OVERLAP),
        ("gold5225r", OVERLAP),
        ("sapphire-rapids-8470x2", "coherence.directory=broadcast"),
    ] {
        all.push((format!("{preset} {setting}"), machine(preset, &[setting])));
    }
    all
}

/// Starts a thread that runs only on `core`.
pub(crate) fn spawn(core: usize, body: impl FnOnce() + Send + 'static) -> SimulatedThread {
    named(&format!("core {core}"), vec![core], body)
}

/// Starts a thread that runs on `cpus`, or anywhere if `cpus` is empty.
pub(crate) fn named(
    name: &str,
    cpus: Vec<usize>,
    body: impl FnOnce() + Send + 'static,
) -> SimulatedThread {
    let spec = ThreadSpec {
        name: name.into(),
        stack_size: None,
        cpus,
    };
    Simulated::spawn(spec, Box::new(body)).unwrap()
}

/// Computes until `time`, on a machine of `cpi` cycles an instruction.
pub(crate) fn compute_until(time: u64, cpi: f64) {
    let cycles = time.saturating_sub(Simulated::now());
    Simulated::compute((cycles as f64 / cpi) as u64);
}
