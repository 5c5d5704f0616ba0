//! Channels on this host and under random schedules.

mod conformance;
mod memory;

use conformance::Place::Anywhere;
use manycore::Native;
use manycore::channel::{Channel, Settings};
use manycore_check::{Shuttle, shuttle_pct, shuttle_random};
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
    one.send(1, 0, 0);
    drop(one);
    assert_eq!(other.receive().payload, 1);
    let again = other.try_receive();
    assert!(again.is_none());
}
