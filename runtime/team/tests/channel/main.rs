//! Channels on this machine and under random schedules.

mod conformance;
mod memory;
/// What `conformance` tests.
mod subject {
    pub(crate) use manycore_platform::Platform as World;
    pub(crate) use manycore_team::channel::{Channel, Port};
}

use conformance::Place::Anywhere;
use manycore_check::{Shuttle, shuttle_pct, shuttle_random};
use manycore_platform::Native;
use manycore_team::channel::{Channel, Closed, Settings};
use memory::LOSING;

#[test]
fn native() {
    for _ in 0..20 {
        conformance::all::<Native>(Channel::over, 4, Anywhere);
        memory::all::<Native>(4, Anywhere);
    }
}

#[test]
fn native_crowd() {
    conformance::all::<Native>(Channel::over, 12, Anywhere);
    memory::all::<Native>(12, Anywhere);
}

#[test]
fn the_conformance_of_channels_that_lose_nothing_because_they_are_large() {
    let make = || {
        Channel::over_with(Settings {
            capacity: 1 << 20,
            ..LOSING
        })
    };
    conformance::all::<Native>(make, 4, Anywhere);
}

#[test]
fn shuttle() {
    for threads in [4, 6, 8] {
        shuttle_random(40, move || {
            conformance::all::<Shuttle>(Channel::over, threads, Anywhere);
        });
        shuttle_random(40, move || memory::all::<Shuttle>(threads, Anywhere));
        shuttle_pct(40, 3, move || {
            conformance::all::<Shuttle>(Channel::over, threads, Anywhere);
        });
        shuttle_pct(40, 3, move || memory::all::<Shuttle>(threads, Anywhere));
    }
}

#[test]
fn the_last_handle_frees_everything() {
    let channel = Channel::new();
    let (mut one, mut other) = (channel.open(), channel.open());
    drop(channel);
    one.send(1);
    drop(one);
    assert_eq!(other.receive().unwrap().payload, 1);
    let again = other.try_receive();
    assert!(again.is_none());
}

/// A handle can still open a port, which sends.
#[test]
fn a_handle_keeps_a_channel_open() {
    let channel = Channel::new();
    let handle = channel.clone();
    let mut port = channel.open();
    drop(channel);
    assert!(!port.is_closed());
    let opens = std::thread::spawn(move || handle.open().send(3));
    assert_eq!(port.receive().unwrap().payload, 3);
    opens.join().unwrap();
    assert_eq!(port.receive(), Err(Closed));
}

/// A sender waits for room until its only receiver closes. Then it no longer waits, and is the last port.
#[test]
fn a_sender_that_is_left_alone() {
    let channel = Channel::with(memory::TIGHT);
    let (mut sender, receiver) = (channel.open(), channel.open());
    drop(channel);
    let goes = std::thread::spawn(move || {
        std::thread::yield_now();
        drop(receiver);
    });
    (0..100).for_each(|payload| sender.send(payload));
    assert_eq!(sender.receive(), Err(Closed));
    goes.join().unwrap();
    // No other port is open.
    (0..100).for_each(|payload| sender.send(payload));
}

/// Filtered and lost messages do not keep a channel open.
#[test]
fn filtered_and_lost_messages_at_the_end() {
    for settings in [memory::TIGHT, LOSING] {
        let channel = Channel::with(settings);
        let (mut sender, mut receiver) = (channel.open(), channel.open());
        drop(channel);
        receiver.set_filter(manycore_team::channel::Filter::NONE);
        let sends =
            std::thread::spawn(move || (0..100).for_each(|it| sender.send_marked(it, 1, 0)));
        assert_eq!(receiver.receive(), Err(Closed));
        sends.join().unwrap();
    }
}
