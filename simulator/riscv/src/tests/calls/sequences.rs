//! Sequences of system calls, with the results of Linux. If qemu is installed, the test checks that qemu gives the same
//! results.

use super::sequence::{CLOSE, EPOLL_CTL, MMAP, OWN, ROOM, ROOM_BYTES, sequence};

const EAGAIN: i64 = -11;
const EACCES: i64 = -13;
const EINVAL: i64 = -22;
const ELOOP: i64 = -40;

/// `EPOLLIN`, `EPOLLOUT`, `EPOLLET`.
const IN: u64 = 1;
const OUT: u64 = 4;
const EDGE: u64 = 1 << 31;

/// The numbers of calls.
const READ: u64 = 63;
const WRITE: u64 = 64;
const SOCKET: u64 = 198;
const CONNECT: u64 = 203;
const ACCEPT: u64 = 242;
const EPOLL: u64 = 20;
const OPEN: u64 = 56;

/// The `sockaddr_un` of a name without a file, which no other process uses. It has 16 bytes.
fn name(which: u64) -> [u64; 2] {
    [1 | which << 24, u64::from(std::process::id()) | 1 << 62]
}

/// Words of a path.
fn path(path: &std::path::Path) -> Vec<u64> {
    let mut bytes = path.as_os_str().as_encoded_bytes().to_vec();
    bytes.resize((bytes.len() + 1).next_multiple_of(8), 0);
    let words = bytes
        .chunks(8)
        .map(|word| u64::from_le_bytes(word.try_into().expect("eight")));
    words.collect()
}

#[test]
fn each_arrival_is_an_edge() {
    let listener = name(0x61);
    let mut calls = sequence("connections to a listener")
        .call(SOCKET, &[1, 0x801, 0], 3)
        .call(200, &[3, OWN, 16], 0)
        .with(&listener)
        .call(201, &[3, 8], 0)
        .call(EPOLL, &[0], 4)
        .watch(4, 3, IN | EDGE);
    for client in [5, 7, 9] {
        calls = calls
            .call(SOCKET, &[1, 1, 0], client)
            .call(CONNECT, &[client, OWN, 16], 0)
            .with(&listener)
            .reports(4, 0, IN)
            .call(ACCEPT, &[3, 0, 0, 0], client + 1)
            .call(ACCEPT, &[3, 0, 0, 0], EAGAIN)
            .reports(4, 0, 0);
    }
    calls.check();

    let mut calls = sequence("expirations of a timer")
        .call(85, &[1, 0o4000], 3)
        .call(EPOLL, &[0], 4)
        .watch(4, 3, IN | EDGE)
        .call(86, &[3, 0, OWN, 0], 0)
        .with(&[0, 20_000_000, 0, 1_000_000]);
    for _ in 0..3 {
        calls = calls
            .reports(4, 2_000, IN)
            .reports(4, 0, 0)
            .call(READ, &[3, ROOM, 8], 8);
    }
    calls.check();

    let mut calls = sequence("signals")
        .call(135, &[0, OWN, 0, 8], 0)
        .with(&[1 << 9])
        .call(74, &[-1, OWN, 8, 0o4000], 3)
        .with(&[1 << 9])
        .call(EPOLL, &[0], 4)
        .watch(4, 3, IN | EDGE);
    for _ in 0..3 {
        calls = calls
            .call(129, &[0, 10], 0)
            .reports(4, 0, IN)
            .reports(4, 0, 0)
            .call(READ, &[3, ROOM, 128], 128)
            .reports(4, 0, 0);
    }
    // qemu does not block signals on the host.
    calls.in_qemu = false;
    calls.check();
}

#[test]
fn room_in_a_full_stream_is_an_edge() {
    let mut calls = sequence("room in a socket")
        .call(199, &[1, 0x801, 0, ROOM], 0)
        .call(EPOLL, &[0], 5)
        .watch(5, 3, IN | OUT | EDGE)
        .reports(5, 0, OUT);
    for _ in 0..2 {
        calls = calls
            .call(WRITE, &[3, ROOM, ROOM_BYTES], None)
            .call(WRITE, &[3, ROOM, ROOM_BYTES], EAGAIN)
            .reports(5, 0, 0);
        for _ in 0..64 {
            calls = calls.call(READ, &[4, ROOM, ROOM_BYTES], None);
        }
        calls = calls.reports(5, 0, OUT).reports(5, 0, 0);
    }
    calls.check();

    // The outer group reports each arrival in the inner group.
    let mut calls = sequence("a group in a group")
        .call(59, &[ROOM, 0o4000], 0)
        .call(EPOLL, &[0], 5)
        .call(EPOLL, &[0], 6)
        .watch(5, 3, IN)
        .watch(6, 5, IN | EDGE);
    for _ in 0..3 {
        calls = calls
            .call(WRITE, &[4, ROOM, 1], 1)
            .reports(6, 0, IN)
            .reports(6, 0, 0)
            .reports(5, 0, IN)
            .call(READ, &[3, ROOM, 1], 1);
    }
    calls.check();
}

