//! Small programs that the tests assemble, without a compiler.

use super::{Kept, elf, i_type, s_type};
use crate::{Outcome, Program, RunError};
use manycore_chip::{Simulation, config::Config};

pub(super) const CODE: u64 = 0x10_0000;
pub(super) const DATA: u64 = 0x20_0000;
pub(super) const DATA_BYTES: usize = 3 * 4096;

pub(super) const A0: u32 = 10;
pub(super) const A1: u32 = 11;
pub(super) const A7: u32 = 17;
pub(super) const T0: u32 = 5;
pub(super) const T1: u32 = 6;
pub(super) const S0: u32 = 8;
pub(super) const ECALL: u32 = 0x73;

pub(super) fn addi(rd: u32, rs1: u32, imm: i32) -> u32 {
    i_type(0x13, rd, 0, rs1, imm)
}

/// Two instructions that load a constant.
pub(super) fn li(rd: u32, value: u32) -> [u32; 2] {
    let low = (value << 20) as i32 >> 20;
    [
        value.wrapping_sub(low as u32) & 0xFFFF_F000 | rd << 7 | 0x37,
        addi(rd, rd, low),
    ]
}

/// A branch if a register is zero (`funct3` 0) or not zero (`funct3` 1).
pub(super) fn branch(funct3: u32, rs1: u32, offset: i32) -> u32 {
    let imm = offset as u32;
    (imm >> 12 & 1) << 31
        | (imm >> 5 & 63) << 25
        | rs1 << 15
        | funct3 << 12
        | (imm >> 1 & 15) << 8
        | (imm >> 11 & 1) << 7
        | 0x63
}

pub(super) fn call(number: i32) -> [u32; 2] {
    [addi(A7, 0, number), ECALL]
}

/// `exit_group` with a small status.
pub(super) fn exit(status: i32) -> [u32; 3] {
    let [number, ecall] = call(94);
    [addi(A0, 0, status), number, ecall]
}

/// Makes a program of the code and three pages of zeros at `DATA`, and calls `then`.
pub(super) fn with_program<R>(code: &[u32], then: impl FnOnce(Program) -> R) -> R {
    let code: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("program");
    let text = elf(&[(CODE, 7, &code), (DATA, 6, &[0; DATA_BYTES])]);
    std::fs::write(&file, text).expect("room for a program");
    let kept = Kept::default();
    then(Program::new(file).streams(kept.clone(), kept))
}

/// Runs code without a machine, or on a preset for at most `limit` cycles.
pub(super) fn run(code: &[u32], on: Option<(&str, u64)>) -> Result<Outcome, RunError> {
    with_program(code, |program| match on {
        None => program.run_functionally(2),
        Some((preset, limit)) => {
            let machine = Config::preset(preset).expect("the preset is there");
            program.run(Simulation::new(&machine).limit(limit))
        }
    })
}

const WORLDS: [Option<(&str, u64)>; 2] = [None, Some(("dahu", u64::MAX))];

#[test]
fn the_exit_status_is_the_programs() {
    for on in WORLDS {
        let outcome = run(&exit(42), on).unwrap();
        assert_eq!((outcome.status, outcome.message), (42, None));
        assert_eq!(outcome.instructions, 3);
    }
}

#[test]
fn what_a_program_may_not_do_kills_it_by_a_signal_and_says_where() {
    let load = i_type(0x03, A0, 3, 0, 8);
    let store = s_type(0x23, 3, 0, 0, 8);
    let amo = 0x2F | A0 << 7 | 2 << 12 | T0 << 15;
    let cases: [(Vec<u32>, i32, &str); 5] = [
        (
            vec![load],
            139,
            "SIGSEGV: a read of 0x8, where nothing is mapped, at 0x100000",
        ),
        (
            vec![store],
            139,
            "SIGSEGV: a write to 0x8, where nothing is mapped",
        ),
        (
            vec![0xFFFF_FFFF],
            132,
            "SIGILL: the bits 0xffffffff are not an instruction",
        ),
        (vec![0x0010_0073], 133, "SIGTRAP: ebreak"),
        (
            [&li(T0, 0x20_0002)[..], &[amo]].concat(),
            135,
            "SIGBUS: an atomic access to 0x200002",
        ),
    ];
    for (code, status, words) in &cases {
        for on in WORLDS {
            let outcome = run(code, on).unwrap();
            let message = outcome.message.unwrap_or_default();
            assert!(
                outcome.status == *status && message.contains(words),
                "{message}"
            );
        }
    }
}

