use super::ends::{Ends, PORT};
use super::memory::MemoryPort;
use super::network::{long, next_on, short, tell_of_the_end, wait_on};
use super::{Closed, HardwareChannel, Message};
use manycore_platform::{Broadcast, Filter, Native, Platform};
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

/// One core's end of a channel: sends to all others, and hears them.
///
/// Dropped, it is no longer sent to; what it has sent is still received.
#[doc(alias = "VirtualChannelPort")]
pub struct Port<P: Platform = Native> {
    end: End<P>,
}

enum End<P: Platform> {
    Wire {
        wire: HardwareChannel<P>,
        core: usize,
        ends: Arc<Ends<P>>,
    },
    Memory(MemoryPort<P>),
}

impl<P: Platform> Port<P> {
    pub(super) fn on_hardware(
        wire: HardwareChannel<P>,
        ends: Arc<Ends<P>>,
        every: Option<NonZeroU32>,
    ) -> Self {
        ends.add(PORT);
        match every {
            None => P::Broadcast::open_port(wire),
            Some(every) => {
                ends.count_together(every);
                P::Broadcast::open_counting_port(wire, every);
            }
        }
        let core = P::core();
        let end = End::Wire { wire, core, ends };
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
    /// use manycore_team::channel::Channel;
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
    /// use manycore_team::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// one.send(u64::MAX);
    /// assert_eq!(other.receive()?.payload, u64::MAX);
    /// # Ok::<(), manycore_team::channel::Closed>(())
    /// ```
    #[inline]
    pub fn send(&mut self, payload: u64) {
        self.send_marked(payload, 0, 0);
    }

    /// As [`send`](Self::send), with a signature, which [filters](Self::set_filter) look at, and
    /// a tag, which is a second and smaller word. `send` leaves both at 0.
    ///
    /// ```
    /// use manycore_team::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// one.send_marked(7, 8, 9);
    /// let message = other.receive()?;
    /// assert_eq!((message.payload, message.signature, message.tag), (7, 8, 9));
    /// # Ok::<(), manycore_team::channel::Closed>(())
    /// ```
    #[doc(alias = "send_message")]
    #[inline]
    pub fn send_marked(&mut self, payload: u64, signature: u32, tag: u32) {
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
    /// use manycore_team::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// let film = vec![7; 10 << 20];
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| one.send_long(&film));
    ///     let mut copy = Vec::new();
    ///     assert_eq!(other.receive_long(&mut copy).unwrap().length, film.len());
    ///     assert_eq!(copy, film);
    /// });
    /// ```
    pub fn send_long(&mut self, data: &[u8]) {
        self.send_long_marked(data, 0, 0);
    }

    /// As [`send_long`](Self::send_long), with a signature and a tag; see
    /// [`send_marked`](Self::send_marked).
    ///
    /// ```
    /// use manycore_team::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// one.send_long_marked(b"some", 5, 6);
    /// let mut data = Vec::new();
    /// let message = other.receive_long(&mut data)?;
    /// assert_eq!((message.signature, message.tag, message.length), (5, 6, 4));
    /// # Ok::<(), manycore_team::channel::Closed>(())
    /// ```
    #[doc(alias = "send_message_long")]
    pub fn send_long_marked(&mut self, data: &[u8], signature: u32, tag: u32) {
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
    /// use manycore_team::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// assert!(other.try_receive().is_none());
    /// one.send(3);
    /// assert_eq!(other.try_receive().map(|message| message.payload), Some(3));
    /// ```
    #[doc(alias = "receive_message")]
    #[inline]
    pub fn try_receive(&mut self) -> Option<Message> {
        match &mut self.end {
            &mut End::Wire { wire, .. } => next_on::<P>(wire).map(|it| short(&it)),
            End::Memory(port) => port.try_receive(),
        }
    }

    /// The same, and replaces what is in `data` by the message's long data, if a
    /// message was taken.
    ///
    /// ```
    /// use manycore_team::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// one.send_long(b"some");
    /// one.send(1);
    /// let mut data = Vec::new();
    /// assert_eq!(other.try_receive_long(&mut data).unwrap().length, 4);
    /// assert_eq!(data, b"some");
    /// assert_eq!(other.try_receive_long(&mut data).unwrap().length, 0);
    /// assert!(data.is_empty());
    /// ```
    #[doc(alias = "receive_message_long")]
    pub fn try_receive_long(&mut self, data: &mut Vec<u8>) -> Option<Message> {
        match &mut self.end {
            &mut End::Wire { wire, .. } => next_on::<P>(wire).map(|it| long(&it, data)),
            End::Memory(port) => port.try_receive_long(data),
        }
    }

    /// Takes the oldest message, waiting for one: spinning for a while, and then
    /// asleep.
    ///
    /// # Errors
    ///
    /// [`Closed`] when everything is taken and nobody can send any more: no other port of the
    /// channel is open, and no handle is there to open one. A receiver that waits is told
    /// at once; on hardware, if its filter lets messages with the signature 0 pass, and else with
    /// its next call.
    ///
    /// ```
    /// use manycore_team::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || assert_eq!(other.receive().unwrap().payload, 2));
    ///     one.send(2);
    /// });
    /// ```
    #[doc(alias = "wait_and_receive_message")]
    #[inline]
    pub fn receive(&mut self) -> Result<Message, Closed> {
        match &mut self.end {
            End::Wire { wire, ends, .. } => wait_on(*wire, ends).map(|it| short(&it)),
            End::Memory(port) => port.receive(),
        }
    }

    /// The same, and replaces what is in `data` by the message's long data.
    ///
    /// # Errors
    ///
    /// As [`receive`](Self::receive).
    ///
    /// ```
    /// use manycore_team::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// one.send_long(b"any number of bytes");
    /// let mut data = Vec::new();
    /// other.receive_long(&mut data)?;
    /// assert_eq!(data, b"any number of bytes");
    /// # Ok::<(), manycore_team::channel::Closed>(())
    /// ```
    #[doc(alias = "wait_and_receive_message_long")]
    pub fn receive_long(&mut self, data: &mut Vec<u8>) -> Result<Message, Closed> {
        match &mut self.end {
            End::Wire { wire, ends, .. } => wait_on(*wire, ends).map(|it| long(&it, data)),
            End::Memory(port) => port.receive_long(data),
        }
    }

    /// Whether nobody can send any more. What was sent may still be there to be taken: after
    /// this, [`try_receive`](Self::try_receive) finds nothing only if there is nothing left. (On
    /// hardware, if nothing is on its way either.)
    ///
    /// ```
    /// use manycore_team::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// drop(channel);
    /// assert!(!other.is_closed());
    /// one.send(1);
    /// drop(one);
    /// assert!(other.is_closed());
    /// assert_eq!(other.try_receive().unwrap().payload, 1);
    /// assert!(other.try_receive().is_none());
    /// ```
    pub fn is_closed(&self) -> bool {
        match &self.end {
            End::Wire { ends, .. } => ends.is_closed(),
            End::Memory(port) => port.is_closed(),
        }
    }

    /// Sets what this port hears of what is sent from now on. On hardware: what all ports
    /// of its core hear of what arrives from now on.
    ///
    /// ```
    /// use manycore_team::channel::{Channel, Filter, MatchOperation};
    ///
    /// let channel = Channel::new();
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// one.send_marked(1, 5, 0);
    /// let sevens = Filter { mask: u32::MAX, operation: MatchOperation::Xnor, signature: 7 };
    /// other.set_filter(sevens);
    /// one.send_marked(2, 5, 0);
    /// one.send_marked(3, 7, 0);
    /// assert_eq!(other.receive().unwrap().payload, 1); // came before the filter
    /// assert_eq!(other.receive().unwrap().payload, 3);
    /// ```
    #[doc(alias = "set_local_filter")]
    pub fn set_filter(&mut self, filter: Filter) {
        match &mut self.end {
            End::Wire { .. } => P::Broadcast::set_filter(filter),
            End::Memory(port) => port.set_filter(filter),
        }
    }
}

impl<P: Platform> Drop for Port<P> {
    fn drop(&mut self) {
        let End::Wire { wire, core, ends } = &self.end else {
            return;
        };
        // Elsewhere it would be another core's port that is closed.
        if P::core() == *core {
            P::Broadcast::close_port(*wire);
        }
        if ends.leave(PORT) {
            tell_of_the_end(*wire, ends);
        }
    }
}

impl<P: Platform> fmt::Debug for Port<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Port").finish_non_exhaustive()
    }
}
