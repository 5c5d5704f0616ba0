//! `membarrier`.

use super::guest::{A0, A1, DATA, S0, T0, addi, branch, call, li, run};
use manycore_chip::config::Config;

const MEMBARRIER: i32 = 283;
const WORLDS: [Option<(&str, u64)>; 2] = [None, Some(("dahu", u64::MAX))];

/// `membarrier` with a command. The result is in `a0`.
fn membarrier(command: i32) -> Vec<u32> {
    let [number, ecall] = call(MEMBARRIER);
    vec![addi(A0, 0, command), addi(A1, 0, 0), number, ecall]
}

#[test]
fn a_process_must_register() {
    // Ends with the error's number.
    let ends = || {
        let [number, ecall] = call(94);
        vec![0x4000_0033 | A0 << 20 | A0 << 7, number, ecall]
    };
    for on in WORLDS {
        let status = |commands: &[i32]| {
            let calls = commands.iter().flat_map(|&command| membarrier(command));
            let code: Vec<u32> = calls.chain(ends()).collect();
            run(&code, on).unwrap().status
        };
        // EPERM, success, and EINVAL for an unknown command.
        assert_eq!(status(&[8]), 1);
        assert_eq!(status(&[16, 8]), 0);
        assert_eq!(status(&[16, 32]), 1);
        assert_eq!(status(&[64, 32]), 0);
        assert_eq!(status(&[1]), 22);
        // A status has 8 bits, so only the lower commands are compared. The program ends with the negated result.
        assert_eq!(status(&[0]), -0x278 & 0xFF);
        assert_eq!(status(&[512]), 0);
        assert_eq!(status(&[16, 512]), -16 & 0xFF);
        assert_eq!(status(&[64, 512]), -80 & 0xFF);
    }
}

/// The time that `membarrier` takes, in units of 64 cycles, in a process that has a second thread.
fn took(second: &[u32]) -> i32 {
    const THREAD: u32 = 0x1_0F00;
    const RDCYCLE: u32 = 0xC00 << 20 | 2 << 12 | 0x73;
    let [clone, ecall] = call(220);
    // The second thread gets a page of its own as a stack.
    let mut code = [li(A0, THREAD), li(A1, DATA as u32 + 4096)].concat();
    code.extend([clone, ecall, branch(1, A0, 4 * (1 + second.len() as i32))]);
    code.extend(second);
    // The second thread has begun when this loop ends.
    code.extend(li(T0, 100_000));
    code.extend([addi(T0, T0, -1), branch(1, T0, -4)]);
    code.extend(membarrier(16));
    code.push(RDCYCLE | S0 << 7);
    code.extend(membarrier(8));
    code.push(RDCYCLE | T0 << 7);
    // a0 = (t0 - s0) >> 6
    code.push(0x4000_0033 | S0 << 20 | T0 << 15 | A0 << 7);
    code.push(0x0060_5013 | A0 << 15 | A0 << 7);
    code.extend(call(94));
    run(&code, WORLDS[1]).unwrap().status
}

#[test]
fn it_interrupts_the_cores_of_the_process() {
    let os = Config::preset("dahu").unwrap().os;
    let [exit, ecall] = call(93);
    // A branch of length 0.
    let runs = took(&[branch(0, 0, 0)]);
    let has_ended = took(&[exit, ecall]);
    let more = (os.ipi + os.interrupt) as i32 / 64;
    assert!(
        more > 1 && (more..=more + 1).contains(&(runs - has_ended)),
        "{runs} {has_ended} {more}"
    );
}
