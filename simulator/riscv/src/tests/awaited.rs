//! Calls by one thread that end a wait of another thread.

use super::guest::{A0, A7, DATA, ECALL, S0, T0, addi, branch, call, exit, li, run};
use super::guest::{put, start_thread, with_program};
use super::i_type;

const WORLDS: [Option<(&str, u64)>; 2] = [None, Some(("dahu", u64::MAX))];
/// Offsets in the data: a time of 1 ms, other words, and room for what calls write.
const TIME: u32 = 64;
const WORDS: u32 = 128;
const ROOM: u32 = 512;
const DATA_AT: i64 = DATA as i64;

/// A call with these arguments.
fn with(number: i32, args: &[i64]) -> Vec<u32> {
    let loads = (A0..)
        .zip(args)
        .flat_map(|(register, &arg)| li(register, arg as u32));
    loads.chain(call(number)).collect()
}

fn nap() -> Vec<u32> {
    with(101, &[DATA_AT + i64::from(TIME), 0])
}

/// `exit_group` with the last call's result.
fn leave() -> Vec<u32> {
    vec![addi(A7, 0, 94), ECALL]
}

/// The data: the time of a nap, and these words.
fn data(words: &[u32]) -> Vec<u32> {
    let mut code = li(S0, DATA as u32).to_vec();
    code.extend(put(TIME + 8, 1_000_000));
    for (at, &word) in (WORDS..).step_by(8).zip(words) {
        code.extend(put(at, word));
    }
    code
}

/// Code that does `before`, begins a second thread, and then does `main`. The second thread does `other` and ends.
fn threads(before: &[u32], main: &[u32], other: &[u32]) -> Vec<u32> {
    let other = [other, &call(93)].concat();
    [before, &start_thread(1 + main.len() as i32), main, &other].concat()
}

fn check(what: &str, code: &[u32], status: i32) {
    for on in WORLDS {
        let outcome = run(code, on).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(outcome.status, status, "{what}: {:?}", outcome.message);
    }
}

#[test]
fn a_thread_arms_the_timer_that_another_reads() {
    let words = DATA_AT + i64::from(WORDS);
    let before = [data(&[0, 0, 0, 1_000]), with(85, &[1, 0])].concat();
    let main = [with(63, &[3, DATA_AT, 8]), leave()].concat();
    let other = [nap(), with(86, &[3, 0, words, 0])].concat();
    check("a timerfd", &threads(&before, &main, &other), 8);
}

#[test]
fn a_vector_without_a_place_wakes_a_reader_and_waits_for_a_writer() {
    let words = DATA_AT + i64::from(WORDS);
    let before = [data(&[DATA as u32 + ROOM, 5]), with(59, &[DATA_AT, 0])].concat();
    let write = with(287, &[4, words, 1, -1, 0, 0]);
    let main = [with(63, &[3, DATA_AT, 8]), leave()].concat();
    let other = [nap(), write.clone()].concat();
    check("pwritev2", &threads(&before, &main, &other), 5);
    let main = [with(286, &[3, words, 1, -1, 0, 0]), leave()].concat();
    let other = [nap(), with(64, &[4, DATA_AT, 3])].concat();
    check("preadv2", &threads(&before, &main, &other), 3);
}

/// A child reads a signal from a file of signals (`signalfd`) that its parent made.
#[test]
fn a_child_reads_its_signals_from_a_file_of_its_parent() {
    let words = DATA_AT + i64::from(WORDS);
    let mut code = data(&[1 << 9]);
    code.extend(with(135, &[0, words, 0, 8]));
    code.extend(with(74, &[-1, words, 8, 0]));
    code.extend(with(220, &[17, 0, 0, 0, 0]));
    let child = [with(63, &[3, DATA_AT + i64::from(ROOM), 128]), leave()].concat();
    code.push(branch(1, A0, 4 * (1 + child.len() as i32)));
    code.extend(child);
    code.extend(nap());
    code.extend(with(129, &[1_001, 10]));
    code.extend(with(260, &[-1, DATA_AT, 0, 0]));
    // The child's status, without the lower byte.
    code.push(i_type(0x03, A0, 4, S0, 1));
    code.extend(leave());
    check("a signalfd", &code, 128);
}

