//! Bounded spin loops: their time, and their cost on the host.

use super::guest::{A0, A1, DATA, S0, T0, T1, TIME, addi, branch, call, exit, li, put, run};
use super::i_type;
use manycore_chip::config::Config;

const S1: u32 = 9;

/// A bounded spin on a flag that stays unset. Each lap adds `step` to the count.
fn bounded(count: u32, step: i32) -> Vec<u32> {
    let mut code = li(S0, DATA as u32).to_vec();
    code.extend(li(T1, count));
    code.extend([
        i_type(0x03, T0, 3, S0, 0),
        branch(1, T0, 64),
        addi(T1, T1, step),
        branch(1, T1, -12),
    ]);
    code.extend(exit(3));
    code
}

/// The machine skips the laps of a parked spin. The loop's count and the time advance as if the machine had executed
/// these laps.
#[test]
fn a_bounded_spin_ends_when_its_count_does() {
    for preset in ["atac-64", "dahu"] {
        let cycles = |count: u32, step| {
            let outcome = run(&bounded(count, step), Some((preset, u64::MAX))).unwrap();
            assert_eq!(outcome.status, 3);
            (
                outcome.timing.unwrap().run.statistics.cycles,
                outcome.instructions,
            )
        };
        // Short spins are not parked, so they show the time of one lap.
        let (short, executed) = cycles(8, -1);
        let (less, _) = cycles(4, -1);
        assert!(executed > 4 * 8);
        let lap = (short - less) as f64 / 4.0;
        for (count, step) in [(1_000_000, -1), (999_999, -3), (2_000_000_000, -1000)] {
            let laps = f64::from(count) / f64::from(-step);
            let (long, executed) = cycles(count, step);
            let ratio = (long - short) as f64 / (laps * lap);
            assert!((0.99..1.01).contains(&ratio), "{preset} {count}: {ratio}");
            assert!(executed < 1_000, "{executed} instructions for {laps} laps");
        }
    }
}

/// A loop that is left and begun again does not count the time in between.
#[test]
fn a_bounded_spin_after_a_nap_is_as_short_as_before() {
    const NAP: u32 = 1_000_000;
    let mut round = vec![addi(A0, S0, TIME as i32), addi(A1, 0, 0)];
    round.extend(call(101));
    round.extend(li(T1, 60));
    round.extend([
        i_type(0x03, T0, 3, S0, 0),
        branch(1, T0, 64),
        addi(T1, T1, -1),
        branch(1, T1, -12),
        addi(S1, S1, -1),
    ]);
    let mut code = li(S0, DATA as u32).to_vec();
    code.extend(put(TIME + 8, NAP));
    code.extend(li(S1, 20));
    let back = -4 * round.len() as i32;
    code.extend(round);
    code.push(branch(1, S1, back));
    code.extend(exit(3));
    for preset in ["atac-64", "dahu"] {
        let outcome = run(&code, Some((preset, u64::MAX))).unwrap();
        assert_eq!(outcome.status, 3);
        let cycles = outcome.timing.unwrap().run.statistics.cycles as f64;
        let naps = 20.0 * f64::from(NAP) * Config::preset(preset).unwrap().ghz;
        assert!(
            (1.0..1.2).contains(&(cycles / naps)),
            "{preset}: {cycles} for {naps}"
        );
    }
}

/// A register holds the limit at the branch, and something else at the lap's end.
#[test]
fn a_bounded_spin_ends_at_a_limit_that_its_loop_loads() {
    const LIMIT: u32 = 1_000_000;
    const LIMIT_AT: u32 = 8;
    let mut code = li(S0, DATA as u32).to_vec();
    code.extend(put(LIMIT_AT, LIMIT));
    code.push(addi(T1, 0, 0));
    code.extend([
        i_type(0x03, T0, 2, S0, LIMIT_AT as i32),
        // bge t1, t0
        16 << 7 | 5 << 12 | T1 << 15 | T0 << 20 | 0x63,
        // addiw t1, t1, 1
        i_type(0x1B, T1, 0, T1, 1),
        i_type(0x03, T0, 2, S0, 0),
        branch(0, T0, -16),
    ]);
    // The status is the difference between the count and the limit: sltu of their exclusive or.
    code.extend(li(T0, LIMIT));
    code.extend([
        T0 << 20 | T1 << 15 | 4 << 12 | A0 << 7 | 0x33,
        A0 << 20 | 3 << 12 | A0 << 7 | 0x33,
    ]);
    code.extend(call(94));
    for preset in ["atac-64", "dahu"] {
        let outcome = run(&code, Some((preset, u64::MAX))).unwrap();
        assert_eq!(outcome.status, 0, "{preset}");
    }
}
