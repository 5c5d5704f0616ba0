//! Further properties of channels through memory: bounded rings, senders that wait, receivers that lose
//! messages. The chip's tests also run these.

use super::conformance::{Meeting, Place, bytes, together};
use manycore_platform::Platform;
use manycore_team::channel::{Channel, Filter, Settings, Slow};

/// The smallest possible rings.
pub(crate) const TIGHT: Settings = Settings {
    capacity: 0,
    slow: Slow::Wait,
};

pub(crate) const LOSING: Settings = Settings {
    capacity: 0,
    slow: Slow::Lose,
};

/// Runs all tests on `threads` threads, at least 3.
pub(crate) fn all<P: Platform>(threads: usize, place: Place) {
    a_sender_waits_for_the_slowest::<P>(threads, place);
    long_messages_stream::<P>(threads, place);
    ports_come_and_go::<P>(threads, place);
    a_dropped_receiver_frees_a_sender::<P>(place);
    losses_are_counted::<P>(threads, place);
    losses_of_long_data::<P>(threads, place);
    a_late_receiver_counts_only_its_own_losses::<P>();
}

/// Sends more than the ring holds, to receivers of different speeds.
pub(crate) fn a_sender_waits_for_the_slowest<P: Platform>(threads: usize, place: Place) {
    let channel = Channel::<P>::over_with(TIGHT);
    let opened = Meeting::<P>::new();
    together::<P>(threads, place, move |rank| {
        let mut port = channel.open();
        opened.arrive();
        opened.wait_for(threads);
        for payload in 0..60 {
            if rank == 0 {
                port.send_marked(payload, 0, (payload as u32 % 2) << 30);
            } else {
                for _ in 0..rank % 3 {
                    P::yield_now();
                }
                assert_eq!(port.receive().unwrap().payload, payload);
            }
        }
    });
}

/// Messages several times as long as a ring alternate with short ones. One receiver takes them all; another
/// drops their data.
pub(crate) fn long_messages_stream<P: Platform>(threads: usize, place: Place) {
    let channel = Channel::<P>::over_with(TIGHT);
    let opened = Meeting::<P>::new();
    together::<P>(threads, place, move |rank| {
        let mut port = channel.open();
        opened.arrive();
        opened.wait_for(threads);
        let mut data = Vec::new();
        for length in [300, 16, 17, 500] {
            if rank == 0 {
                port.send_long_marked(&bytes(length), 1, 2);
                port.send(length as u64);
            } else {
                let message = if rank % 2 == 0 {
                    port.receive().unwrap()
                } else {
                    // If `try_receive` takes a part of the message, `receive_long` returns no data.
                    port.try_receive()
                        .unwrap_or_else(|| port.receive_long(&mut data).unwrap())
                };
                assert_eq!((message.length, message.tag), (length, 2));
                if rank % 2 == 1 && !data.is_empty() {
                    assert_eq!(data, bytes(length));
                    data.clear();
                }
                assert_eq!(port.receive().unwrap().payload, length as u64);
            }
        }
    });
}

/// Ports and senders exist for a while. What each port receives is in order and has no gap.
pub(crate) fn ports_come_and_go<P: Platform>(threads: usize, place: Place) {
    // While a port sends, it does not receive. If the rings had no room, two ports could wait for each other.
    let channel = Channel::<P>::over_with(Settings {
        capacity: 512,
        ..TIGHT
    });
    let done = Meeting::<P>::new();
    together::<P>(threads, place, move |rank| {
        if rank == 0 {
            // Receives everything until all other ports have closed.
            let mut port = channel.open();
            done.arrive();
            let mut heard = 0;
            let mut last = [None; 64];
            while heard < (threads - 1) * 2 * 12 {
                let message = port.receive().unwrap();
                let (life, number) = (message.tag as usize, message.payload);
                assert!(last[life].is_none_or(|last| last + 1 == number) || number == 0);
                assert_eq!(last[life].is_none(), number == 0);
                last[life] = Some(number);
                heard += 1;
            }
            assert!(port.try_receive().is_none());
            return;
        }
        done.wait_for(1);
        for life in 0..2 {
            let mut port = channel.open();
            let mut next = [None; 64];
            for number in 0..12 {
                port.send_marked(number, 0, (rank * 2 + life) as u32);
                // Takes all messages, so that no sender waits for ever.
                while let Some(message) = port.try_receive() {
                    let next = &mut next[message.tag as usize];
                    assert!(next.is_none_or(|next| next == message.payload));
                    *next = Some(message.payload + 1);
                }
            }
        }
    });
}

