use super::memory::MemoryPort;
use super::{Message, Wire};
use manycore_platform::{Broadcast, Delivery, Filter, Native, Platform};
use std::fmt;
use std::num::NonZeroU32;

/// One core's end of a channel: sends to all others, and hears them.
///
/// Dropped, it is no longer sent to; what it has sent is still received.
#[doc(alias = "VirtualChannelPort")]
pub struct Port<P: Platform = Native> {
    end: End<P>,
}

enum End<P: Platform> {
    Wire { wire: Wire<P>, core: usize },
    Memory(MemoryPort<P>),
}

impl<P: Platform> Port<P> {
    pub(super) fn on_hardware(wire: Wire<P>, every: Option<NonZeroU32>) -> Self {
        match every {
            None => P::Broadcast::open_port(wire),
            Some(every) => P::Broadcast::open_counting_port(wire, every),
        }
        let core = P::core();
        let end = End::Wire { wire, core };
        Self { end }
    }

    pub(super) fn in_memory(port: MemoryPort<P>) -> Self {
        let end = End::Memory(port);
        Self { end }
    }

    /// What receivers know this port by ([`Message::sender`]): ports count from 0
    /// in the order of opening; on hardware it is the core.
    ///
    /// ```
    /// use manycore::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// assert_eq!((channel.open().number(), channel.open().number()), (0, 1));
    /// ```
    pub fn number(&self) -> usize {
        match &self.end {
            End::Wire { core, .. } => *core,
            End::Memory(port) => port.number(),
        }
    }

    /// Broadcasts a word to all others with a port of the channel.
    ///
    /// Through memory: a few stores, while there is room and nobody sleeps. With
    /// [`Slow::Wait`](super::Slow::Wait) it waits for room.
    ///
    /// ```
    /// use manycore::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// one.send(u64::MAX, 8, 9);
    /// let message = other.receive();
    /// assert_eq!((message.payload, message.signature, message.tag), (u64::MAX, 8, 9));
    /// ```
    #[doc(alias = "send_message")]
    #[inline]
    pub fn send(&mut self, payload: u64, signature: u32, tag: u32) {
        match &mut self.end {
            &mut End::Wire { wire, .. } => {
                let message = manycore_platform::Message {
                    payload,
                    signature,
                    tag,
                    data: None,
                };
                P::Broadcast::send(wire, message);
            }
            End::Memory(port) => port.send(payload, signature, tag),
        }
    }

    /// Broadcasts `data`, of any length: what does not fit in memory goes in
    /// pieces, as the receivers take them.
    ///
    /// ```
    /// use manycore::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// let film = vec![7; 10 << 20];
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| one.send_long(&film, 0, 0));
    ///     let mut copy = Vec::new();
    ///     assert_eq!(other.receive_long(&mut copy).length, film.len());
    ///     assert_eq!(copy, film);
    /// });
    /// ```
    #[doc(alias = "send_message_long")]
    pub fn send_long(&mut self, data: &[u8], signature: u32, tag: u32) {
        match &mut self.end {
            &mut End::Wire { wire, .. } => {
                let message = manycore_platform::Message {
                    payload: 0,
                    signature,
                    tag,
                    data: (!data.is_empty()).then(|| data.into()),
                };
                P::Broadcast::send(wire, message);
            }
            End::Memory(port) => port.send_long(data, signature, tag),
        }
    }

    /// Takes the oldest message, if there is one; of long data, only how long it is.
    ///
    /// ```
    /// use manycore::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// assert!(other.try_receive().is_none());
    /// one.send(3, 0, 0);
    /// assert_eq!(other.try_receive().map(|message| message.payload), Some(3));
    /// ```
    #[doc(alias = "receive_message")]
    #[inline]
    pub fn try_receive(&mut self) -> Option<Message> {
        match &mut self.end {
            &mut End::Wire { wire, .. } => P::Broadcast::receive(wire).map(|it| short(&it)),
            End::Memory(port) => port.try_receive(),
        }
    }

    /// The same, and replaces what is in `data` by the message's long data, if a
    /// message was taken.
    ///
    /// ```
    /// use manycore::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// one.send_long(b"some", 0, 0);
    /// one.send(1, 0, 0);
    /// let mut data = Vec::new();
    /// assert_eq!(other.try_receive_long(&mut data).unwrap().length, 4);
    /// assert_eq!(data, b"some");
    /// assert_eq!(other.try_receive_long(&mut data).unwrap().length, 0);
    /// assert!(data.is_empty());
    /// ```
    #[doc(alias = "receive_message_long")]
    pub fn try_receive_long(&mut self, data: &mut Vec<u8>) -> Option<Message> {
        match &mut self.end {
            &mut End::Wire { wire, .. } => P::Broadcast::receive(wire).map(|it| long(&it, data)),
            End::Memory(port) => port.try_receive_long(data),
        }
    }

    /// Takes the oldest message, waiting for one: spinning for a while, and then
    /// asleep.
    ///
    /// ```
    /// use manycore::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || assert_eq!(other.receive().payload, 2));
    ///     one.send(2, 0, 0);
    /// });
    /// ```
    #[doc(alias = "wait_and_receive_message")]
    #[inline]
    pub fn receive(&mut self) -> Message {
        match &mut self.end {
            &mut End::Wire { wire, .. } => short(&P::Broadcast::wait_and_receive(wire)),
            End::Memory(port) => port.receive(),
        }
    }

    /// The same, and replaces what is in `data` by the message's long data.
    ///
    /// ```
    /// use manycore::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// one.send_long(b"any number of bytes", 0, 0);
    /// let mut data = Vec::new();
    /// other.receive_long(&mut data);
    /// assert_eq!(data, b"any number of bytes");
    /// ```
    #[doc(alias = "wait_and_receive_message_long")]
    pub fn receive_long(&mut self, data: &mut Vec<u8>) -> Message {
        match &mut self.end {
            &mut End::Wire { wire, .. } => long(&P::Broadcast::wait_and_receive(wire), data),
            End::Memory(port) => port.receive_long(data),
        }
    }

    /// Sets what this port hears of what is sent from now on. On hardware: what all ports
    /// of its core hear of what arrives from now on.
    ///
    /// ```
    /// use manycore::channel::{Channel, Filter, MatchOperation};
    ///
    /// let channel = Channel::new();
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// one.send(1, 5, 0);
    /// let sevens = Filter { mask: u32::MAX, operation: MatchOperation::Xnor, signature: 7 };
    /// other.set_filter(sevens);
    /// one.send(2, 5, 0);
    /// one.send(3, 7, 0);
    /// assert_eq!(other.receive().payload, 1); // came before the filter
    /// assert_eq!(other.receive().payload, 3);
    /// ```
    #[doc(alias = "set_local_filter")]
    pub fn set_filter(&mut self, filter: Filter) {
        match &mut self.end {
            End::Wire { .. } => P::Broadcast::set_filter(filter),
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

impl<P: Platform> Drop for Port<P> {
    fn drop(&mut self) {
        if let End::Wire { wire, core } = self.end
            // Elsewhere it would be another core's port that is closed.
            && P::core() == core
        {
            P::Broadcast::close_port(wire);
        }
    }
}

impl<P: Platform> fmt::Debug for Port<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Port").finish_non_exhaustive()
    }
}
