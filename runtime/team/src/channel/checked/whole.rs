//! Whole channels under loom, each from a state just before the interesting step, with broken
//! variants that must be caught. `tests/channel` has whole channels under shuttle.

use crate::channel::{Channel, Closed, Port, Settings, Slow};
use manycore_check::{
    Deaf, Faulty, Loom, NoFence, NoHeavyFence, Plain, Relaxed, TornAdd, caught, loom_model, team,
};
use manycore_platform::Platform;
use std::mem::ManuallyDrop;
use std::sync::Mutex;

/// Rings of 16 words. Seven messages of one word fit, and a reader publishes its position after two messages.
const TIGHT: Settings = Settings {
    capacity: 0,
    slow: Slow::Wait,
};
const FITS: u64 = 7;

const LOSING: Settings = Settings {
    capacity: 0,
    slow: Slow::Lose,
};

/// What each member owns. It is never dropped: in a failed model a port must not leave its channel.
struct Own<T>(Mutex<Vec<Option<T>>>);

impl<T> Own<T> {
    fn new(all: impl IntoIterator<Item = T>) -> Self {
        Self(Mutex::new(all.into_iter().map(Some).collect()))
    }

    fn take(&self, rank: usize) -> ManuallyDrop<T> {
        ManuallyDrop::new(self.0.lock().unwrap()[rank].take().unwrap())
    }
}

/// Two ports. The first has sent one message, and the second has received it.
fn pair<P: Platform>(settings: Settings) -> [Port<P>; 2] {
    let channel = Channel::<P>::over_with(settings);
    let mut pair = [channel.open(), channel.open()];
    pair[0].send(0);
    assert_eq!(pair[1].receive().unwrap().payload, 0);
    pair
}

/// The receiver gets two words, and sees what their sender did before.
fn words_arrive<P: Platform>() {
    let ports = Own::new(pair::<P>(TIGHT));
    let before = [Plain::new(0), Plain::new(0)];
    team::<Loom>(2, |rank| {
        let mut port = ports.take(rank);
        for (i, before) in (0..).zip(&before) {
            if rank == 0 {
                before.write(i + 10);
                port.send_marked(i + 1, i as u32, (i as u32) << 30);
            } else {
                let message = port.receive().unwrap();
                assert_eq!((message.payload, message.signature), (i + 1, i as u32));
                assert_eq!(message.tag, (i as u32) << 30);
                assert_eq!(before.read(), i + 10);
            }
        }
    });
}

#[test]
fn words_are_whole_and_no_receiver_sleeps_through_them() {
    loom_model(Some(3), words_arrive::<Loom>);
}

#[test]
fn each_fault_under_words_is_caught() {
    fn check<P: Platform>() -> String {
        caught(|| loom_model(Some(3), words_arrive::<P>))
    }
    assert!(check::<Faulty<Loom, NoFence>>().contains("deadlock"));
    assert!(check::<Faulty<Loom, NoHeavyFence>>().contains("deadlock"));
    assert!(check::<Faulty<Loom, Deaf>>().contains("deadlock"));
    // A word is not there yet, or the sender's work before it is not visible.
    check::<Faulty<Loom, Relaxed>>();
}

#[test]
fn long_data_arrives_in_pieces() {
    loom_model(Some(2), || {
        let ports = Own::new(pair::<Loom>(TIGHT));
        team::<Loom>(2, |rank| {
            let mut port = ports.take(rank);
            if rank == 0 {
                port.send_long_marked(b"in two pieces", 1, 2);
            } else {
                let mut data = Vec::new();
                let message = port.receive_long(&mut data).unwrap();
                assert_eq!((data.as_slice(), message.tag), (&b"in two pieces"[..], 2));
            }
        });
    });
}

