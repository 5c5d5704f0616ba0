//! Random programs that mix timers, signals, masks, affinity, futexes, naps, spin loops, channels and regions of
//! interest. A program's result must be the same however it runs.
//!
//! A program is a list of steps, each of a random thread. A step posts by setting its word. A thread waits only for
//! earlier steps in the list to post, so no thread waits for ever. At the end, each thread waits for all of its
//! signals, and the main thread writes what all threads have done. `MANYCORE_SCHEDULES=20` runs twenty times as many
//! programs.

use super::guest::{A0, A1, CODE, DATA, ECALL, S0, T0, T1};
use super::guest::{addi, branch, call, li};
use super::{Kept, cases, elf, i_type, s_type};
use crate::{Outcome, Program};
use fastrand::Rng;
use manycore_chip::{Simulation, config::Config};

const TP: u32 = 4;
const S1: u32 = 9;
/// The register with a receiver's channel.
const CHANNEL: u32 = 18;
const A2: u32 = 12;
const A3: u32 = 13;
const A4: u32 = 14;
const SIGNAL: u32 = 34;
const MAIN: u32 = 1_000;

/// Offsets from `S0`: the sum of all additions, the number of finished threads, the start flag, the handler's action,
/// and a word for each step, which is set when the step is posted.
const TOTAL: u32 = 0;
const DONE: u32 = 64;
const START: u32 = 128;
const ACTION: u32 = 192;
const TOLD: u32 = 1_024;
/// The offset of the counts of handled signals. Each thread's `TP` points to its count.
const HANDLED: u32 = 2_048;
/// The offset of the threads' pages. Each thread's `S1` points to its page: times, an event, sets, and its stack.
const OWN: u32 = 4_096;
const TIME: u32 = 0;
const TIMER: u32 = 64;
const EVENT: u32 = 128;
const NUMBER: u32 = 192;
const SET: u32 = 256;
const THREADS: u32 = 6;

/// A step of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Count(u32),
    /// Computes for this number of laps, then counts as often as the result's last bits say.
    Float(u32),
    Add(u32),
    Signal(u32),
    /// Sends a signal to the thread of the first number, after the second number of nanoseconds.
    Timer(u32, u32),
    Nap(u32),
    Yield,
    /// Confines a thread to a set of cores.
    Confine(u32, u32),
    Block,
    Unblock,
    Begin,
    End,
    /// Posts that a step is done.
    Tell(usize),
    /// Waits until a step is posted. The second number selects the way of waiting.
    Await(usize, u8),
    /// Makes a channel, posts its number, and waits for a message.
    Receive(usize),
    /// Sends a message to the channel that a step has posted.
    Send(usize),
}

fn jump(offset: i32) -> u32 {
    let imm = offset as u32;
    (imm >> 20 & 1) << 31 | (imm >> 1 & 1023) << 21 | (imm >> 11 & 1) << 20 | imm & 0xF_F000 | 0x6F
}

fn load(rd: u32, base: u32, offset: u32) -> u32 {
    i_type(0x03, rd, 3, base, offset as i32)
}

fn store(base: u32, offset: u32, register: u32) -> u32 {
    s_type(0x23, 3, base, register, offset)
}

/// Adds `T0` to the word at the address in a register.
fn add_to(base: u32) -> u32 {
    3 << 12 | base << 15 | T0 << 20 | 0x2F
}

fn put(base: u32, offset: u32, value: u32) -> Vec<u32> {
    [&li(T0, value)[..], &[store(base, offset, T0)]].concat()
}

/// An instruction of the custom-0 opcode.
fn custom(function: u32, rd: u32, a: u32, b: u32) -> u32 {
    function << 25 | b << 20 | a << 15 | rd << 7 | 0x0B
}

fn told(step: usize) -> u32 {
    TOLD + 8 * step as u32
}

/// A system call. Each argument is a register plus a small number.
fn ask(number: i32, arguments: &[(u32, u32, i32)]) -> Vec<u32> {
    let mut code: Vec<u32> = arguments
        .iter()
        .map(|&(to, base, value)| addi(to, base, value))
        .collect();
    code.extend(call(number));
    code
}

/// Posts `T0` as the word of a step, and wakes the threads that wait for it.
fn tell(step: usize) -> Vec<u32> {
    let at = told(step);
    let wake = ask(
        98,
        &[(A0, S0, at as i32), (A1, 0, 1), (A2, 0, 1_000), (A3, 0, 0)],
    );
    [&[store(S0, at, T0)][..], &wake].concat()
}

