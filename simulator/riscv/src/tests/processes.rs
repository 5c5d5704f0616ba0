//! Processes that make system calls without a C library.

use super::guest::{A0, A1, A7, DATA, ECALL, addi, branch, exit, li, run};
use super::i_type;

const A2: u32 = 12;
const A3: u32 = 13;
const T0: u32 = 5;
const WORLDS: [Option<(&str, u64)>; 2] = [None, Some(("dahu", u64::MAX))];

/// `clone` of a new process.
fn fork() -> Vec<u32> {
    vec![addi(A0, 0, 17), addi(A1, 0, 0), addi(A7, 0, 220), ECALL]
}

/// `wait4` for any child. The status goes to `DATA`.
fn wait() -> Vec<u32> {
    let mut code = vec![addi(A0, 0, -1)];
    code.extend(li(A1, DATA as u32));
    code.extend([addi(A2, 0, 0), addi(A3, 0, 0)]);
    code.extend([addi(A7, 0, 260), ECALL]);
    code
}

/// Code that forks. The child's code follows the branch, and the parent's code follows the child's code.
fn family(parent: &[u32], child: &[u32]) -> Vec<u32> {
    let mut code = fork();
    code.push(branch(1, A0, 4 * (1 + child.len() as i32)));
    code.extend(child);
    code.extend(parent);
    code
}

/// Sleeps for ever, by a `ppoll` of no files.
fn sleep() -> Vec<u32> {
    let mut code: Vec<u32> = (A0..A0 + 5).map(|register| addi(register, 0, 0)).collect();
    code.extend([addi(A7, 0, 73), ECALL]);
    code
}

#[test]
fn a_parent_learns_what_its_child_returned_and_has_its_own_memory() {
    let mut parent = wait();
    parent.extend(li(T0, DATA as u32));
    // Adds the status and the second word, which the child has written only in its own memory.
    parent.push(i_type(0x03, A0, 2, T0, 0));
    parent.push(i_type(0x13, A0, 5, A0, 8));
    parent.push(i_type(0x03, A1, 2, T0, 4));
    parent.push(0x33 | A0 << 7 | A0 << 15 | A1 << 20);
    parent.extend([addi(A7, 0, 94), ECALL]);
    let mut child = li(T0, DATA as u32).to_vec();
    child.push(super::s_type(0x23, 2, T0, T0, 4));
    child.extend(exit(23));
    let code = family(&parent, &child);
    for on in WORLDS {
        let outcomes = [0; 2].map(|_| run(&code, on).unwrap());
        for outcome in &outcomes {
            assert_eq!((outcome.status, &outcome.message), (23, &None));
            assert_eq!(outcome.instructions, outcomes[0].instructions);
        }
        let hashes = outcomes.map(|outcome| {
            let timing = outcome.timing?;
            Some(timing.run.statistics.hash)
        });
        assert_eq!(hashes[0], hashes[1]);
        assert_eq!(hashes[0].is_some(), on.is_some());
    }
}

#[test]
fn who_is_left_behind_is_named() {
    let code = family(&exit(5), &sleep());
    for on in WORLDS {
        let outcome = run(&code, on).unwrap();
        assert_eq!(outcome.status, 5);
        let message = outcome.message.expect("a process is left");
        let expected = "ended while 1 of its processes still ran: 1001 (program)";
        assert_eq!(message, expected);
    }
}

#[test]
fn a_wait_for_a_process_that_sleeps_for_ever_is_a_deadlock() {
    let code = family(&wait(), &sleep());
    for on in WORLDS {
        let error = run(&code, on).unwrap_err().to_string();
        assert!(error.contains("deadlock"), "{error}");
        assert!(error.contains("of a wait for a child (wait4)"), "{error}");
    }
}

/// A message says what a thread waits for in the kernel, on both machines.
#[test]
fn a_deadlock_names_the_pipe_the_signal_or_the_files_that_a_thread_waits_for() {
    // `pipe2` to `DATA`, then `read` of its first number.
    let mut pipe = li(A0, DATA as u32).to_vec();
    pipe.extend([addi(A1, 0, 0), addi(A7, 0, 59), ECALL]);
    pipe.extend(li(T0, DATA as u32));
    pipe.push(i_type(0x03, A0, 2, T0, 0));
    pipe.extend(li(A1, DATA as u32 + 64));
    pipe.extend([addi(A2, 0, 1), addi(A7, 0, 63), ECALL]);
    // `rt_sigsuspend` with the mask at `DATA`, which is empty.
    let mut signal = li(A0, DATA as u32).to_vec();
    signal.extend([addi(A1, 0, 8), addi(A7, 0, 133), ECALL]);
    for (code, what) in [
        (
            pipe,
            "thread main sleeps on the futex of a wait for a pipe (read of file 3)",
        ),
        (
            signal,
            "thread main sleeps on the futex of a wait for a signal (rt_sigsuspend)",
        ),
        (
            sleep(),
            "thread main sleeps on the futex of a wait for files (ppoll)",
        ),
    ] {
        for on in WORLDS {
            let error = run(&code, on).unwrap_err().to_string();
            assert!(error.contains("deadlock"), "{error}");
            assert!(error.contains(what), "{error}");
        }
    }
}

#[test]
fn processes_without_end_are_refused() {
    let mut code = fork();
    // The child sleeps. The parent forks again until it gets an error, which is its status.
    let child = sleep();
    code.push(branch(1, A0, 4 * (1 + child.len() as i32)));
    code.extend(&child);
    let back = -4 * (code.len() as i32 + 1);
    code.push(branch(4, A0, 8));
    code.push(jump(back));
    code.push(0x4000_0033 | A0 << 7 | A0 << 20);
    code.extend([addi(A7, 0, 94), ECALL]);
    let outcome = run(&code, None).unwrap();
    assert_eq!(outcome.status, 11);
    let message = outcome.message.expect("children are left");
    assert!(message.contains("511 of its processes"), "{message}");
    assert!(message.ends_with("and 503 more"), "{message}");
}

/// A jump by an offset.
fn jump(offset: i32) -> u32 {
    let imm = offset as u32;
    (imm >> 20 & 1) << 31
        | (imm >> 1 & 0x3FF) << 21
        | (imm >> 11 & 1) << 20
        | (imm >> 12 & 0xFF) << 12
        | 0x6F
}
