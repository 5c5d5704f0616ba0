//! Marks of regions of interest, gem5's instructions, and fast-forward.

use super::guest::{A0, A1, A7, DATA, ECALL, S0, T0, T1};
use super::guest::{addi, branch, call, exit, li, start_thread, with_program};
use super::{i_type, s_type};
use crate::{Class, Outcome, Program, RunError};
use fastrand::Rng;
use manycore_chip::Simulation;
use manycore_chip::config::Config;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The instruction of manycore that marks region 0, with this function.
fn ours(function: u32) -> u32 {
    function << 25 | 0x0B
}

/// gem5's instruction with this function.
fn m5(function: u32) -> u32 {
    function << 25 | 0x7B
}

const BEGIN: u32 = 64;
const END: u32 = 65;

/// `laps` laps of two instructions.
fn count(laps: u32) -> Vec<u32> {
    [&li(T1, laps)[..], &[addi(T1, T1, -1), branch(1, T1, -4)]].concat()
}

/// Loads from each line of a page.
fn walk() -> Vec<u32> {
    let lap = [
        i_type(0x03, A1, 3, T0, 0),
        addi(T0, T0, 64),
        addi(T1, T1, -1),
    ];
    let start = [li(T0, DATA as u32), li(T1, 64)].concat();
    [&start[..], &lap, &[branch(1, T1, -12)]].concat()
}

fn on(preset: &str, program: Program) -> Result<Outcome, RunError> {
    program.run(&Config::preset(preset).expect("the preset is there"))
}

/// Runs a program on a machine. Returns each region's number and length.
fn regions(code: &[Vec<u32>]) -> Vec<(Option<u64>, u64)> {
    let outcome = with_program(&code.concat(), |program| on("atac-64", program)).unwrap();
    assert_eq!(outcome.status, 0, "{:?}", outcome.message);
    let timing = outcome.timing.unwrap();
    let all = timing.regions.iter();
    all.map(|region| {
        assert_eq!(region.spent.sum(), 64 * (region.to - region.from));
        (region.work, region.to - region.from)
    })
    .collect()
}

#[test]
fn regions_last_as_long_as_what_is_between_their_marks() {
    let ours = [
        vec![ours(BEGIN)],
        count(500),
        vec![ours(END)],
        exit(0).to_vec(),
    ];
    let [(Some(0), length)] = *regions(&ours) else {
        panic!("one region")
    };
    assert!((1_000..1_020).contains(&length), "{length}");
    // gem5's marks of work item 7, and of the statistics.
    let work = |function| vec![addi(A0, 0, 7), addi(A1, 0, 0), m5(function)];
    let statistics = |function| vec![addi(A0, 0, 0), addi(A1, 0, 0), m5(function)];
    let theirs = [
        statistics(0x40),
        work(0x5A),
        count(100),
        work(0x5B),
        count(300),
        statistics(0x42),
        count(200),
        statistics(0x41),
        exit(0).to_vec(),
    ];
    let lengths = regions(&theirs);
    let about = |at: usize, work, cycles: u64| {
        let (found, length) = lengths[at];
        assert!(
            found == work && (cycles..cycles + 40).contains(&length),
            "{lengths:?}"
        );
    };
    about(0, Some(7), 200);
    about(1, None, 800);
    about(2, None, 400);
}

#[test]
fn gem5s_instructions_end_the_program_and_tell_the_time() {
    let fail = [
        vec![addi(A0, 0, 0), addi(A1, 0, 5), m5(0x22)],
        exit(1).to_vec(),
    ]
    .concat();
    let leave = [vec![addi(A0, 0, 0), m5(0x21)], exit(1).to_vec()].concat();
    // The time advances between two reads.
    let time = [
        vec![m5(0x07), addi(T0, A0, 1)],
        count(50),
        // a0 = time < t0: `sltu`
        vec![m5(0x07), 0x33 | A0 << 7 | 3 << 12 | A0 << 15 | T0 << 20],
        vec![addi(A7, 0, 94), ECALL],
    ]
    .concat();
    for (code, status) in [(fail, 5), (leave, 0), (time, 0)] {
        let timed = with_program(&code, |program| on("dahu", program)).unwrap();
        let plain = with_program(&code, |program| program.run_functionally(1)).unwrap();
        assert_eq!((timed.status, plain.status), (status, status));
    }
    let delayed = [addi(A0, 0, 9), m5(0x21)];
    let unknown = [m5(0x43)];
    for (code, words) in [
        (&delayed[..], "expected 0"),
        (&unknown[..], "m5 instruction 0x43"),
    ] {
        let error = with_program(code, |program| program.run_functionally(1)).unwrap_err();
        let told = error.to_string();
        assert!(told.contains(words) && told.len() <= 200, "{told}");
    }
}

