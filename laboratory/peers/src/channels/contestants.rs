//! Each channel as its documentation has it used. `SPINS`: the receiver asks again
//! and again instead of blocking.

use crate::contestant::Contestant;
use disruptor::{
    BusySpin, EventPoller, MultiConsumerBarrier, Polling, Producer, SingleConsumerBarrier,
    SingleProducer, SingleProducerBarrier,
};
use manycore_team::channel::{Channel, Port, Settings};
use std::hint::spin_loop;
use std::sync::mpsc;

/// Words that a channel holds, where it is asked.
const CAPACITY: usize = 1024;

/// With rings of so many bytes, 16 a word.
pub struct Manycore<const SPINS: bool, const BYTES: usize>;

impl<const SPINS: bool, const BYTES: usize> Contestant for Manycore<SPINS, BYTES> {
    type Sender = Port;
    type Receiver = Port;

    fn open(receivers: usize) -> (Self::Sender, Vec<Self::Receiver>) {
        let channel = Channel::with(Settings {
            capacity: BYTES,
            ..Settings::default()
        });
        let sender = channel.open();
        (sender, (0..receivers).map(|_| channel.open()).collect())
    }

    fn send(sender: &mut Self::Sender, first: u64, _: u64) {
        sender.send(first);
    }

    fn receive(receiver: &mut Self::Receiver, take: &mut impl FnMut(u64)) {
        if SPINS {
            match receiver.try_receive() {
                Some(message) => take(message.payload),
                None => spin_loop(),
            }
        } else {
            take(receiver.receive().unwrap().payload);
        }
    }
}

/// A bounded channel a receiver: a message of crossbeam's goes to one of them.
pub struct Crossbeam<const SPINS: bool>;

impl<const SPINS: bool> Contestant for Crossbeam<SPINS> {
    type Sender = Vec<crossbeam_channel::Sender<u64>>;
    type Receiver = crossbeam_channel::Receiver<u64>;

    fn open(receivers: usize) -> (Self::Sender, Vec<Self::Receiver>) {
        (0..receivers)
            .map(|_| crossbeam_channel::bounded(CAPACITY))
            .unzip()
    }

    fn send(sender: &mut Self::Sender, first: u64, _: u64) {
        for sender in sender {
            sender.send(first).expect("the receiver is there");
        }
    }

    fn receive(receiver: &mut Self::Receiver, take: &mut impl FnMut(u64)) {
        if SPINS {
            match receiver.try_recv() {
                Ok(word) => take(word),
                Err(_) => spin_loop(),
            }
        } else {
            take(receiver.recv().expect("the sender is there"));
        }
    }
}

/// The standard library's, bounded, one a receiver.
pub struct Mpsc<const SPINS: bool>;

impl<const SPINS: bool> Contestant for Mpsc<SPINS> {
    type Sender = Vec<mpsc::SyncSender<u64>>;
    type Receiver = mpsc::Receiver<u64>;

    fn open(receivers: usize) -> (Self::Sender, Vec<Self::Receiver>) {
        (0..receivers).map(|_| mpsc::sync_channel(CAPACITY)).unzip()
    }

    fn send(sender: &mut Self::Sender, first: u64, _: u64) {
        for sender in sender {
            sender.send(first).expect("the receiver is there");
        }
    }

    fn receive(receiver: &mut Self::Receiver, take: &mut impl FnMut(u64)) {
        if SPINS {
            match receiver.try_recv() {
                Ok(word) => take(word),
                Err(_) => spin_loop(),
            }
        } else {
            take(receiver.recv().expect("the sender is there"));
        }
    }
}

pub struct Bus<const SPINS: bool>;

impl<const SPINS: bool> Contestant for Bus<SPINS> {
    type Sender = bus::Bus<u64>;
    type Receiver = bus::BusReader<u64>;

    fn open(receivers: usize) -> (Self::Sender, Vec<Self::Receiver>) {
        let mut bus = bus::Bus::new(CAPACITY);
        let readers = (0..receivers).map(|_| bus.add_rx()).collect();
        (bus, readers)
    }

    fn send(sender: &mut Self::Sender, first: u64, _: u64) {
        sender.broadcast(first);
    }

    fn receive(receiver: &mut Self::Receiver, take: &mut impl FnMut(u64)) {
        if SPINS {
            match receiver.try_recv() {
                Ok(word) => take(word),
                Err(_) => spin_loop(),
            }
        } else {
            take(receiver.recv().expect("the sender is there"));
        }
    }
}

/// Its senders never wait: it has room for all messages of a sample.
pub struct Tokio<const SPINS: bool>;

impl<const SPINS: bool> Contestant for Tokio<SPINS> {
    type Sender = tokio::sync::broadcast::Sender<u64>;
    type Receiver = tokio::sync::broadcast::Receiver<u64>;

    fn open(receivers: usize) -> (Self::Sender, Vec<Self::Receiver>) {
        let (sender, first) = tokio::sync::broadcast::channel(1 << 16);
        let mut receivers: Vec<_> = (1..receivers).map(|_| sender.subscribe()).collect();
        receivers.push(first);
        (sender, receivers)
    }

    fn send(sender: &mut Self::Sender, first: u64, _: u64) {
        sender.send(first).expect("a receiver is there");
    }

    fn receive(receiver: &mut Self::Receiver, take: &mut impl FnMut(u64)) {
        if SPINS {
            match receiver.try_recv() {
                Ok(word) => take(word),
                Err(_) => spin_loop(),
            }
        } else {
            take(receiver.blocking_recv().expect("nothing is lost"));
        }
    }
}

/// Events by a poller each, published one by one or `BATCH` at a time.
pub struct Disruptor<const BATCH: u64>;

/// The consumers' number is part of the type.
pub enum Publisher {
    ForOne(SingleProducer<u64, SingleConsumerBarrier>),
    ForMany(SingleProducer<u64, MultiConsumerBarrier>),
}

impl<const BATCH: u64> Contestant for Disruptor<BATCH> {
    type Sender = Publisher;
    type Receiver = EventPoller<u64, SingleProducerBarrier>;

    const BATCH: u64 = BATCH;

    fn open(receivers: usize) -> (Self::Sender, Vec<Self::Receiver>) {
        let builder = disruptor::build_single_producer(CAPACITY, || 0, BusySpin);
        let (poller, builder) = builder.new_event_poller();
        let mut pollers = vec![poller];
        if receivers == 1 {
            return (Publisher::ForOne(builder.build()), pollers);
        }
        let (poller, mut builder) = builder.new_event_poller();
        pollers.push(poller);
        for _ in 2..receivers {
            let (poller, next) = builder.new_event_poller();
            pollers.push(poller);
            builder = next;
        }
        (Publisher::ForMany(builder.build()), pollers)
    }

    fn send(sender: &mut Self::Sender, first: u64, count: u64) {
        match sender {
            Publisher::ForOne(producer) => publish(producer, first, count),
            Publisher::ForMany(producer) => publish(producer, first, count),
        }
    }

    fn receive(receiver: &mut Self::Receiver, take: &mut impl FnMut(u64)) {
        match receiver.poll() {
            Ok(mut events) => (&mut events).for_each(|&word| take(word)),
            Err(Polling::NoEvents) => spin_loop(),
            Err(Polling::Shutdown) => panic!("the producer has gone"),
        }
    }
}

fn publish(producer: &mut impl Producer<u64>, first: u64, count: u64) {
    if count == 1 {
        producer.publish(|event| *event = first);
    } else {
        producer.batch_publish(count as usize, |events| {
            (first..)
                .zip(events)
                .for_each(|(word, event)| *event = word);
        });
    }
}
