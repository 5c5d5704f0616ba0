//! Virtual channels: every core broadcasts, and who has a port of the channel
//! receives (Park 2013, section 3.2 and table 4.2).
//!
//! On a machine with a broadcast network ([`Platform::Broadcast`]) a channel is a
//! number that the hardware puts on messages. Elsewhere it goes through memory.

mod memory;

use manycore_platform::{Broadcast, Filter, Native, Platform};
use memory::Inbox;
use std::fmt;
use std::num::NonZeroU32;

/// The hardware's channel.
type Wire<P> = <<P as Platform>::Broadcast as Broadcast>::Channel;

/// A virtual channel.
///
/// ```
/// use manycore::channel::Channel;
///
/// let channel = Channel::new();
/// let (mut one, mut other) = (channel.open(), channel.open());
/// one.send(7, 0, 0);
/// assert_eq!(other.receive().payload, 7);
/// assert!(one.try_receive().is_none(), "nobody hears itself");
/// ```
#[doc(alias = "VirtualChannel")]
pub struct Channel<P: Platform = Native> {
    medium: Medium<P>,
}

enum Medium<P: Platform> {
    Wire(Wire<P>),
    Memory(memory::Shared<P>),
}

/// One core's end of a channel. On hardware it belongs to the core on which it was opened:
/// the thread must be bound to it.
#[doc(alias = "VirtualChannelPort")]
pub struct Port<P: Platform = Native> {
    end: End<P>,
}

enum End<P: Platform> {
    Wire(Wire<P>),
    Memory(Inbox<P>),
}

/// A message without its long data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The word that was sent.
    pub payload: u64,
    /// What filters look at.
    pub signature: u32,
    /// A second word.
    pub tag: u32,
    /// Bytes of long data that came with it.
    pub length: usize,
}

impl Channel {
    /// A channel that nobody has.
    #[doc(alias = "create")]
    pub fn new() -> Self {
        Self::over()
    }
}

impl Default for Channel {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Platform> Channel<P> {
    /// The same on the platform `P`.
    pub fn over() -> Self {
        let medium = match P::Broadcast::create_channel() {
            Some(wire) => Medium::Wire(wire),
            None => Medium::Memory(memory::Shared::new()),
        };
        Self { medium }
    }

    /// Whether messages travel over a broadcast network.
    pub fn is_hardware(&self) -> bool {
        matches!(self.medium, Medium::Wire(_))
    }

    /// A port of this channel, for the core on which the caller runs.
    #[doc(alias = "VirtualChannelPort")]
    pub fn open(&self) -> Port<P> {
        let end = match &self.medium {
            &Medium::Wire(wire) => {
                P::Broadcast::open_port(wire);
                End::Wire(wire)
            }
            Medium::Memory(shared) => End::Memory(shared.open(NonZeroU32::MIN)),
        };
        Port { end }
    }

    /// A port that counts: of the messages that pass the filter only every
    /// `every`-th is received.
    pub fn open_counting(&self, every: NonZeroU32) -> Port<P> {
        let end = match &self.medium {
            &Medium::Wire(wire) => {
                P::Broadcast::open_counting_port(wire, every);
                End::Wire(wire)
            }
            Medium::Memory(shared) => End::Memory(shared.open(every)),
        };
        Port { end }
    }
}

impl<P: Platform> Port<P> {
    /// Broadcasts a word to all others with a port of the channel.
    #[doc(alias = "send_message")]
    pub fn send(&mut self, payload: u64, signature: u32, tag: u32) {
        self.send_message(payload, &[], signature, tag);
    }

    /// Broadcasts `data`.
    #[doc(alias = "send_message_long")]
    pub fn send_long(&mut self, data: &[u8], signature: u32, tag: u32) {
        self.send_message(0, data, signature, tag);
    }

    fn send_message(&mut self, payload: u64, data: &[u8], signature: u32, tag: u32) {
        let message = manycore_platform::Message {
            payload,
            signature,
            tag,
            data: (!data.is_empty()).then(|| data.into()),
        };
        match &mut self.end {
            &mut End::Wire(wire) => P::Broadcast::send(wire, message),
            End::Memory(inbox) => inbox.send(message),
        }
    }

    /// Takes the oldest message, if there is one.
    #[doc(alias = "receive_message")]
    pub fn try_receive(&mut self) -> Option<Message> {
        match &mut self.end {
            &mut End::Wire(wire) => P::Broadcast::receive(wire).map(|it| it.message),
            End::Memory(inbox) => inbox.receive(),
        }
        .map(short)
    }

    /// Takes the oldest message, waiting for one.
    #[doc(alias = "wait_and_receive_message")]
    pub fn receive(&mut self) -> Message {
        short(match &mut self.end {
            &mut End::Wire(wire) => P::Broadcast::wait_and_receive(wire).message,
            End::Memory(inbox) => inbox.wait_and_receive(),
        })
    }

    /// Sets what this port hears from now on. On hardware: what the core's ports hear.
    #[doc(alias = "set_local_filter")]
    pub fn set_filter(&mut self, filter: Filter) {
        match &mut self.end {
            End::Wire(_) => P::Broadcast::set_filter(filter),
            End::Memory(inbox) => inbox.set_filter(filter),
        }
    }
}

fn short(message: manycore_platform::Message) -> Message {
    Message {
        payload: message.payload,
        signature: message.signature,
        tag: message.tag,
        length: message.data.map_or(0, |data| data.len()),
    }
}

impl<P: Platform> fmt::Debug for Channel<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hardware = self.is_hardware();
        f.debug_struct("Channel")
            .field("hardware", &hardware)
            .finish()
    }
}

impl<P: Platform> fmt::Debug for Port<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Port").finish_non_exhaustive()
    }
}
