//! Broadcast channels: every thread with a port of the channel sends to all others, and hears them
//! (the virtual channels of Park 2013, section 3.2 and table 4.2, through memory: a ring for each
//! port that sends, which all others read). `README.md` argues that nothing is lost or torn.
//!
//! * A [`Port`] receives what is sent after the port was opened.
//! * Messages of one sender arrive in the order of sending. Messages of several senders arrive in
//!   any order.
//! * A message is kept until it is taken, unless the channel was made to
//!   [lose](Slow::Lose) what slow receivers do not take. Memory is bounded: see
//!   [`Settings`].
//! * What a sender did before it sent is visible to the thread that received.
//! * A message may also carry a signature and a tag ([`Port::send_marked`]). A port may
//!   [filter](Port::set_filter) what it hears by signatures.
//! * When all other ports and all handles are gone and all messages are taken, a receiving port
//!   returns [`Closed`]. An unused handle keeps the channel open: drop it when all ports are open.
//!   Ports keep the channel open too, even if they only listen: if several ports wait for each
//!   other, one must send a last message.
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

mod bell;
#[cfg(test)]
mod checked;
mod filter;
mod hub;
mod inbox;
mod message;
mod outbox;
mod port;
mod record;
mod ring;
mod ring_reader;
pub(crate) mod sender_count;
mod settings;

pub use filter::Filter;
pub use message::{Closed, Message};
pub use port::Port;
pub use settings::{Settings, Slow};

use hub::Hub;
use manycore_platform::{Native, Platform};
use sender_count::HANDLE;
use std::fmt;
use std::sync::Arc;

/// A broadcast channel. Clones are handles of the same channel. It ends with the last of its
/// handles and ports.
///
/// ```
/// use manycore_team::channel::Channel;
///
/// let channel = Channel::new();
/// let (mut one, mut other) = (channel.open(), channel.open());
/// one.send(7);
/// assert_eq!(other.receive().unwrap().payload, 7);
/// assert!(one.try_receive().is_none(), "a port does not hear itself");
/// ```
#[doc(alias = "VirtualChannel")]
pub struct Channel<P: Platform = Native> {
    hub: Arc<Hub<P>>,
}

impl Channel {
    /// A new channel. Its senders wait for slow receivers.
    ///
    /// ```
    /// use manycore_team::channel::Channel;
    ///
    /// assert!(Channel::new().open().try_receive().is_none());
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

    /// As [`with`](Channel::with), on the platform `P`.
    ///
    /// ```
    /// use manycore_platform::Native;
    /// use manycore_team::channel::{Channel, Settings};
    ///
    /// let channel = Channel::<Native>::over_with(Settings::default());
    /// assert!(channel.open().try_receive().is_none());
    /// ```
    pub fn over_with(settings: Settings) -> Self {
        let hub = Hub::new(settings);
        Self { hub }
    }

    /// A port of this channel, which hears all that passes its filter; at first
    /// the filter lets everything pass.
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
        Port::open(&self.hub)
    }
}

impl<P: Platform> Clone for Channel<P> {
    fn clone(&self) -> Self {
        let hub = Arc::clone(&self.hub);
        hub.hot.senders.add(HANDLE);
        Self { hub }
    }
}

impl<P: Platform> Drop for Channel<P> {
    fn drop(&mut self) {
        self.hub.leave(HANDLE);
    }
}

impl<P: Platform> fmt::Debug for Channel<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").finish_non_exhaustive()
    }
}