/// Computes `f2 = sqrt(f2 * (3 / 10) + 3)` for `laps` laps, then counts as often as the last bits of `f2` say.
fn float(laps: u32) -> Vec<u32> {
    let operation =
        |base: u32, rd: u32, rs1: u32, rs2: u32| base | rs2 << 20 | rs1 << 15 | 7 << 12 | rd << 7;
    let convert = |rd: u32| operation(0xD220_0053, rd, T0, 0);
    let code = [
        [addi(T0, 0, 10), convert(0), addi(T0, 0, 3), convert(1)].to_vec(),
        // f3 = f1 / f0, f2 = the number of laps
        vec![operation(0x1A00_0053, 3, 1, 0)],
        li(T0, laps).to_vec(),
        vec![convert(2)],
        // f2 = sqrt(f2 * f3 + f1), until there are no laps
        vec![
            operation(0x0A00_0043, 2, 2, 3),
            operation(0x5A00_0053, 2, 2, 0),
        ],
        vec![addi(T0, T0, -1), branch(1, T0, -12)],
        // The last bits of f2.
        vec![
            0xE200_0053 | 2 << 15 | T1 << 7,
            i_type(0x13, T1, 7, T1, 1_023),
        ],
        vec![addi(T1, T1, 1), addi(T1, T1, -1), branch(1, T1, -4)],
    ];
    code.concat()
}

impl Step {
    fn code(self) -> Vec<u32> {
        match self {
            Self::Count(laps) => {
                [&li(T1, laps)[..], &[addi(T1, T1, -1), branch(1, T1, -4)]].concat()
            }
            Self::Float(laps) => float(laps),
            Self::Add(value) => vec![addi(T0, 0, value as i32), add_to(S0)],
            Self::Signal(to) => {
                let to = (MAIN + to) as i32;
                ask(131, &[(A0, 0, MAIN as i32), (A1, 0, to), (A2, 0, 34)])
            }
            Self::Timer(to, delay) => [
                put(S1, TIMER + 24, delay),
                put(S1, EVENT + 8, SIGNAL),
                // SIGEV_THREAD_ID, in the upper half of the word.
                [&li(T0, 4)[..], &[s_type(0x23, 2, S1, T0, EVENT + 12)]].concat(),
                put(S1, EVENT + 16, MAIN + to),
                ask(
                    107,
                    &[(A0, 0, 1), (A1, S1, EVENT as i32), (A2, S1, NUMBER as i32)],
                ),
                vec![i_type(0x03, A0, 2, S1, NUMBER as i32)],
                ask(110, &[(A1, 0, 0), (A2, S1, TIMER as i32), (A3, 0, 0)]),
            ]
            .concat(),
            Self::Nap(time) => [
                put(S1, TIME + 8, time),
                ask(101, &[(A0, S1, 0), (A1, 0, 0)]),
            ]
            .concat(),
            Self::Yield => ask(124, &[]),
            Self::Confine(who, cores) => {
                let who = (MAIN + who) as i32;
                let ask = ask(122, &[(A0, 0, who), (A1, 0, 8), (A2, S1, SET as i32)]);
                [put(S1, SET, cores), ask].concat()
            }
            Self::Block | Self::Unblock => {
                let how = matches!(self, Self::Unblock).into();
                let set = [addi(T0, 0, 1), i_type(0x13, T0, 1, T0, SIGNAL as i32 - 1)];
                let ask = ask(
                    135,
                    &[(A0, 0, how), (A1, S1, SET as i32), (A2, 0, 0), (A3, 0, 8)],
                );
                [&set[..], &[store(S1, SET, T0)], &ask].concat()
            }
            Self::Begin => vec![custom(64, 0, 0, 0)],
            Self::End => vec![custom(65, 0, 0, 0)],
            Self::Tell(step) => [vec![addi(T0, 0, 1)], tell(step)].concat(),
            Self::Await(step, way) => wait_for(told(step), way),
            Self::Receive(step) => [
                // Creates and opens the channel, posts it, and waits.
                vec![custom(0, CHANNEL, 0, 0), custom(1, 0, CHANNEL, 0)],
                vec![addi(T0, CHANNEL, 1)],
                tell(step),
                vec![custom(7, 0, CHANNEL, 0)],
            ]
            .concat(),
            Self::Send(step) => [
                wait_for(told(step), 0),
                vec![addi(T0, T0, -1), custom(5, 0, T0, T0)],
            ]
            .concat(),
        }
    }
}