#[test]
fn a_program_is_forwarded_to_its_region_and_no_further() {
    let before = 40_000;
    let code = [
        count(before),
        walk(),
        vec![ours(BEGIN)],
        walk(),
        vec![ours(END)],
        exit(9).to_vec(),
    ]
    .concat();
    for preset in ["atac-64", "dahu", "westmere-ex"] {
        let run = |forward: bool| {
            let outcome = with_program(&code, |program| {
                on(
                    preset,
                    if forward {
                        program.fast_forward(u64::MAX)
                    } else {
                        program
                    },
                )
            })
            .unwrap();
            assert_eq!(outcome.status, 9);
            let timing = outcome.timing.unwrap();
            assert_eq!(timing.regions.len(), 1);
            (outcome.instructions, timing)
        };
        let ((all, whole), (again, forwarded)) = (run(false), run(true));
        assert_eq!(all, again);
        assert_eq!(whole.forwarded, 0);
        assert_eq!(forwarded.forwarded, u64::from(2 * before) + 2 + 4 + 4 * 64);
        // The instructions before the region took no time.
        let cycles = forwarded.run.statistics.cycles;
        assert!(cycles < u64::from(before), "{preset}: {cycles}");
        // The lines that the first walk loaded are in the caches.
        let [whole, warm] = [&whole, &forwarded].map(|timing| {
            let region = &timing.regions[0];
            region.to - region.from
        });
        assert_eq!(whole, warm, "{preset}");
        let (_, same) = run(true);
        assert_eq!(same.run.statistics.hash, forwarded.run.statistics.hash);
    }
    let none = with_program(&exit(3), |program| {
        on("dahu", program.fast_forward(u64::MAX))
    });
    let none = none.unwrap();
    assert_eq!((none.status, none.timing.is_none()), (3, true));
}

#[test]
fn a_region_tells_of_each_core_and_a_run_of_each_process() {
    let code = [vec![ours(BEGIN)], walk(), vec![ours(END)], exit(3).to_vec()].concat();
    let machine = Config::preset("atac-64").expect("the preset is there");
    let run = |counts: bool| {
        let outcome = with_program(&code, |program| match counts {
            true => program.counts().run(Simulation::new(&machine).counters()),
            false => program.run(&machine),
        });
        outcome.expect("it ends")
    };
    let (plain, counted) = (run(false), run(true));
    let hashes = [&plain, &counted].map(|it| it.timing.as_ref().map(|it| it.run.statistics.hash));
    assert_eq!(hashes[0], hashes[1], "to count changes nothing");
    assert!(plain.processes.is_empty());
    let region = &counted.timing.expect("it is timed").regions[0];
    let total = region.counted.expect("it was asked for");
    let sum = region
        .cores
        .iter()
        .map(|core| core.instructions)
        .sum::<u64>();
    assert_eq!((region.cores.len(), sum), (64, total.instructions));
    assert_eq!(region.cores[0].instructions, total.instructions);
    assert_eq!(total.l1.hits + total.l1.misses, 64);
    let [process] = &counted.processes[..] else {
        panic!("it makes no other one");
    };
    let mix = process.mix.expect("it was asked for");
    assert_eq!((mix.sum(), process.status), (counted.instructions, Some(3)));
    assert_eq!((mix[Class::Load], mix[Class::Branch]), (64, 64));
}

/// The main thread sleeps on a word until the other thread, after a nap and a count, writes to it. The other thread
/// marks the region.
fn sleepers(laps: u32, nap: u32) -> Vec<u32> {
    let word = li(S0, DATA as u32);
    // Calls futex(word, wait, 0, no time) until the word is not zero, then exits with the word as its status.
    let sleep = [
        &[i_type(0x03, T0, 2, S0, 0), branch(1, T0, 4 * 8)][..],
        &[
            addi(A0, S0, 0),
            addi(A1, 0, 0),
            addi(12, 0, 0),
            addi(13, 0, 0),
        ],
        &call(98),
        &[branch(0, 0, -4 * 8)],
        &[addi(A0, T0, 0)],
        &call(94),
    ]
    .concat();
    // Naps for `nap` ns and counts, then writes the word and wakes its sleepers.
    let wake = [
        &li(T0, nap)[..],
        &[
            s_type(0x23, 3, S0, T0, 136),
            addi(A0, S0, 128),
            addi(A1, 0, 0),
        ],
        &call(101),
        &count(laps),
        &[ours(BEGIN)],
        &count(laps),
        &[addi(T0, 0, 42), s_type(0x23, 2, S0, T0, 0)],
        &[addi(A0, S0, 0), addi(A1, 0, 1), addi(12, 0, 1)],
        &call(98),
        &[ours(END)],
        &call(93),
    ]
    .concat();
    let child = 1 + sleep.len() as i32;
    [&word[..], &start_thread(child), &sleep, &wake].concat()
}

