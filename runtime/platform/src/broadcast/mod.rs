//! Hardware that broadcasts.

mod filter;
mod message;

pub use filter::{Filter, MatchOperation};
pub use message::{Delivery, Message};

use std::convert::Infallible;
use std::fmt::Debug;
use std::num::NonZeroU32;

/// The on-chip broadcast network of a platform, or [`NoBroadcast`].
///
/// This is the hardware under virtual channels (Park 2013, sections 3.1 and
/// 4.1): ports and filters belong to the *core* on which the caller runs, so
/// threads that use them must be bound to cores. Messages of one sender arrive in the
/// order of sending, and are kept until they are taken.
///
/// A machine may lack it though its platform could have it: then
/// [`create_channel`](Self::create_channel) says so, and virtual channels go through
/// memory.
///
/// ```
/// use manycore_platform::{Broadcast, Native, Platform};
///
/// // No such network on this host.
/// assert!(<Native as Platform>::Broadcast::create_channel().is_none());
/// ```
pub trait Broadcast: 'static {
    /// A number that the hardware puts on messages.
    type Channel: Copy + Debug + Send + Sync + 'static;

    /// A channel that nobody has; `None` if the machine has no such network.
    fn create_channel() -> Option<Self::Channel>;

    /// Subscribes this core to `channel`; again changes nothing.
    fn open_port(channel: Self::Channel);

    /// Subscribes this core to the count of messages: its network interface
    /// counts what passes the filter, and delivers every `every`-th message
    /// alone. Changes a port that is open, and begins to count anew.
    fn open_counting_port(channel: Self::Channel, every: NonZeroU32);

    /// Unsubscribes this core; messages it has not taken are gone.
    fn close_port(channel: Self::Channel);

    /// Sets this core's filter, for all its channels.
    fn set_filter(filter: Filter);

    /// Broadcasts to all other cores with a port of `channel`; the sender needs none.
    fn send(channel: Self::Channel, message: Message);

    /// Takes the channel's oldest message from this core's message buffer, if
    /// there is one.
    fn receive(channel: Self::Channel) -> Option<Delivery>;

    /// The same, waiting for one.
    fn wait_and_receive(channel: Self::Channel) -> Delivery;
}

/// No broadcast network: there is no channel of it, so that whatever handles
/// one is removed by the compiler.
///
/// ```
/// use manycore_platform::{Broadcast, NoBroadcast};
///
/// assert!(NoBroadcast::create_channel().is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NoBroadcast;

impl Broadcast for NoBroadcast {
    type Channel = Infallible;

    fn create_channel() -> Option<Infallible> {
        None
    }

    fn open_port(channel: Infallible) {
        match channel {}
    }

    fn open_counting_port(channel: Infallible, _: NonZeroU32) {
        match channel {}
    }

    fn close_port(channel: Infallible) {
        match channel {}
    }

    /// Nothing: there is no filter to be set.
    fn set_filter(_: Filter) {}

    fn send(channel: Infallible, _: Message) {
        match channel {}
    }

    fn receive(channel: Infallible) -> Option<Delivery> {
        match channel {}
    }

    fn wait_and_receive(channel: Infallible) -> Delivery {
        match channel {}
    }
}