/// The message is the sender's first, so the receiver does not know its ring.
#[test]
fn a_new_sender_is_noticed() {
    loom_model(Some(2), || {
        let channel = Channel::<Loom>::over_with(TIGHT);
        let ports = Own::new([channel.open(), channel.open()]);
        team::<Loom>(2, |rank| {
            let mut port = ports.take(rank);
            if rank == 0 {
                port.send(5);
            } else {
                assert_eq!(port.receive().unwrap().payload, 5);
            }
        });
    });
}

/// The receiver sleeps because one sender is silent.
#[test]
fn two_senders_and_one_sleeper() {
    loom_model(Some(2), || {
        let channel = Channel::<Loom>::over_with(TIGHT);
        let mut ports = [channel.open(), channel.open(), channel.open()];
        ports[1].send(0);
        ports[2].send(0);
        (0..2).for_each(|_| assert_eq!(ports[0].receive().unwrap().payload, 0));
        let ports = Own::new(ports);
        team::<Loom>(3, |rank| {
            let mut port = ports.take(rank);
            if rank > 0 {
                port.send(rank as u64);
            } else {
                let heard = [port.receive().unwrap(), port.receive().unwrap()];
                assert!(heard.iter().all(|it| it.payload == it.sender as u64));
                assert_ne!(heard[0].sender, heard[1].sender);
            }
        });
    });
}

/// The ring is full. The sender waits and overwrites nothing.
fn a_full_ring<P: Platform>() {
    let mut pair = pair::<P>(TIGHT);
    // The receiver has not published that it has taken the first message.
    (1..FITS).for_each(|payload| pair[0].send(payload));
    let ports = Own::new(pair);
    team::<Loom>(2, |rank| {
        let mut port = ports.take(rank);
        if rank == 0 {
            port.send(FITS);
        } else {
            for payload in 1..=FITS {
                assert_eq!(port.receive().unwrap().payload, payload);
            }
        }
    });
}

#[test]
fn a_sender_waits_for_room() {
    loom_model(Some(2), a_full_ring::<Loom>);
}

#[test]
fn each_fault_under_a_full_ring_is_caught() {
    fn check<P: Platform>() -> String {
        caught(|| loom_model(Some(2), a_full_ring::<P>))
    }
    assert!(check::<Faulty<Loom, NoFence>>().contains("deadlock"));
    assert!(check::<Faulty<Loom, NoHeavyFence>>().contains("deadlock"));
    assert!(check::<Faulty<Loom, Deaf>>().contains("deadlock"));
}

#[test]
fn a_sender_does_not_wait_for_a_dropped_port() {
    loom_model(Some(2), || {
        let mut pair = pair::<Loom>(TIGHT);
        (1..FITS).for_each(|payload| pair[0].send(payload));
        let ports = Own::new(pair);
        team::<Loom>(2, |rank| {
            let mut port = ports.take(rank);
            if rank == 0 {
                port.send(FITS);
            } else {
                drop(ManuallyDrop::into_inner(port));
            }
        });
    });
}

/// The last other port is dropped while the receiver reads or sleeps. The receiver takes the last
/// message and then learns of the end.
fn the_last_sender_goes<P: Platform>() {
    // No handle is left.
    let ports = Own::new(pair::<P>(TIGHT));
    team::<Loom>(2, |rank| {
        let mut port = ports.take(rank);
        if rank == 0 {
            port.send(1);
            drop(ManuallyDrop::into_inner(port));
        } else {
            let last = port.receive().expect("a message was sent before");
            assert_eq!(last.payload, 1);
            assert_eq!(port.receive(), Err(Closed));
        }
    });
}

/// The last handle is dropped, so no port can be opened any more.
fn the_last_handle_goes<P: Platform>() {
    let channel = Channel::<P>::over_with(TIGHT);
    let port = Own::new([channel.open()]);
    let handle = Own::new([channel]);
    team::<Loom>(2, |rank| {
        if rank == 0 {
            drop(ManuallyDrop::into_inner(handle.take(0)));
        } else {
            assert_eq!(port.take(0).receive(), Err(Closed));
        }
    });
}

