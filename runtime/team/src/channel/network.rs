//! What a port does with messages of a broadcast network.

use super::ends::Ends;
use super::{Closed, HardwareChannel, Message};
use manycore_platform::{Broadcast, Delivery, Platform};
use std::time::Duration;

/// How long after the last sender has gone the network may still bring something: many times
/// what it takes to cross a chip, and what an interface takes for a message.
const ON_ITS_WAY: Duration = Duration::from_micros(2);

/// Wakes the one port of a channel that is left. Its interface delivers only messages: this is
/// one that no call of a port makes, with data of no length. An interface that counts
/// delivers one for so many.
pub(super) fn tell_of_the_end<P: Platform>(wire: HardwareChannel<P>, ends: &Ends<P>) {
    for _ in 0..ends.counted_together() {
        let message = manycore_platform::Message {
            payload: 0,
            signature: 0,
            tag: 0,
            data: Some([].into()),
        };
        P::Broadcast::send(wire, message);
    }
}

fn is_notice(delivery: &Delivery) -> bool {
    let data = delivery.message.data.as_ref();
    data.is_some_and(|data| data.is_empty())
}

/// The next message in the core's buffer.
pub(super) fn next_on<P: Platform>(wire: HardwareChannel<P>) -> Option<Delivery> {
    loop {
        let delivery = P::Broadcast::receive(wire)?;
        if !is_notice(&delivery) {
            return Some(delivery);
        }
    }
}

/// The same, waiting for one.
pub(super) fn wait_on<P: Platform>(
    wire: HardwareChannel<P>,
    ends: &Ends<P>,
) -> Result<Delivery, Closed> {
    loop {
        if let Some(delivery) = next_on::<P>(wire) {
            return Ok(delivery);
        }
        // The one that leaves sends its notice after it has counted itself out: who does not
        // see that here waits for the notice.
        if ends.is_closed() {
            return last_on::<P>(wire).ok_or(Closed);
        }
        let delivery = P::Broadcast::wait_and_receive(wire);
        if !is_notice(&delivery) {
            return Ok(delivery);
        }
    }
}

/// What comes after all senders have gone.
#[cold]
fn last_on<P: Platform>(wire: HardwareChannel<P>) -> Option<Delivery> {
    let until = P::now() + P::duration_to_ticks(ON_ITS_WAY);
    while P::now() < until {
        if let Some(delivery) = next_on::<P>(wire) {
            return Some(delivery);
        }
        P::relax();
    }
    None
}

pub(super) fn short(delivery: &Delivery) -> Message {
    let message = &delivery.message;
    Message {
        payload: message.payload,
        signature: message.signature,
        tag: message.tag,
        length: message.data.as_ref().map_or(0, |data| data.len()),
        sender: delivery.sender as usize,
        missed: 0,
    }
}

pub(super) fn long(delivery: &Delivery, data: &mut Vec<u8>) -> Message {
    data.clear();
    data.extend(delivery.message.data.iter().flat_map(|data| data.iter()));
    short(delivery)
}
