use super::wire::WirePort;
use super::{Closed, Filter, Message};
use manycore_chip::{self as chip, Broadcast, Delivery, MatchOperation};
use manycore_team::channel as memory;
use std::fmt;

/// One core's end of a channel. It sends to all other ports and receives from them.
///
/// A dropped port receives nothing more, but others still receive what it has sent. The docs of `manycore-team`'s port
/// describe each method, with examples.
pub struct Port<P: Broadcast> {
    end: End<P>,
}

enum End<P: Broadcast> {
    Wire(WirePort<P>),
    Memory(memory::Port<P>),
}

impl<P: Broadcast> Port<P> {
    pub(super) fn on_wire(port: WirePort<P>) -> Self {
        let end = End::Wire(port);
        Self { end }
    }

    pub(super) fn in_memory(port: memory::Port<P>) -> Self {
        let end = End::Memory(port);
        Self { end }
    }

    /// This port's number, as receivers see it ([`Message::sender`]). Ports count from 0 in the order of
    /// opening. On hardware it is the number of the core.
    pub fn number(&self) -> usize {
        match &self.end {
            End::Wire(port) => port.core(),
            End::Memory(port) => port.number(),
        }
    }

    /// Broadcasts a word to all other ports of the channel. Through memory, it waits for room.
    #[inline]
    pub fn send(&mut self, payload: u64) {
        self.send_marked(payload, 0, 0);
    }

    /// As [`send`](Self::send), with a tag, and a signature for [filters](Self::set_filter). `send` leaves
    /// both at 0.
    #[inline]
    pub fn send_marked(&mut self, payload: u64, signature: u32, tag: u32) {
        match &mut self.end {
            End::Wire(port) => port.send(chip::Message {
                payload,
                signature,
                tag,
                data: None,
            }),
            End::Memory(port) => port.send_marked(payload, signature, tag),
        }
    }

    /// Broadcasts `data`, of any length.
    pub fn send_long(&mut self, data: &[u8]) {
        self.send_long_marked(data, 0, 0);
    }

    /// As [`send_long`](Self::send_long), with a signature and a tag.
    pub fn send_long_marked(&mut self, data: &[u8], signature: u32, tag: u32) {
        match &mut self.end {
            End::Wire(port) => port.send(chip::Message {
                payload: 0,
                signature,
                tag,
                data: (!data.is_empty()).then(|| data.into()),
            }),
            End::Memory(port) => port.send_long_marked(data, signature, tag),
        }
    }

    /// Takes the oldest message, if there is one. For long data the message has only the length.
    #[inline]
    pub fn try_receive(&mut self) -> Option<Message> {
        match &mut self.end {
            End::Wire(port) => port.try_receive().map(|it| short(&it)),
            End::Memory(port) => port.try_receive(),
        }
    }

    /// As [`try_receive`](Self::try_receive). If there is a message, its long data replace the content of `data`.
    pub fn try_receive_long(&mut self, data: &mut Vec<u8>) -> Option<Message> {
        match &mut self.end {
            End::Wire(port) => port.try_receive().map(|it| long(&it, data)),
            End::Memory(port) => port.try_receive_long(data),
        }
    }

    /// Takes the oldest message, or waits for a message.
    ///
    /// # Errors
    ///
    /// [`Closed`] when all messages are taken and no port can send any more. A waiting receiver then returns at once.
    /// There is one exception: on hardware, if its filter stops messages with the signature 0, only its next call
    /// returns.
    #[inline]
    pub fn receive(&mut self) -> Result<Message, Closed> {
        match &mut self.end {
            End::Wire(port) => port.receive().map(|it| short(&it)),
            End::Memory(port) => port.receive(),
        }
    }

    /// As [`receive`](Self::receive). Replaces the content of `data` by the message's long data.
    ///
    /// # Errors
    ///
    /// As [`receive`](Self::receive).
    pub fn receive_long(&mut self, data: &mut Vec<u8>) -> Result<Message, Closed> {
        match &mut self.end {
            End::Wire(port) => port.receive().map(|it| long(&it, data)),
            End::Memory(port) => port.receive_long(data),
        }
    }

    /// Whether no port can send any more. Messages may still be in the port or, on hardware, in transit.
    pub fn is_closed(&self) -> bool {
        match &self.end {
            End::Wire(port) => port.is_closed(),
            End::Memory(port) => port.is_closed(),
        }
    }

    /// Sets the filter for messages sent from now on. On hardware it is the filter of all ports of the
    /// core, for messages that arrive from now on.
    pub fn set_filter(&mut self, filter: Filter) {
        match &mut self.end {
            End::Wire(_) => P::set_filter(chip::Filter {
                mask: filter.mask,
                operation: MatchOperation::Xnor,
                signature: filter.signature,
            }),
            End::Memory(port) => port.set_filter(filter),
        }
    }
}

fn short(delivery: &Delivery) -> Message {
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

fn long(delivery: &Delivery, data: &mut Vec<u8>) -> Message {
    data.clear();
    data.extend(delivery.message.data.iter().flat_map(|data| data.iter()));
    short(delivery)
}

impl<P: Broadcast> fmt::Debug for Port<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Port").finish_non_exhaustive()
    }
}
