//! Programs of random bits, and damaged files: each ends, reaches its limit, or is refused.

use super::guest::{CODE, DATA, DATA_BYTES, call, exit, li, run};
use super::{Kept, cases, elf};
use crate::{Program, RunError};
use fastrand::Rng;
use manycore_chip::{Simulation, config::Config};

/// A program of random bits ends or reaches its limit, and the simulator does not panic.
#[test]
fn no_program_takes_the_simulator_down() {
    let mut rng = Rng::with_seed(11);
    for _ in 0..cases(500) {
        let mut code = Vec::new();
        for register in 1..32 {
            let value = match rng.u8(..4) {
                0 => rng.u32(..),
                1 => DATA as u32 + rng.u32(..DATA_BYTES as u32),
                2 => CODE as u32 + rng.u32(..512),
                _ => rng.u32(..64),
            };
            code.extend(li(register, value));
        }
        for _ in 0..64 {
            const OPCODES: [u32; 10] = [0x03, 0x23, 0x2F, 0x63, 0x6F, 0x67, 0x07, 0x27, 0x33, 0x0B];
            code.push(match rng.u8(..5) {
                0 => rng.u32(..),
                _ => rng.u32(..) & !0x7F | OPCODES[rng.usize(..OPCODES.len())],
            });
            if rng.u8(..12) == 0 {
                // Calls that read standard input, or make and remove files, would reach the host.
                const CALLS: [i32; 39] = [
                    17, 23, 25, 29, 57, 59, 61, 62, 64, 66, 73, 80, 93, 98, 101, 107, 108, 109,
                    110, 111, 113, 115, 122, 123, 124, 131, 132, 134, 135, 138, 139, 160, 214, 215,
                    216, 220, 222, 226, 240,
                ];
                code.extend(call(CALLS[rng.usize(..CALLS.len())]));
            }
        }
        code.extend(exit(0));
        let on = Some(("dahu", 200_000));
        match run(&code, on) {
            Ok(outcome) => assert!((0..=255).contains(&outcome.status)),
            Err(
                RunError::Simulation(_) | RunError::Unsupported { .. } | RunError::Stopped { .. },
            ) => {}
            Err(other) => panic!("{other}"),
        }
    }
}

/// A damaged file is refused in one line, or runs.
#[test]
fn damaged_programs_are_refused_or_run() {
    let mut rng = Rng::with_seed(12);
    let code: Vec<u8> = exit(1).iter().flat_map(|word| word.to_le_bytes()).collect();
    let whole = elf(&[(CODE, 7, &code), (DATA, 6, &[0; 64])]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("program");
    let mut refused = 0;
    for _ in 0..cases(600) {
        let mut text = whole.clone();
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(..200);
            text[at] = rng.u8(..);
        }
        if rng.u8(..8) == 0 {
            text.truncate(rng.usize(..text.len()));
        }
        std::fs::write(&file, text).expect("room for a program");
        let kept = Kept::default();
        let program = Program::new(&file).streams(kept.clone(), kept);
        let simulation = Simulation::new(&Config::preset("dahu").unwrap()).limit(50_000);
        if let Err(RunError::Program { file, what }) = program.run(simulation) {
            assert!(!format!("{file}{what}").contains('\n'));
            refused += 1;
        }
    }
    assert!(refused > 150);
}