#[test]
fn a_group_does_not_contain_itself() {
    let calls = sequence("a group in itself")
        .call(EPOLL, &[0], 3)
        .call(EPOLL, &[0], 4)
        .call(EPOLL_CTL, &[3, 1, 3, OWN], EINVAL)
        .with(&[IN, 0])
        .call(EPOLL_CTL, &[3, 1, 4, OWN], 0)
        .with(&[IN, 0])
        .call(EPOLL_CTL, &[4, 1, 3, OWN], ELOOP)
        .with(&[IN, 0])
        .reports(3, 0, 0)
        .reports(4, 0, 0);
    calls.check();
}

/// Bytes that a full pipe does not take stay in the file.
#[test]
fn a_transfer_to_a_full_stream_loses_nothing() {
    const SENDFILE: u64 = 71;
    const PIPE: i64 = 65_536;
    let calls = sequence("sendfile to a pipe")
        .call(59, &[ROOM, 0o4000], 0)
        .call(279, &[OWN, 0], 5)
        .with(&[0x66])
        .call(46, &[5, 3 * PIPE], 0)
        .call(SENDFILE, &[4, 5, 0, 3 * PIPE], PIPE)
        .call(62, &[5, 0, 1], PIPE)
        .call(SENDFILE, &[4, 5, 0, 3 * PIPE], EAGAIN)
        .call(62, &[5, 0, 1], PIPE)
        .call(READ, &[3, ROOM, PIPE], PIPE)
        .call(SENDFILE, &[4, 5, OWN, 3 * PIPE], PIPE)
        .with(&[PIPE as u64 / 2])
        .leaves(0, 3 * PIPE as u64 / 2)
        .call(62, &[5, 0, 1], PIPE)
        .call(285, &[5, 0, 4, 0, 8, 0], EINVAL);
    calls.check();
}

#[test]
fn a_file_that_may_not_be_read_is_not_mapped() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = path(&folder.path().join("file"));
    let calls = sequence("a file that may not be read")
        .call(OPEN, &[-100, OWN, 0o102, 0o644], 3)
        .with(&file)
        .call(WRITE, &[3, ROOM, 100], 100)
        .call(CLOSE, &[3], 0)
        .call(OPEN, &[-100, OWN, 1, 0], 3)
        .with(&file)
        .call(MMAP, &[0, 4_096, 3, 1, 3, 0], EACCES)
        .call(MMAP, &[0, 4_096, 1, 1, 3, 0], EACCES)
        .call(MMAP, &[0, 4_096, 1, 2, 3, 0], EACCES);
    calls.check();
}

#[test]
fn times_and_counts_may_be_large() {
    let calls = sequence("the longest time")
        .call(19, &[1, 0], 3)
        .call(73, &[OWN, 1, OWN + 8, 0, 8], 1)
        .with(&[3 | 1 << 32, i64::MAX as u64, 999_999_999]);
    calls.check();
    let calls = sequence("a counter of 32 bits")
        .call(19, &[-1, 0o4000], 3)
        .call(READ, &[3, OWN, 8], 8)
        .with(&[0])
        .leaves(0, 0xFFFF_FFFF);
    calls.check();
}

/// A timer without a signal only answers calls that ask for its time.
#[test]
fn a_timer_without_a_signal_shows_when_its_time_is_over() {
    let mut calls = sequence("a silent timer")
        .call(107, &[1, OWN, OWN + 64], 0)
        .with(&[0, 1 << 32, 0, 0, 0, 0, 0, 0, 0])
        .call(110, &[0, 0, OWN, 0], 0)
        .with(&[0, 0, 0, 1_000])
        .call(101, &[OWN, 0], 0)
        .with(&[0, 2_000_000])
        .call(108, &[0, OWN], 0)
        .with(&[9, 9, 9, 9])
        .leaves(0, 0)
        .leaves(1, 0)
        .leaves(2, 0)
        .leaves(3, 0)
        .call(111, &[0], 0);
    // qemu gives timers other numbers.
    calls.in_qemu = false;
    calls.check();
}

