//! A search by several threads that exchange the best result so far.
//!
//! It shows [`Channel`] and [`Port::send`]: every other port receives the value. A thread that receives a
//! better result gives up branches that cannot beat it. The problem is the knapsack: which things are worth
//! most, within a limit of weight?
//!
//! ```sh
//! cargo run --release -p manycore-team --example knapsack
//! ```

use manycore_team::channel::{Channel, Port};
use std::thread;

/// A weight and a worth.
type Thing = (u64, u64);

const ROOM: u64 = 400;
/// Each thread begins with one choice of the first things: two things make four threads.
const GIVEN: usize = 2;

/// Decides on each of `things`, with `room` left and `worth` so far.
fn search(things: &[Thing], room: u64, worth: u64, best: &mut u64, port: &mut Port) {
    while let Some(message) = port.try_receive() {
        *best = message.payload.max(*best);
    }
    if worth > *best {
        *best = worth;
        port.send(worth);
    }
    let most = worth + things.iter().map(|thing| thing.1).sum::<u64>();
    let [(weight, value), rest @ ..] = things else {
        return;
    };
    if most > *best && *weight <= room {
        search(rest, room - weight, worth + value, best, port);
    }
    if most > *best {
        search(rest, room, worth, best, port);
    }
}

/// Returns the most worth, computed by a table over the weights.
fn table(things: &[Thing]) -> u64 {
    let mut most = vec![0; ROOM as usize + 1];
    for &(weight, worth) in things {
        for room in (weight as usize..most.len()).rev() {
            most[room] = most[room].max(most[room - weight as usize] + worth);
        }
    }
    most[ROOM as usize]
}

fn main() {
    let thing = |i: u64| (20 + i * 37 % 53, 30 + i * 41 % 61);
    let things: Vec<Thing> = (1..=26).map(thing).collect();
    let channel = Channel::new();
    // All ports must be open before the first message.
    let ports: Vec<Port> = (0..1 << GIVEN).map(|_| channel.open()).collect();

    let things = &things[..];
    let begin = |(choice, mut port): (usize, Port)| {
        let (given, rest) = things.split_at(GIVEN);
        let taken = (0..GIVEN)
            .filter(|i| choice >> i & 1 == 1)
            .map(|i| given[i]);
        let (weight, worth) = taken.fold((0, 0), |sum, thing| (sum.0 + thing.0, sum.1 + thing.1));
        let mut best = 0;
        search(rest, ROOM - weight, worth, &mut best, &mut port);
        best
    };
    let found: Vec<u64> = thread::scope(|scope| {
        let start = |it| scope.spawn(move || begin(it));
        let threads: Vec<_> = ports.into_iter().enumerate().map(start).collect();
        let ends = threads.into_iter().map(|thread| thread.join());
        ends.map(|best| best.expect("no panic")).collect()
    });
    println!("the best result that each thread knows: {found:?}");
    assert_eq!(found.into_iter().max(), Some(table(things)));
}
