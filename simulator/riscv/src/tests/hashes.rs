//! Hashes of a program. They must be the same on every host, whatever the host's processor.

use super::mixture::Step::{
    Add, Await, Block, Confine, Count, Float, Nap, Signal, Tell, Timer, Unblock, Yield,
};
use super::mixture::{assemble, run};
use manycore_chip::config::Config;

/// A program of the steps in `mixture`. Floating-point results decide the length of loops.
fn program() -> Vec<u32> {
    let steps = [
        vec![
            Float(150),
            Tell(0),
            Signal(1),
            Await(1, 0),
            Timer(2, 30_000),
            Float(40),
            Add(3),
        ],
        vec![
            Await(0, 1),
            Count(900),
            Block,
            Nap(9_000),
            Unblock,
            Tell(1),
            Add(5),
        ],
        vec![Confine(2, 1), Yield, Await(1, 3), Float(77), Add(7)],
        vec![Count(5_000), Signal(2), Await(0, 4), Float(9), Add(11)],
    ];
    assemble(&steps, &[0, 1, 2, 0])
}

/// Returns the program's hash on `atac-64` with these settings. The program's result is always the same.
fn hash(code: &[u32], settings: &[&str]) -> u64 {
    let mut machine = Config::preset("atac-64").expect("the preset is there");
    machine.set_all(settings).expect("the machine may be so");
    let (outcome, found) = run(code, 4, |program| program.run(&machine));
    assert_eq!(found, [26, 3, 0, 1, 2, 0]);
    outcome.timing.expect("it is timed").run.statistics.hash
}

/// The machine is `atac-64` with a few values set. No value is fitted to a real machine, so changes to the costs in
/// other presets do not matter.
#[test]
fn hashes_are_the_same_on_every_host() {
    let code = program();
    let hashes = [
        hash(&code, &[]),
        hash(&code, &["cores=1"]),
        hash(&code, &["cores=4", "core.cpi=0.7"]),
        hash(&code, &["cores=16", "os.syscall=321"]),
    ];
    let on_an_amd_epyc = [
        0x140f_a155_90f8_546b,
        0x2418_804b_edf8_05a1,
        0xba67_6e2d_d7e7_7b4d,
        0xbd31_0b5a_f37d_9a02,
    ];
    assert_eq!(hashes, on_an_amd_epyc, "{hashes:x?}");
}

#[test]
fn late_misses_change_the_hash_by_their_seed_and_no_result() {
    let code = program();
    let usual = hash(&code, &[]);
    assert_eq!(usual, hash(&code, &["perturb=0", "perturb-seed=7"]));
    let mut hashes = vec![usual];
    for seed in 1..=6 {
        let seed = format!("perturb-seed={seed}");
        let settings = ["perturb=2", &*seed];
        hashes.push(hash(&code, &settings));
        assert_eq!(hashes.last(), Some(&hash(&code, &settings)));
    }
    assert_eq!(
        hashes[1],
        hash(&code, &["perturb=2"]),
        "the seed is 1 if none is given"
    );
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 7);
}