/// Waits until the word at an offset from `S0` is not zero. Leaves the word in `T0`.
fn wait_for(at: u32, way: u8) -> Vec<u32> {
    let look = load(T0, S0, at);
    // A loop around a system call, until the word is set.
    let around = |lap: Vec<u32>| {
        let length = lap.len() as i32;
        let code = [&[look, branch(1, T0, 4 * (length + 2))][..], &lap];
        [code.concat(), vec![jump(-4 * (length + 2))]].concat()
    };
    let sleep = |time: u32| {
        let address = (A0, S0, at as i32);
        ask(
            98,
            &[address, (A1, 0, 0), (A2, 0, 0), (A3, time, TIME as i32)],
        )
    };
    match way {
        0 => vec![look, branch(0, T0, -4)],
        1 => vec![addi(T1, T1, 1), look, branch(0, T0, -8)],
        2 => around(ask(124, &[])),
        3 => around(sleep(0)),
        // With a time limit.
        4 => [put(S1, TIME + 8, 7_000), around(sleep(S1))].concat(),
        // A `pause` ends the thread's slice in a run without timing.
        _ => vec![look, 0x0100_000F, branch(0, T0, -8)],
    }
}

/// Returns a random program, and the words that it must write.
fn program(rng: &mut Rng, cores: u32, channels: bool) -> (Vec<u32>, Vec<u64>) {
    let threads = rng.u32(2..=THREADS);
    let mut steps: Vec<Vec<Step>> = vec![Vec::new(); threads as usize];
    let mut blocked = vec![false; threads as usize];
    let mut signals = vec![0u64; threads as usize];
    let (mut total, mut words) = (0, 0);
    for _ in 0..rng.usize(10..60) {
        let me = rng.usize(..steps.len());
        let other = rng.u32(..threads);
        let set = rng.u32(1..=u32::MAX >> (32 - cores));
        let step = match rng.u8(..16) {
            0 => Step::Float(rng.u32(1..200)),
            1 | 2 => Step::Count(rng.u32(1..20_000)),
            3 => Step::Add(rng.u32(1..2_000)),
            4 | 5 => Step::Signal(other),
            6 => Step::Timer(other, rng.u32(1..60_000)),
            7 => Step::Nap(rng.u32(1..60_000)),
            8 => Step::Yield,
            9 if channels => {
                // A port belongs to a core, so the receiver stays on one core, and the sender on another.
                let sender = (me + rng.usize(1..steps.len())) % steps.len();
                let there = rng.u32(..cores);
                let elsewhere = (there + rng.u32(1..cores)) % cores;
                steps[me].push(Step::Confine(me as u32, 1 << there));
                steps[me].push(Step::Receive(words));
                steps[sender].push(Step::Confine(sender as u32, 1 << elsewhere));
                steps[sender].push(Step::Send(words));
                words += 1;
                continue;
            }
            9 => Step::Confine(other, set),
            10 => {
                blocked[me] = !blocked[me];
                if blocked[me] {
                    Step::Block
                } else {
                    Step::Unblock
                }
            }
            11 => [Step::Begin, Step::End][rng.usize(..2)],
            12 | 13 if words > 0 => Step::Await(rng.usize(..words), rng.u8(..6)),
            _ => {
                words += 1;
                Step::Tell(words - 1)
            }
        };
        match step {
            Step::Add(value) => total += u64::from(value),
            Step::Signal(to) | Step::Timer(to, _) => signals[to as usize] += 1,
            _ => {}
        }
        steps[me].push(step);
    }
    let expected = [vec![total, u64::from(threads) - 1], signals.clone()].concat();
    (assemble(&steps, &signals), expected)
}