/// A port and the last handle are dropped at the same time. Exactly one drop is the last.
fn two_go_at_once<P: Platform>() {
    let channel = Channel::<P>::over_with(TIGHT);
    let ports = Own::new([channel.open(), channel.open()]);
    let handle = Own::new([channel]);
    team::<Loom>(3, |rank| match rank {
        0 => drop(ManuallyDrop::into_inner(handle.take(0))),
        1 => drop(ManuallyDrop::into_inner(ports.take(1))),
        _ => assert_eq!(ports.take(0).receive(), Err(Closed)),
    });
}

#[test]
fn receivers_learn_of_the_end() {
    loom_model(Some(3), the_last_sender_goes::<Loom>);
    loom_model(None, the_last_handle_goes::<Loom>);
    loom_model(Some(2), two_go_at_once::<Loom>);
}

#[test]
fn each_fault_under_the_end_is_caught() {
    fn check<P: Platform>() -> String {
        caught(|| loom_model(None, the_last_handle_goes::<P>))
    }
    assert!(check::<Faulty<Loom, NoFence>>().contains("deadlock"));
    assert!(check::<Faulty<Loom, NoHeavyFence>>().contains("deadlock"));
    assert!(check::<Faulty<Loom, Deaf>>().contains("deadlock"));
    // The channel is closed, but the last message is not visible.
    caught(|| loom_model(Some(3), the_last_sender_goes::<Faulty<Loom, Relaxed>>));
    // Neither of the two drops is the last.
    caught(|| loom_model(Some(2), two_go_at_once::<Faulty<Loom, TornAdd>>));
}

/// A sender that does not wait overtakes a receiver while the receiver reads.
fn a_slow_receiver<P: Platform>() {
    let mut pair = pair::<P>(LOSING);
    (1..8).for_each(|number| pair[0].send_marked(number, number as u32, 0));
    let ports = Own::new(pair);
    team::<Loom>(2, |rank| {
        let mut port = ports.take(rank);
        if rank == 0 {
            // The sender writes over the header of the first unread record, and then over the whole record.
            (8..10).for_each(|number| port.send_marked(number, number as u32, 0));
        } else {
            let mut next = 1;
            for _ in 0..2 {
                let Some(message) = port.try_receive() else {
                    continue;
                };
                next += message.missed;
                assert_eq!(message.payload, next, "torn or miscounted");
                assert_eq!(u64::from(message.signature), next, "torn");
                next += 1;
            }
        }
    });
}

#[test]
fn what_is_lost_is_counted_and_nothing_is_torn() {
    loom_model(Some(2), a_slow_receiver::<Loom>);
}

#[test]
fn each_fault_under_a_slow_receiver_is_caught() {
    fn check<P: Platform>() {
        caught(|| loom_model(Some(2), a_slow_receiver::<P>));
    }
    check::<Faulty<Loom, NoFence>>();
    check::<Faulty<Loom, Relaxed>>();
}

/// The port receives all messages from some message on, without a gap.
#[test]
fn opened_while_another_port_sends() {
    for settings in [TIGHT, LOSING] {
        loom_model(Some(2), move || {
            let channel = Channel::<Loom>::over_with(settings);
            let mut sender = channel.open();
            sender.send(0);
            let sender = Own::new([sender]);
            let late = Mutex::new(None);
            team::<Loom>(2, |rank| {
                if rank == 0 {
                    let mut sender = sender.take(0);
                    (1..3).for_each(|payload| sender.send(payload));
                } else {
                    *late.lock().unwrap() = Some(channel.open());
                }
            });
            let mut port = late.into_inner().unwrap().unwrap();
            let heard: Vec<_> = std::iter::from_fn(|| port.try_receive()).collect();
            let first = 3 - heard.len() as u64;
            assert!(first > 0, "sent before it was opened");
            assert!(heard.iter().map(|it| it.payload).eq(first..3));
            assert!(heard.iter().all(|it| it.missed == 0));
        });
    }
}
