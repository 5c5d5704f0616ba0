//! Virtual channels: every core broadcasts, and every core that has a port of the channel
//! receives (Park 2013, section 3.2 and table 4.2).
//!
//! On a machine with a broadcast network ([`Platform::Broadcast`]) a channel is a
//! number that the hardware puts on messages. Elsewhere it goes through memory: a ring
//! for each port that sends, which all others read.
//!
//! * A [`Port`] receives what is sent after the port was opened.
//! * Messages of one sender arrive in the order of sending; those of several
//!   senders in any order.
//! * A message is kept until it is taken, unless the channel was made to
//!   [lose](Slow::Lose) what slow receivers do not take. Memory is bounded: see
//!   [`Settings`].
//! * What a sender did before it sent is visible to the thread that received.
//! * A message may also carry a signature and a tag ([`Port::send_marked`]). A port may
//!   [filter](Port::set_filter) what it hears by signatures.
//! * When all other ports and all handles are gone and everything is taken, a port that receives
//!   is told so ([`Closed`]). A handle that nobody uses keeps the channel open: drop it when
//!   all ports are open. Ports keep the channel open too, also if they only listen: if several
//!   ports wait for each other, one has to send a message that says that it is over.
//!
//! ```
//! use manycore_team::channel::{Channel, Closed};
//!
//! let channel = Channel::new();
//! let mut senders = [channel.open(), channel.open()];
//! let mut port = channel.open();
//! drop(channel);
//! std::thread::scope(|scope| {
//!     scope.spawn(move || {
//!         let mut text = Vec::new();
//!         assert_eq!(port.receive().unwrap().payload, 1);
//!         port.receive_long(&mut text).unwrap();
//!         assert_eq!(text, b"as many bytes as you like");
//!         assert_eq!(port.receive(), Err(Closed));
//!     });
//!     senders[0].send(1);
//!     senders[0].send_long(b"as many bytes as you like");
//!     drop(senders);
//! });
//! ```

#[cfg(test)]
mod checked;
mod ends;
mod memory;
mod message;
mod network;
mod port;
mod settings;

pub use manycore_platform::{Filter, MatchOperation};
pub use message::{Closed, Message};
pub use port::Port;
pub use settings::{Settings, Slow};

use ends::{Ends, HANDLE};
use manycore_platform::{Broadcast, Native, Platform};
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

/// The hardware's channel.
pub(crate) type HardwareChannel<P> = <<P as Platform>::Broadcast as Broadcast>::Channel;

/// A virtual channel. Clones are handles of the same one; it ends with the last of
/// them and of its ports.
///
/// ```
/// use manycore_team::channel::Channel;
///
/// let channel = Channel::new();
/// let (mut one, mut other) = (channel.open(), channel.open());
/// one.send(7);
/// assert_eq!(other.receive().unwrap().payload, 7);
/// assert!(one.try_receive().is_none(), "nobody hears itself");
/// ```
#[doc(alias = "VirtualChannel")]
pub struct Channel<P: Platform = Native> {
    medium: Medium<P>,
}

enum Medium<P: Platform> {
    Wire(HardwareChannel<P>, Arc<Ends<P>>),
    Memory(memory::MemoryChannel<P>),
}

impl Channel {
    /// A channel that nobody has, whose senders wait for slow receivers.
    ///
    /// ```
    /// use manycore_team::channel::Channel;
    ///
    /// assert!(!Channel::new().is_hardware(), "no such hardware in this machine");
    /// ```
    #[doc(alias = "create")]
    pub fn new() -> Self {
        Self::over()
    }

    /// The same, with settings.
    ///
    /// ```
    /// use manycore_team::channel::{Channel, Settings};
    ///
    /// let channel = Channel::with(Settings { capacity: 1 << 20, ..Settings::default() });
    /// let (mut one, mut other) = (channel.open(), channel.open());
    /// (0..60_000).for_each(|number| one.send(number)); // there is room for them
    /// assert_eq!(other.receive().unwrap().payload, 0);
    /// ```
    pub fn with(settings: Settings) -> Self {
        Self::over_with(settings)
    }
}