/// A queue for one connection has room for two.
#[test]
fn a_listener_lets_one_more_wait_than_its_queue_says() {
    let listener = name(0x62);
    let mut calls = sequence("a full queue")
        .call(SOCKET, &[1, 1, 0], 3)
        .call(200, &[3, OWN, 16], 0)
        .with(&listener)
        .call(201, &[3, 1], 0);
    for (client, gives) in [(4, 0), (5, 0), (6, EAGAIN)] {
        calls = calls
            .call(SOCKET, &[1, 0x801, 0], client)
            .call(CONNECT, &[client, OWN, 16], gives)
            .with(&listener);
    }
    calls.check();
}

const PAGE: i64 = 4_096;
/// Memory behind the room.
const BEHIND: i64 = ROOM + ROOM_BYTES;
const MREMAP: u64 = 216;

/// A private page is the file's until the program writes to it.
#[test]
fn a_private_page_that_was_only_read_shows_writes_to_its_file() {
    const TRUNCATE: u64 = 46;
    const PWRITE: u64 = 68;
    let calls = sequence("private pages of a file")
        .call(279, &[OWN, 0], 3)
        .with(&[0x66])
        .call(TRUNCATE, &[3, 2 * PAGE], 0)
        .call(MMAP, &[BEHIND, 2 * PAGE, 3, 0x12, 3, 0], BEHIND)
        .load(BEHIND + 8, 0)
        .load(BEHIND + PAGE, 0)
        .store(BEHIND + PAGE + 16, 5)
        .call(PWRITE, &[3, OWN, 16, PAGE - 8], 16)
        .with(&[7, 9])
        .load(BEHIND + PAGE - 8, 7)
        .load(BEHIND + PAGE, 0)
        .store(BEHIND, 1)
        .call(PWRITE, &[3, OWN, 8, 8], 8)
        .with(&[11])
        .load(BEHIND + 8, 0)
        .call(TRUNCATE, &[3, 100], 0)
        .load(BEHIND + PAGE - 8, 7);
    calls.check();
}

/// Linux joins written memory that has moved with no neighbour, and memory that was never written with any.
#[test]
fn written_memory_that_has_moved_is_a_mapping_of_its_own() {
    const EFAULT: i64 = -14;
    let there = BEHIND + 8 * PAGE;
    for is_written in [false, true] {
        let mut calls = sequence("moved memory")
            .call(MMAP, &[BEHIND, 3 * PAGE, 3, 0x32, -1, 0], BEHIND)
            .call(MMAP, &[there, 4 * PAGE, 3, 0x32, -1, 0], there);
        if is_written {
            calls = calls.store(BEHIND + PAGE, 5);
        } else {
            calls = calls.load(BEHIND + PAGE, 0);
        }
        calls = calls
            .call(MREMAP, &[BEHIND + PAGE, PAGE, PAGE, 3, there], there)
            .load(there, if is_written { 5 } else { 0 });
        let gives = if is_written { EFAULT } else { BEHIND };
        let grown = [there, 3 * PAGE, 4 * PAGE, 3, BEHIND];
        calls.call(MREMAP, &grown, gives).check();
    }
}

/// Both sides of a FIFO in one thread, without waits.
#[test]
fn a_fifo_has_sides() {
    const ENXIO: i64 = -6;
    const FIFO: i64 = 0o1_0600;
    const NOT_BLOCKING: i64 = 0o4000;
    let folder = tempfile::tempdir().expect("a folder");
    let fifo = path(&folder.path().join("fifo"));
    let calls = sequence("a FIFO")
        .call(33, &[-100, OWN, FIFO, 0], 0)
        .with(&fifo)
        .call(OPEN, &[-100, OWN, 1 | NOT_BLOCKING, 0], ENXIO)
        .with(&fifo)
        .call(OPEN, &[-100, OWN, NOT_BLOCKING, 0], 3)
        .with(&fifo)
        .call(READ, &[3, ROOM, 8], 0)
        .call(OPEN, &[-100, OWN, 1, 0], 4)
        .with(&fifo)
        .call(READ, &[3, ROOM, 8], EAGAIN)
        .call(35, &[-100, OWN, 0], 0)
        .with(&fifo)
        .call(WRITE, &[4, ROOM, 8], 8)
        .call(59, &[ROOM, 0o4000], 0)
        .call(76, &[3, 0, 6, 0, 100, 0], 8)
        .call(77, &[5, 4, 3, 0], 3)
        .call(READ, &[5, ROOM, 100], 8)
        .call(READ, &[3, ROOM, 100], 3)
        .call(CLOSE, &[4], 0)
        .call(READ, &[3, ROOM, 8], 0);
    calls.check();
}
