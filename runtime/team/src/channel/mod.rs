//! Broadcast channels: a thread that has a port of a channel sends to all other ports and receives
//! from them. Each port that sends has a ring in memory, which all other ports read. These are the
//! virtual channels of Park 2013, section 3.2 and table 4.2. `README.md` argues that no message is
//! lost or torn.
//!
//! * A [`Port`] receives all messages that are sent after the port was opened.
//! * Messages of one sender arrive in the order of sending. Messages of several senders arrive in
//!   any order.
//! * A message is kept until each receiver has taken it, unless the channel was made to
//!   [lose](Slow::Lose) messages that slow receivers do not take. [`Settings`] bounds the memory.
//! * A sender's work before it sends is visible to the thread that receives.
//! * A message may also carry a signature and a tag ([`Port::send_marked`]). A port may
//!   [filter](Port::set_filter) messages by signature.
//! * When all other ports and all handles are gone and all messages are taken, receiving returns
//!   [`Closed`]. An unused handle keeps the channel open: drop it when all ports are open. A port
//!   that only listens keeps the channel open too. So if only listening ports are left, one must
//!   send a last message.
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

/// A broadcast channel. A clone of it is another handle of the same channel. The channel ends when
/// its last handle and its last port are dropped.
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
    /// Makes a new channel. Its senders wait for slow receivers.
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

    /// Like [`new`](Self::new), with settings.
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
    /// Like [`new`](Channel::new), on the platform `P`.
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

    /// Like [`with`](Channel::with), on the platform `P`.
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

    /// Opens a port. The port receives all messages that are sent after this call, unless it sets a
    /// [filter](Port::set_filter).
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
