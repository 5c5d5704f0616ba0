//! Virtual channels. Every core can broadcast on a channel, and every core with a port of the channel receives the
//! messages (Park 2013, section 3.2 and table 4.2).
//!
//! On a machine with a broadcast network ([`Broadcast`]) a channel is a number in the hardware's messages. On other
//! machines it is `manycore-team`'s channel, which goes through memory. This folder's `README.md` argues that no
//! message is lost.

mod port;
mod wire;

pub use manycore_team::channel::{Closed, Filter, Message, Settings, Slow};
pub use port::Port;
pub(crate) use wire::{Wire, WirePort};

use manycore_chip::Broadcast;
use manycore_team::channel as memory;
use std::fmt;
use std::num::NonZeroU32;

/// A virtual channel. Clones are handles of the same channel. The channel ends with its last handle or port.
///
/// ```
/// use manycore::Native;
/// use manycore_programs::channel::Channel;
///
/// let channel = Channel::<Native>::over();
/// assert!(!channel.is_hardware(), "no such hardware in this machine");
/// let (mut one, mut other) = (channel.open(), channel.open());
/// one.send(7);
/// assert_eq!(other.receive().unwrap().payload, 7);
/// assert!(one.try_receive().is_none(), "a port does not hear itself");
/// ```
pub struct Channel<P: Broadcast> {
    medium: Medium<P>,
}

enum Medium<P: Broadcast> {
    Wire(Wire<P>),
    Memory(memory::Channel<P>),
}

impl<P: Broadcast> Channel<P> {
    /// Makes a new channel, whose senders wait for slow receivers.
    pub fn over() -> Self {
        Self::over_with(Settings::default())
    }

    /// Makes a new channel with settings. Hardware keeps all messages, whatever the settings.
    pub fn over_with(settings: Settings) -> Self {
        let medium = match Wire::new() {
            Some(wire) => Medium::Wire(wire),
            None => Medium::Memory(memory::Channel::over_with(settings)),
        };
        Self { medium }
    }

    /// Whether messages travel over a broadcast network.
    pub fn is_hardware(&self) -> bool {
        matches!(self.medium, Medium::Wire(_))
    }

    /// Opens a port of this channel. It receives all messages that pass its filter. At first the filter
    /// passes every message.
    ///
    /// On hardware this is the port of the caller's core. The caller must be bound to the core, and use and drop the
    /// port there. A core has one port of a channel. Opening the port again returns the same port, and the drop of its
    /// first handle closes it.
    pub fn open(&self) -> Port<P> {
        match &self.medium {
            Medium::Wire(wire) => Port::on_wire(wire.open(None)),
            Medium::Memory(channel) => Port::in_memory(channel.open()),
        }
    }

    /// Opens a port that counts: it receives only every `every`-th message that passes the filter. Returns
    /// `None` for a channel through memory.
    pub fn open_counting(&self, every: NonZeroU32) -> Option<Port<P>> {
        match &self.medium {
            Medium::Wire(wire) => Some(Port::on_wire(wire.open(Some(every)))),
            Medium::Memory(_) => None,
        }
    }
}

impl<P: Broadcast> Clone for Channel<P> {
    fn clone(&self) -> Self {
        let medium = match &self.medium {
            Medium::Wire(wire) => Medium::Wire(wire.clone()),
            Medium::Memory(channel) => Medium::Memory(channel.clone()),
        };
        Self { medium }
    }
}

impl<P: Broadcast> fmt::Debug for Channel<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel")
            .field("hardware", &self.is_hardware())
            .finish()
    }
}