#[test]
fn a_system_call_that_is_not_there_fails_and_is_named() {
    for on in WORLDS {
        for (number, name) in [(999, "number 999"), (180, "mq_open"), (26, "inotify_init1")] {
            let code = [call(number), call(94)].concat();
            let outcome = run(&code, on).unwrap();
            let named: Vec<_> = outcome.absent.into_iter().collect();
            assert_eq!(outcome.status, -38 & 0xFF, "ENOSYS");
            assert!(
                matches!(&*named, [(call, place)] if call == name && place.starts_with("0x100004")),
                "{named:?}"
            );
        }
    }
}

/// Starts a thread on its own stack. The thread's code begins `child` words after the branch.
pub(super) fn start_thread(child: i32) -> Vec<u32> {
    // CLONE_VM | FS | FILES | SIGHAND | THREAD
    let mut code = li(A0, 0x1_0F00).to_vec();
    code.extend(li(A1, DATA as u32 + 0x3000));
    code.extend(call(220));
    code.push(branch(0, A0, 4 * child));
    code
}

/// The main thread spins on a flag. Another thread sets the flag after `laps` laps of counting.
fn flag_after(laps: u32) -> Vec<u32> {
    let mut code = li(S0, DATA as u32).to_vec();
    let wait = [i_type(0x03, T0, 3, S0, 0), branch(0, T0, -4)];
    code.extend(start_thread(1 + wait.len() as i32 + exit(7).len() as i32));
    code.extend(wait);
    code.extend(exit(7));
    code.extend(li(T1, laps));
    code.extend([addi(T1, T1, -1), branch(1, T1, -4), addi(T0, 0, 1)]);
    code.push(s_type(0x23, 3, S0, T0, 0));
    // `exit` ends only this thread.
    code.extend(call(93));
    code
}

/// The count of instructions includes a thread that still runs when the program exits.
#[test]
fn instructions_are_those_of_all_threads() {
    const LAPS: u32 = 100_000;
    let mut code = li(S0, DATA as u32).to_vec();
    let count = |laps: u32| [&li(T1, laps)[..], &[addi(T1, T1, -1), branch(1, T1, -4)]].concat();
    let (own, other) = (count(LAPS), count(4 * LAPS));
    code.extend(start_thread(1 + own.len() as i32 + exit(5).len() as i32));
    code.extend(own);
    code.extend(exit(5));
    code.extend(other);
    code.extend(call(93));
    for on in WORLDS {
        let outcome = run(&code, on).unwrap();
        assert_eq!(outcome.status, 5);
        // The main thread executes two instructions in each lap, and the other thread about as many until the exit.
        let laps = outcome.instructions as f64 / f64::from(LAPS);
        assert!((3.0..5.0).contains(&laps), "{laps}");
    }
}

#[test]
fn a_loop_that_waits_for_a_flag_costs_no_host_work() {
    const LAPS: u32 = 200_000;
    for preset in ["atac-64", "dahu", "westmere-ex"] {
        let outcome = run(&flag_after(LAPS), Some((preset, u64::MAX))).unwrap();
        assert_eq!(outcome.status, 7);
        // Nearly all instructions are from the other thread, which executes two in each lap.
        let own = outcome.instructions - 2 * u64::from(LAPS);
        assert!(own < 500, "{preset}: {own} instructions beside the count");
        let machine = Config::preset(preset).unwrap();
        let cycles = outcome.timing.unwrap().run.statistics.cycles;
        assert!(cycles as f64 > 2.0 * f64::from(LAPS) * machine.core.cpi);
    }
    assert_eq!(run(&flag_after(20_000), None).unwrap().status, 7);
}

/// Stores a word at an offset from `S0`, the start of the data.
pub(super) fn put(offset: u32, value: u32) -> Vec<u32> {
    let mut code = li(T0, value).to_vec();
    code.push(s_type(0x23, 3, S0, T0, offset));
    code
}

/// The offsets of the tests' data, after the flag.
const ACTION: u32 = 64;
const EVENT: u32 = 128;
pub(super) const TIME: u32 = 192;
const TIMER: u32 = 256;
const A2: u32 = 12;
const A3: u32 = 13;
const SIGNAL: u32 = 34;