/// The program does the same at whatever point of its threads the timed machine takes over.
#[test]
fn threads_that_run_sleep_and_nap_go_on_where_they_are() {
    let mut rng = Rng::with_seed(5);
    let machine = |cores: u32| {
        let mut machine = Config::preset("atac-64").unwrap();
        machine.set(&format!("cores={cores}")).unwrap();
        machine
    };
    let machines = [machine(64), machine(16)];
    for _ in 0..60 {
        let code = sleepers(rng.u32(1..20_000), rng.u32(1..100_000));
        // The machine may take over at any point, also beyond the program's end.
        let at_most = match rng.bool() {
            true => u64::MAX,
            false => rng.u64(1..90_000),
        };
        let machine = &machines[rng.usize(..2)];
        let run = || with_program(&code, |program| program.fast_forward(at_most).run(machine));
        let (outcome, again) = (run().unwrap(), run().unwrap());
        assert_eq!((outcome.status, &outcome.message), (42, &None));
        let hash = |outcome: &Outcome| outcome.timing.as_ref().map(|t| t.run.statistics.hash);
        assert_eq!(hash(&outcome), hash(&again));
        if at_most == u64::MAX {
            let timing = outcome.timing.unwrap();
            assert_eq!(timing.regions.len(), 1);
        }
    }
}

/// A thread that sleeps when the region begins continues to sleep. So the region lasts as long as in the whole run.
#[test]
fn a_region_beside_a_sleeper_lasts_as_long_as_in_the_whole_run() {
    for preset in ["atac-64", "e5-2640x2"] {
        let region = |forward: bool| {
            let outcome = with_program(&sleepers(2_000, 50_000), |program| match forward {
                true => on(preset, program.fast_forward(u64::MAX)),
                false => on(preset, program),
            });
            let timing = outcome.expect("it ends").timing.expect("it is timed");
            timing.regions[0].to - timing.regions[0].from
        };
        let (whole, forwarded) = (region(false), region(true));
        let difference = whole.abs_diff(forwarded);
        assert!(
            100 * difference <= 3 * whole,
            "{preset}: {whole}, {forwarded}"
        );
    }
}

/// A stopped run, functional or timed, returns what it has counted.
#[test]
fn a_run_ends_on_request() {
    let code = [count(100_000), exit(3).to_vec()].concat();
    let functional = with_program(&code, |program| {
        program.stop_when(|| true).run_functionally(1)
    });
    let timed = with_program(&code, |program| {
        on("atac-64", program.counts().stop_when(|| true))
    });
    for stopped in [functional, timed] {
        let error = stopped.expect_err("it is stopped");
        assert!(error.to_string().contains("still ran after"), "{error}");
        assert!(error.outcome().is_some());
    }
}

/// The run can also end while a lone thread computes and nothing interrupts it.
#[test]
fn a_thread_that_computes_for_ever_ends_on_request() {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    // Relaxed: one thread counts.
    let later = || ASKED.fetch_add(1, Relaxed) > 3;
    // Because of the stores, this is not a loop that only waits.
    let code = [
        &li(T0, DATA as u32)[..],
        &[addi(A0, A0, 1), s_type(0x23, 3, T0, A0, 0)],
        &[branch(0, 0, -8)],
    ]
    .concat();
    let stopped = with_program(&code, |program| on("atac-64", program.stop_when(later)));
    let error = stopped.expect_err("it is stopped");
    let outcome = error.outcome().expect("it was counted");
    let timing = outcome.timing.as_ref().expect("it is timed");
    let cycles = timing.run.statistics.cycles;
    assert!((1 << 20..1 << 24).contains(&cycles), "{cycles}");
}

/// A program needs to measure the rate of `time` only once: `time` shows the nanoseconds of the system's clock on every
/// machine, before and after the program changes to another machine.
#[test]
fn the_timer_shows_nanoseconds_wherever_the_program_runs() {
    const TIME: i32 = 0xC01;
    const S1: u32 = 9;
    const S3: u32 = 19;
    // s3 |= (clock_gettime(CLOCK_MONOTONIC) - time) >> 12. The result is 0 if the clock is at most 4 us later.
    let compare = [
        &[i_type(0x73, S1, 2, 0, TIME), addi(A0, 0, 1)][..],
        &li(A1, DATA as u32),
        &call(113),
        &[
            i_type(0x03, T0, 3, A1, 8),
            0x4000_0033 | T0 << 7 | T0 << 15 | S1 << 20,
            i_type(0x13, T0, 5, T0, 12),
            0x33 | S3 << 7 | 6 << 12 | S3 << 15 | T0 << 20,
        ],
    ]
    .concat();
    let code = [
        compare.clone(),
        count(20_000),
        compare.clone(),
        vec![ours(BEGIN)],
        count(20_000),
        compare,
        // The status is 1 if s3 is not zero: `sltu`.
        vec![0x33 | A0 << 7 | 3 << 12 | S3 << 20],
        call(94).to_vec(),
    ]
    .concat();
    for preset in ["atac-64", "dahu", "e5-2640x2"] {
        for forward in [0, u64::MAX] {
            let run = |program: Program| match forward {
                0 => on(preset, program),
                _ => on(preset, program.fast_forward(forward)),
            };
            let outcome = with_program(&code, run).unwrap();
            assert_eq!(outcome.status, 0, "{preset}, forwarded {forward}");
        }
    }
    let outcome = with_program(&code, |program| program.run_functionally(1));
    assert_eq!(outcome.unwrap().status, 0);
}