pub(super) fn assemble(steps: &[Vec<Step>], signals: &[u64]) -> Vec<u32> {
    let handler = [&[addi(T0, 0, 1), add_to(TP)][..], &[0x0000_8067]].concat();
    // The handler's code comes first.
    let mut code = vec![jump(4 * (1 + handler.len() as i32))];
    code.extend(&handler);
    code.extend(li(S0, DATA as u32));
    code.extend(put(S0, ACTION, CODE as u32 + 4));
    let action = (A1, S0, ACTION as i32);
    code.extend(ask(
        134,
        &[(A0, 0, SIGNAL as i32), action, (A2, 0, 0), (A3, 0, 8)],
    ));
    let mut entries = Vec::new();
    for thread in 1..steps.len() as u32 {
        // Threads share memory, files and handlers. The call sets `TP`.
        code.extend(li(A0, 0x9_0F00));
        code.extend(li(A1, DATA as u32 + OWN * (thread + 2)));
        code.extend(li(A3, DATA as u32 + HANDLED + 64 * thread));
        code.extend(ask(220, &[(A2, 0, 0), (A4, 0, 0)]));
        code.push(branch(1, A0, 8));
        entries.push(code.len());
        code.push(0);
    }
    code.extend(li(TP, DATA as u32 + HANDLED));
    code.extend(put(S0, START, 1));
    for (thread, steps) in steps.iter().enumerate() {
        if thread > 0 {
            let entry = entries[thread - 1];
            code[entry] = jump(4 * (code.len() - entry) as i32);
            code.extend(wait_for(START, 0));
        }
        code.extend(li(S1, DATA as u32 + OWN * (thread as u32 + 1)));
        code.extend(steps.iter().flat_map(|step| step.code()));
        code.extend(Step::Unblock.code());
        // Waits until all signals have arrived. The main thread also waits for the other threads.
        let is = |base: u32, offset: u32, value: u64| {
            let difference = addi(T0, T0, -(value as i32));
            [load(T0, base, offset), difference, branch(1, T0, -8)]
        };
        code.extend(is(TP, 0, signals[thread]));
        if thread > 0 {
            code.extend([addi(T0, 0, 1), addi(T1, S0, DONE as i32), add_to(T1)]);
            code.extend(call(93));
        } else {
            code.extend(is(S0, DONE, signals.len() as u64 - 1));
            code.extend(li(A1, DATA as u32));
            code.extend(li(A2, OWN));
            code.extend(ask(64, &[(A0, 0, 1)]));
            code.extend([addi(A0, 0, 0), addi(17, 0, 94), ECALL]);
        }
    }
    code
}

/// Runs code of `threads` threads. Returns the outcome, and the words that tests compare.
pub(super) fn run(
    code: &[u32],
    threads: usize,
    how: impl FnOnce(Program) -> Result<Outcome, crate::RunError>,
) -> (Outcome, Vec<u64>) {
    let code: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("program");
    let data = vec![0; (OWN * (THREADS + 2)) as usize];
    std::fs::write(&file, elf(&[(CODE, 7, &code), (DATA, 6, &data)])).expect("room for it");
    let kept = Kept::default();
    let outcome = how(Program::new(file).streams(kept.clone(), kept.clone())).expect("it runs");
    let bytes = kept.take();
    assert_eq!(
        (outcome.status, bytes.len()),
        (0, OWN as usize),
        "{:?}",
        outcome.message
    );
    let word = |at: u32| {
        let bytes = &bytes[at as usize..at as usize + 8];
        u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
    };
    let handled = (0..threads as u32).map(|thread| word(HANDLED + 64 * thread));
    let found = [word(TOTAL), word(DONE)].into_iter().chain(handled);
    (outcome, found.collect())
}

#[test]
fn however_a_program_runs_it_does_the_same() {
    let mut rng = Rng::with_seed(21);
    for case in 0..cases(40) {
        let channels = case % 4 == 0;
        let cores = [2, 4, 16, 1, 32][rng.usize(..if channels { 3 } else { 5 })];
        let cpus = rng.u32(1..=cores);
        let preset = if cores == 32 { "dahu" } else { "atac-64" };
        let mut machine = Config::preset(preset).expect("the preset is there");
        let setting = format!("cores={cores}");
        machine.set(&setting).expect("it may have so many");
        let (code, expected) = program(&mut rng, cores, channels);
        let threads = expected.len() - 2;
        let forward = rng.u64(1..200_000);
        let runs = |forward: Option<u64>| {
            let hashes = [0, 500].map(|segments| {
                let (outcome, found) = run(&code, threads, |program| {
                    let mut program = program.cpus(cpus);
                    if let Some(instructions) = forward {
                        program = program.fast_forward(instructions);
                    }
                    let simulation = Simulation::new(&machine).timeline(segments);
                    program.run(simulation.limit(1 << 40))
                });
                assert_eq!(found, expected, "case {case}, forwarded by {forward:?}");
                let timing = outcome.timing.as_ref();
                timing.map(|timing| {
                    let all = timing.run.statistics.report.total.sum();
                    let regions = timing.regions.iter();
                    let parts = regions.map(|region| (region.spent.sum(), region.to - region.from));
                    for (spent, length) in parts {
                        assert!(spent == u64::from(cores) * length && spent <= all);
                    }
                    timing.run.statistics.hash
                })
            });
            // The timeline does not change the hash.
            assert_eq!(
                hashes[0], hashes[1],
                "case {case}, forwarded by {forward:?}"
            );
        };
        runs(None);
        runs(Some(forward));
        runs(Some(u64::MAX));
        if !channels {
            let how = |program: Program| program.cpus(cpus).run_functionally(cores);
            assert_eq!(run(&code, threads, how).1, expected, "case {case}");
        }
    }
}