/// Sets a handler, runs `send`, and waits in the loop `lap` for the flag, which the handler sets to 9. Then exits with
/// the flag. `child` is the code of another thread.
fn interrupted(send: &[u32], lap: &[u32], child: &[u32]) -> Vec<u32> {
    let mut code = li(S0, DATA as u32).to_vec();
    let (action, end) = (8, 3);
    // In the code, the handler follows the call that sets the action, `send`, the loop and the exit.
    let handler = code.len() + 3 + action + send.len() + lap.len() + end;
    code.extend(put(ACTION, CODE as u32 + 4 * handler as u32));
    code.extend([
        addi(A0, 0, SIGNAL as i32),
        addi(A1, S0, ACTION as i32),
        addi(A2, 0, 0),
        addi(A3, 0, 8),
    ]);
    code.extend(call(134));
    code.extend([addi(0, 0, 0); 2]);
    code.extend(send);
    code.extend(lap);
    code.push(addi(A0, T0, 0));
    code.extend(call(94));
    assert_eq!(code.len(), handler);
    code.extend([addi(T0, 0, 9), s_type(0x23, 3, S0, T0, 0), 0x0000_8067]);
    code.extend(child);
    code
}

/// Loops that wait for the flag: the first only waits, the second counts, the third writes elsewhere.
fn waits() -> [Vec<u32>; 3] {
    let load = i_type(0x03, T0, 3, S0, 0);
    let count = addi(T1, T1, 1);
    let write = s_type(0x23, 3, S0, T1, 512);
    [
        vec![load, branch(0, T0, -4)],
        vec![count, load, branch(0, T0, -8)],
        vec![count, write, load, branch(0, T0, -12)],
    ]
}

#[test]
fn a_timer_interrupts_whatever_loop_runs() {
    let mut timer = put(EVENT + 8, SIGNAL);
    timer.extend(put(TIME + 24, 50_000));
    timer.extend([
        addi(A0, 0, 1),
        addi(A1, S0, EVENT as i32),
        addi(A2, S0, TIMER as i32),
    ]);
    timer.extend(call(107));
    timer.extend([
        addi(A0, 0, 0),
        addi(A1, 0, 0),
        addi(A2, S0, TIME as i32),
        addi(A3, 0, 0),
    ]);
    timer.extend(call(110));
    for lap in waits() {
        let code = interrupted(&timer, &lap, &[]);
        for on in WORLDS {
            let outcome = run(&code, on).unwrap();
            assert_eq!((outcome.status, outcome.message), (9, None));
            if let Some(timing) = outcome.timing {
                let machine = Config::preset("dahu").unwrap();
                let nanoseconds = timing.run.statistics.cycles as f64 / machine.ghz;
                // The time beyond 50,000 ns is for the thread's start, three system calls and the handler.
                assert!((50_000.0..60_000.0).contains(&nanoseconds), "{nanoseconds}");
            }
        }
        // The timed machine takes over after 20,000 instructions, and the program keeps its timer. By then, 20 to 30 us
        // of the timer's time are over, since an instruction takes 1 ns and each round of a spin loop 1 ns more.
        let machine = Config::preset("dahu").unwrap();
        let forwarded = with_program(&code, |program| program.fast_forward(20_000).run(&machine));
        let outcome = forwarded.unwrap();
        assert_eq!((outcome.status, outcome.message), (9, None));
        let cycles = outcome.timing.unwrap().run.statistics.cycles;
        let nanoseconds = cycles as f64 / machine.ghz;
        assert!((20_000.0..35_000.0).contains(&nanoseconds), "{nanoseconds}");
    }
}

#[test]
fn a_thread_that_spins_takes_a_signal_of_another() {
    for lap in waits() {
        // The code of the thread that sends the signal follows the handler.
        let end = lap.len() as i32 + 3 + 3;
        let start = start_thread(1 + end);
        let mut child = li(T1, 30_000).to_vec();
        child.extend([addi(T1, T1, -1), branch(1, T1, -4)]);
        child.extend([
            addi(A0, 0, 1_000),
            addi(A1, 0, 1_000),
            addi(A2, 0, SIGNAL as i32),
        ]);
        child.extend(call(131));
        child.extend(call(93));
        let code = interrupted(&start, &lap, &child);
        for on in WORLDS {
            assert_eq!(run(&code, on).unwrap().status, 9);
        }
    }
}

