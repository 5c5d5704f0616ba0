use super::filter::Filter;
use super::hub::Hub;
use super::inbox::Inbox;
use super::message::{Closed, Message};
use super::outbox::Outbox;
use manycore_platform::{Native, Platform};
use std::fmt;
use std::sync::Arc;

/// One thread's end of a channel. A port sends to all other ports and receives from them.
///
/// A dropped port receives nothing more. Messages that it has sent are still received.
// A port is on two cache lines of its own, since processors prefetch pairs of lines. It changes
// with each message, and its neighbour in memory may belong to another thread.
#[doc(alias = "VirtualChannelPort")]
#[repr(align(128))]
pub struct Port<P: Platform = Native> {
    hub: Arc<Hub<P>>,
    number: usize,
    outbox: Outbox<P>,
    inbox: Inbox<P>,
}

impl<P: Platform> Port<P> {
    pub(super) fn open(hub: &Arc<Hub<P>>) -> Self {
        let (number, inbox) = hub.open();
        Self {
            hub: Arc::clone(hub),
            number,
            outbox: Outbox::new(),
            inbox,
        }
    }

    /// The number by which receivers identify this port ([`Message::sender`]). Ports are numbered
    /// from 0 in the order of opening.
    ///
    /// ```
    /// use manycore_team::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// assert_eq!((channel.open().number(), channel.open().number()), (0, 1));
    /// ```
    pub fn number(&self) -> usize {
        self.number
    }

    /// Sends a word to all other ports of the channel.
    ///
    /// A send is a few stores if the ring has room and no receiver sleeps. Without room, a sender
    /// with [`Slow::Wait`](super::Slow::Wait) waits.
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

    /// Like [`send`](Self::send), with a signature and a tag. [Filters](Self::set_filter) look at
    /// the signature. The tag is a second, smaller word. `send` sets both to 0.
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
        (self.outbox).send(&self.hub, self.number, payload, signature, tag);
    }

    /// Sends `data`, of any length, to all other ports. Data that does not fit in the ring is sent
    /// in pieces, as the receivers take them.
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

    /// Like [`send_long`](Self::send_long), with a signature and a tag; see
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
        (self.outbox).send_long(&self.hub, self.number, data, signature, tag);
    }

    /// Takes the oldest message, if there is one. For long data, this returns only the length.
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
        self.inbox.take(&self.hub, self.number, None)
    }

    /// Like [`try_receive`](Self::try_receive). If it takes a message, it replaces the contents of
    /// `data` by the message's long data.
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
        self.inbox.take(&self.hub, self.number, Some(data))
    }

    /// Takes the oldest message. If there is no message, spins for a while and then sleeps until
    /// one arrives.
    ///
    /// # Errors
    ///
    /// Returns [`Closed`] when all messages are taken and no port can send any more: no other port
    /// of the channel is open, and no handle is left to open one. A call that waits returns this
    /// error too.
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
        self.inbox.wait_and_take(&self.hub, self.number, None)
    }

    /// Like [`receive`](Self::receive), and replaces the contents of `data` by the message's long
    /// data.
    ///
    /// # Errors
    ///
    /// Like [`receive`](Self::receive).
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
        (self.inbox).wait_and_take(&self.hub, self.number, Some(data))
    }

    /// Whether no port can send any more. Messages that were sent before may still be there until a
    /// later [`try_receive`](Self::try_receive) finds nothing.
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
        self.hub.hot.senders.is_closed()
    }

    /// Sets the filter for messages that are sent from now on.
    ///
    /// ```
    /// use manycore_team::channel::{Channel, Filter};
    ///
    /// let channel = Channel::new();
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// one.send_marked(1, 5, 0);
    /// other.set_filter(Filter { mask: u32::MAX, signature: 7 });
    /// one.send_marked(2, 5, 0);
    /// one.send_marked(3, 7, 0);
    /// assert_eq!(other.receive().unwrap().payload, 1); // came before the filter
    /// assert_eq!(other.receive().unwrap().payload, 3);
    /// ```
    #[doc(alias = "set_local_filter")]
    pub fn set_filter(&mut self, filter: Filter) {
        self.inbox.set_filter(&self.hub, self.number, filter);
    }
}

impl<P: Platform> Drop for Port<P> {
    fn drop(&mut self) {
        self.hub.close(self.number, self.outbox.ring());
    }
}

impl<P: Platform> fmt::Debug for Port<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Port").finish_non_exhaustive()
    }
}