/// One connection is in the queue, which has room for one, until the other thread accepts it.
#[test]
fn a_connection_waits_for_room_in_the_queue() {
    let words = DATA_AT + i64::from(WORDS);
    // An abstract name of one letter, in four bytes.
    let name = 1 | u32::from(b'a') << 24;
    let socket = || with(198, &[1, 1, 0]);
    let mut before = data(&[name]);
    before.extend(socket());
    before.extend(with(200, &[3, words, 4]));
    before.extend(with(201, &[3, 0]));
    before.extend([socket(), socket()].concat());
    before.extend(with(203, &[4, words, 4]));
    let main = [with(203, &[5, words, 4]), leave()].concat();
    let other = [nap(), with(202, &[3, 0, 0])].concat();
    check("connect", &threads(&before, &main, &other), 0);
}

/// The kernel writes the awaited word, on behalf of another thread that reads a pipe.
#[test]
fn a_spin_sees_what_the_kernel_writes() {
    let (words, room) = (DATA_AT + i64::from(WORDS), DATA_AT + i64::from(ROOM));
    let before = [data(&[1]), with(59, &[DATA_AT, 0])].concat();
    let load = i_type(0x03, T0, 3, S0, ROOM as i32);
    let main = [&[load, branch(0, T0, -4)], &exit(6)[..]].concat();
    let reads = [with(64, &[4, words, 8]), with(63, &[3, room, 8])].concat();
    let other = [nap(), nap(), reads].concat();
    check("a pipe's reader", &threads(&before, &main, &other), 6);
}

/// `SIG_ERR` is not a handler's address. A signal then makes the hart jump to the last byte of memory.
#[test]
fn a_handler_nowhere_is_a_fault() {
    let mut code = li(S0, DATA as u32).to_vec();
    code.extend([addi(T0, 0, -1), super::s_type(0x23, 3, S0, T0, WORDS)]);
    code.extend(with(134, &[10, DATA_AT + i64::from(WORDS), 0, 8]));
    code.extend(with(129, &[0, 10]));
    code.extend(exit(0));
    check("SIG_ERR", &code, 128 + 11);
}

/// Each thread spins on a word that no thread writes: `lr`, and `wrs.nto`.
#[test]
fn threads_that_wait_for_a_word_for_ever_are_a_deadlock() {
    const WAIT: u32 = 0x00D0_0073;
    // lr.d t0, (s0)
    let load = 2 << 27 | S0 << 15 | 3 << 12 | T0 << 7 | 0x2F;
    let spin = [load, branch(1, T0, 12), WAIT, branch(0, 0, -12)];
    let main = [&spin[..], &exit(6)].concat();
    let code = threads(&data(&[]), &main, &spin);
    for on in WORLDS {
        let error = run(&code, on).expect_err("no thread writes the word");
        assert!(error.to_string().contains("deadlock"), "{error}");
    }
}

/// The lines do not have 64 bytes, or a word lies in two lines.
#[test]
fn a_spin_sees_all_lines_that_it_reads() {
    let loads = |offsets: [i32; 2]| {
        let [one, other] = offsets.map(|offset| i_type(0x03, T0, 3, S0, offset));
        vec![one, branch(1, T0, 12), other, branch(0, T0, -12)]
    };
    let mut machine = manycore_chip::config::Config::preset("dahu").expect("the preset is there");
    for (line, spin, stored) in [
        (32, loads([0, 32]), 0),
        (64, vec![i_type(0x03, T0, 3, S0, 60), branch(0, T0, -4)], 64),
    ] {
        machine.line = line;
        let main = [&spin[..], &exit(6)].concat();
        let other = [data(&[]), nap(), put(stored, 1)].concat();
        let code = threads(&data(&[]), &main, &other);
        let outcome = with_program(&code, |program| program.run(&machine));
        assert_eq!(outcome.expect("it ends").status, 6, "{line}");
    }
}