/// The program has no handler, so only the signal itself ends the wait.
#[test]
fn a_signal_kills_a_program_whose_threads_only_wait() {
    for lap in waits() {
        let count = [&li(T1, 30_000)[..], &[addi(T1, T1, -1), branch(1, T1, -4)]].concat();
        let send = [addi(A0, 0, 1_000), addi(A1, 0, 1_001), addi(A2, 0, 15)];
        let send = [&send[..], &call(131)].concat();
        let main = [count, send, lap.clone()].concat();
        let start = start_thread(1 + main.len() as i32);
        let code = [&li(S0, DATA as u32)[..], &start, &main, &lap].concat();
        for on in WORLDS {
            let outcome = run(&code, on).unwrap();
            let message = outcome.message.unwrap_or_default();
            assert_eq!(outcome.status, 128 + 15, "{message}");
            assert!(
                message.contains("SIGTERM: sent by the program"),
                "{message}"
            );
        }
    }
}

/// `openat` of a path that exists on the host.
#[test]
fn what_the_host_tells_of_itself_is_not_there() {
    let opened = |path: &str| {
        assert!(std::path::Path::new(path).exists(), "{path}");
        let mut code = li(S0, DATA as u32).to_vec();
        for (at, word) in (0u32..).step_by(4).zip(path.as_bytes().chunks(4)) {
            let mut bytes = [0; 4];
            bytes[..word.len()].copy_from_slice(word);
            code.extend(put(at, u32::from_le_bytes(bytes)));
        }
        code.extend([addi(A0, 0, -100), addi(A1, S0, 0), addi(A2, 0, 0)]);
        code.extend(call(56));
        // The status is the descriptor, or the negated error.
        code.extend(call(94));
        run(&code, None).unwrap().status
    };
    const NOT_THERE: i32 = 256 - 2;
    for path in [
        "/proc/self/mountinfo",
        "/proc/version",
        "/proc/1",
        "/sys/kernel",
        "/etc/passwd",
        "/tmp/../etc/passwd",
        "/usr/lib",
        "/dev/ptmx",
    ] {
        assert_eq!(opened(path), NOT_THERE, "{path}");
    }
    for path in [
        "/proc/cpuinfo",
        "/proc/self/maps",
        "/dev/null",
        "/dev/stdin",
        "/",
    ] {
        assert_eq!(opened(path), 3, "{path}");
    }
}

/// The program reads the given standard input, and reaches its end.
#[test]
fn standard_input_is_given() {
    let mut code = li(S0, DATA as u32).to_vec();
    for _ in 0..2 {
        code.extend([addi(A0, 0, 0), addi(A1, S0, 0), addi(A2, 0, 2)]);
        code.extend(call(63));
    }
    // Adds the second byte to the second read's length: lbu t0, 1(s0); add a0, a0, t0
    code.extend([
        i_type(0x03, T0, 4, S0, 1),
        T0 << 20 | A0 << 15 | A0 << 7 | 0x33,
    ]);
    code.extend(call(94));
    let given = |input: &'static [u8]| {
        with_program(&code, |program| {
            program.input(input).run_functionally(1).unwrap().status
        })
    };
    assert_eq!([given(&[7, 42]), given(&[7, 9, 1])], [42, 9 + 1]);
}

/// Bytes of `/dev/urandom` depend only on the seed, like the bytes of `getrandom`.
#[test]
fn random_bytes_come_from_the_seed() {
    let byte = |seed| {
        let mut code = li(S0, DATA as u32).to_vec();
        for (at, word) in (0u32..).step_by(4).zip(b"/dev/urandom".chunks(4)) {
            code.extend(put(at, u32::from_le_bytes(word.try_into().unwrap())));
        }
        code.extend([addi(A0, 0, -100), addi(A1, S0, 0), addi(A2, 0, 0)]);
        code.extend(call(56));
        code.extend([addi(A1, S0, 64), addi(A2, 0, 9)]);
        code.extend(call(63));
        // lbu a0, 72(s0)
        code.push(i_type(0x03, A0, 4, S0, 72));
        code.extend(call(94));
        with_program(&code, |program| {
            program.seed(seed).run_functionally(1).unwrap().status
        })
    };
    let bytes: Vec<i32> = (0..8).map(byte).collect();
    assert_eq!(bytes, (0..8).map(byte).collect::<Vec<_>>());
    assert!(bytes.iter().any(|byte| *byte != bytes[0]), "{bytes:?}");
}
