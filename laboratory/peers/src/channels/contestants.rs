//! The channels, used as their documentation says.

use super::contestant::{Blocking, Contestant};
use disruptor::{
    BusySpin, EventPoller, MultiConsumerBarrier, Polling, Producer, SingleConsumerBarrier,
    SingleProducer, SingleProducerBarrier,
};
use manycore_team::channel::{Channel, Port, Settings};

/// The capacity of channels that need one, in words.
const CAPACITY: usize = 1024;

/// manycore's channel with rings of `BYTES` bytes, 16 for each word.
pub struct Manycore<const BYTES: usize>;

impl<const BYTES: usize> Contestant for Manycore<BYTES> {
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

    fn poll(receiver: &mut Self::Receiver, take: &mut impl FnMut(u64)) -> bool {
        let message = receiver.try_receive();
        message.map(|message| take(message.payload)).is_some()
    }
}

impl<const BYTES: usize> Blocking for Manycore<BYTES> {
    fn receive(receiver: &mut Self::Receiver) -> u64 {
        receiver.receive().unwrap().payload
    }
}

/// Implements `Blocking` with a blocking method of the receiver.
macro_rules! received_alike {
    ($channel:ident, $blocking:ident) => {
        impl Blocking for $channel {
            fn receive(receiver: &mut Self::Receiver) -> u64 {
                receiver.$blocking().expect("the sender is there")
            }
        }
    };
}

/// Makes a contestant of bounded channels, one for each receiver. The sender sends each word into
/// every channel.
macro_rules! channel_a_receiver {
    ($channel:ident, $sender:ty, $receiver:ty, $bounded:path) => {
        pub struct $channel;

        impl Contestant for $channel {
            type Sender = Vec<$sender>;
            type Receiver = $receiver;

            fn open(receivers: usize) -> (Self::Sender, Vec<Self::Receiver>) {
                (0..receivers).map(|_| $bounded(CAPACITY)).unzip()
            }

            fn send(sender: &mut Self::Sender, first: u64, _: u64) {
                for sender in sender {
                    sender.send(first).expect("the receiver is there");
                }
            }

            fn poll(receiver: &mut Self::Receiver, take: &mut impl FnMut(u64)) -> bool {
                receiver.try_recv().map(take).is_ok()
            }
        }

        received_alike!($channel, recv);
    };
}

channel_a_receiver!(
    Crossbeam,
    crossbeam_channel::Sender<u64>,
    crossbeam_channel::Receiver<u64>,
    crossbeam_channel::bounded
);
channel_a_receiver!(
    Mpsc,
    std::sync::mpsc::SyncSender<u64>,
    std::sync::mpsc::Receiver<u64>,
    std::sync::mpsc::sync_channel
);

pub struct Bus;

impl Contestant for Bus {
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

    fn poll(receiver: &mut Self::Receiver, take: &mut impl FnMut(u64)) -> bool {
        receiver.try_recv().map(take).is_ok()
    }
}

received_alike!(Bus, recv);

/// The sender never waits: the channel has room for all messages of a sample.
pub struct Tokio;

impl Contestant for Tokio {
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

    fn poll(receiver: &mut Self::Receiver, take: &mut impl FnMut(u64)) -> bool {
        receiver.try_recv().map(take).is_ok()
    }
}

received_alike!(Tokio, blocking_recv);

/// One event poller for each receiver. Events are published `BATCH` at a time.
pub struct Disruptor<const BATCH: u64>;

/// The producer: its type depends on whether there are several consumers.
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

    fn poll(receiver: &mut Self::Receiver, take: &mut impl FnMut(u64)) -> bool {
        match receiver.poll() {
            Ok(mut events) => (&mut events).for_each(|&word| take(word)),
            Err(Polling::NoEvents) => return false,
            Err(Polling::Shutdown) => panic!("the producer has gone"),
        }
        true
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