pub(crate) fn a_dropped_receiver_frees_a_sender<P: Platform>(place: Place) {
    let channel = Channel::<P>::over_with(TIGHT);
    let opened = Meeting::<P>::new();
    together::<P>(3, place, move |rank| {
        let mut port = channel.open();
        opened.arrive();
        opened.wait_for(3);
        match rank {
            0 => (0..50).for_each(|payload| port.send(payload)),
            1 => (0..50).for_each(|payload| assert_eq!(port.receive().unwrap().payload, payload)),
            _ => drop(port),
        }
    });
}

/// No sender waits. Each receiver knows of each message whether it received or lost it.
pub(crate) fn losses_are_counted<P: Platform>(threads: usize, place: Place) {
    const SENT: u64 = 60;
    let channel = Channel::<P>::over_with(LOSING);
    let step = Meeting::<P>::new();
    together::<P>(threads, place, move |rank| {
        let mut port = channel.open();
        step.arrive();
        step.wait_for(threads);
        if rank == 0 {
            for payload in 0..SENT {
                let tag = (payload as u32 % 3) << 28;
                port.send_marked(payload, !payload as u32, tag);
            }
            return;
        }
        if rank == 1 {
            // Sleeps through most of the messages.
            step.wait_for(threads + 1);
        }
        let mut next = 0;
        while next < SENT {
            let message = port.receive().unwrap();
            next += message.missed;
            assert_eq!(message.payload, next, "{} missed", message.missed);
            assert_eq!(message.signature, !next as u32, "torn");
            assert_eq!(message.tag, (next as u32 % 3) << 28, "torn");
            next += 1;
            if rank == 2 {
                // The second receiver is slow, the first slower.
                P::yield_now();
                if next >= SENT {
                    step.arrive();
                }
            }
        }
    });
}

/// The same with data of all lengths, even longer than a ring: whole or not at all.
pub(crate) fn losses_of_long_data<P: Platform>(threads: usize, place: Place) {
    const SENT: u32 = 30;
    let length = |number: u32| [3, 16, 40, 90][number as usize % 4] + number as usize;
    let channel = Channel::<P>::over_with(LOSING);
    let step = Meeting::<P>::new();
    together::<P>(threads, place, move |rank| {
        let mut port = channel.open();
        step.arrive();
        step.wait_for(threads);
        if rank == 0 {
            for number in 0..SENT {
                port.send_long_marked(&bytes(length(number)), number, 0);
            }
            // The last message fits.
            port.send_marked(0, SENT, 0);
            return;
        }
        let mut data = Vec::new();
        let mut next = 0;
        while next <= SENT {
            let message = port.receive_long(&mut data).unwrap();
            next += message.missed as u32;
            assert_eq!(message.signature, next, "{} missed", message.missed);
            if next < SENT {
                assert_eq!(data, bytes(length(next)), "torn");
            }
            next += 1;
        }
    });
}

/// On one thread, the test knows exactly which messages are lost.
pub(crate) fn a_late_receiver_counts_only_its_own_losses<P: Platform>() {
    let channel = Channel::<P>::over_with(LOSING);
    let (mut sender, mut early) = (channel.open(), channel.open());
    (0..100).for_each(|number| sender.send(number));
    let mut late = channel.open();
    assert!(late.try_receive().is_none());
    (100..103).for_each(|number| sender.send(number));
    let message = late.receive().unwrap();
    assert_eq!((message.payload, message.missed), (100, 0));
    (103..200).for_each(|number| sender.send_marked(number, number as u32 % 2, 0));
    let message = late.receive().unwrap();
    assert_eq!(message.payload, 101 + message.missed);
    assert!(
        message.payload >= 200 - 8,
        "only messages without room were lost"
    );
    let message = early.receive().unwrap();
    assert_eq!(message.payload, message.missed);
    // Losses are reported in the end even if no message passes the filter.
    while late.try_receive().is_some() {}
    late.set_filter(Filter::NONE);
    (0..100).for_each(|number| sender.send(number));
    assert!(late.try_receive().is_none());
    late.set_filter(Filter::ALL);
    sender.send(7);
    let message = late.receive().unwrap();
    assert_eq!(message.payload, 7);
    assert!(message.missed > 90, "{}", message.missed);
}