impl Default for Channel {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Platform> Channel<P> {
    /// As [`new`](Channel::new), on the platform `P`.
    ///
    /// ```
    /// use manycore_platform::Native;
    /// use manycore_team::channel::Channel;
    ///
    /// let channel = Channel::<Native>::over();
    /// assert_eq!(channel.open().number(), 0);
    /// ```
    pub fn over() -> Self {
        Self::over_with(Settings::default())
    }

    /// As [`with`](Channel::with), on the platform `P`. Hardware keeps all
    /// messages, whatever the settings say.
    ///
    /// ```
    /// use manycore_platform::Native;
    /// use manycore_team::channel::{Channel, Settings};
    ///
    /// let channel = Channel::<Native>::over_with(Settings::default());
    /// assert!(channel.open().try_receive().is_none());
    /// ```
    pub fn over_with(settings: Settings) -> Self {
        let medium = match P::Broadcast::create_channel() {
            Some(wire) => Medium::Wire(wire, Arc::new(Ends::new())),
            None => Medium::Memory(memory::MemoryChannel::new(settings)),
        };
        Self { medium }
    }

    /// Whether messages travel over a broadcast network.
    ///
    /// ```
    /// use manycore_team::channel::Channel;
    ///
    /// assert!(!Channel::new().is_hardware());
    /// ```
    pub fn is_hardware(&self) -> bool {
        matches!(self.medium, Medium::Wire(..))
    }

    /// A port of this channel, which hears all that passes its filter; at first
    /// the filter lets everything pass.
    ///
    /// On hardware it is the port of the core on which the caller runs, who must be
    /// bound to it, and use and drop it there. A core has one port of a channel: opened again it
    /// is the same, and closed with the first of its handles.
    ///
    /// ```
    /// use manycore_team::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// let mut early = channel.open();
    /// let mut sender = channel.open();
    /// sender.send(1);
    /// let mut late = channel.open();
    /// assert_eq!(early.receive().unwrap().payload, 1);
    /// assert!(late.try_receive().is_none(), "it was sent before");
    /// ```
    #[doc(alias = "VirtualChannelPort")]
    pub fn open(&self) -> Port<P> {
        self.open_port(None)
    }

    /// A port that counts: of the messages that pass the filter only every
    /// `every`-th is received.
    ///
    /// ```
    /// use manycore_team::channel::Channel;
    ///
    /// let channel = Channel::new();
    /// let (mut sender, mut port) = (channel.open(), channel.open_counting(3.try_into()?));
    /// (0..7).for_each(|number| sender.send(number));
    /// assert_eq!(port.receive().unwrap().payload, 2);
    /// assert_eq!(port.receive().unwrap().payload, 5);
    /// assert!(port.try_receive().is_none());
    /// # Ok::<(), std::num::TryFromIntError>(())
    /// ```
    pub fn open_counting(&self, every: NonZeroU32) -> Port<P> {
        self.open_port(Some(every))
    }

    fn open_port(&self, every: Option<NonZeroU32>) -> Port<P> {
        match &self.medium {
            Medium::Wire(wire, ends) => Port::on_hardware(*wire, Arc::clone(ends), every),
            Medium::Memory(shared) => Port::in_memory(shared.open(every)),
        }
    }
}

impl<P: Platform> Clone for Channel<P> {
    fn clone(&self) -> Self {
        let medium = match &self.medium {
            Medium::Wire(wire, ends) => {
                ends.add(HANDLE);
                Medium::Wire(*wire, Arc::clone(ends))
            }
            Medium::Memory(shared) => Medium::Memory(shared.clone()),
        };
        Self { medium }
    }
}

impl<P: Platform> Drop for Channel<P> {
    fn drop(&mut self) {
        if let Medium::Wire(wire, ends) = &self.medium {
            if ends.leave(HANDLE) {
                network::tell_of_the_end(*wire, ends);
            }
        }
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
