//! Broadcast hardware, for code that is generic over a platform.

mod filter;
mod message;

pub use filter::{Filter, MatchOperation};
pub use message::{Delivery, Message};

use manycore_platform::{Native, Platform};
use std::convert::Infallible;
use std::fmt::Debug;
use std::num::NonZeroU32;

/// A platform for machines that may have an on-chip broadcast network.
///
/// The network has virtual channels (Park 2013, sections 3.1 and 4.1). Ports and filters belong to the *core* of the
/// caller, so threads that use them must be bound to cores. Messages of one sender arrive in the order of sending, and
/// stay in the core's message buffer until the core takes them.
///
/// A machine may lack the network even if its platform has this trait. Then
/// [`create_channel`](Self::create_channel) returns `None`.
///
/// ```
/// use manycore_chip::{Broadcast, Message, Simulated, Simulation, config::Config};
/// use manycore_platform::{Platform, ThreadSpec};
///
/// let machine = Config::preset("atac-64")?;
/// let run = Simulation::new(&machine).run(|| {
///     let channel = Simulated::create_channel().expect("the preset has the network");
///     Simulated::open_port(channel);
///     let spec = ThreadSpec { cpus: vec![9], ..ThreadSpec::default() };
///     let send = move || Simulated::send(channel, Message { payload: 7, ..Message::default() });
///     let sender = Simulated::spawn(spec, Box::new(send)).expect("the core exists");
///     let delivery = Simulated::wait_and_receive(channel);
///     Simulated::join(sender);
///     (delivery.sender, delivery.message.payload)
/// })?;
/// assert_eq!(run.value, (9, 7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The provided methods are for a platform without such a network. On such a platform, the type
/// [`Channel`](Self::Channel) is [`Infallible`], which has no values. So nothing can call these methods, and the
/// compiler removes code that handles a channel.
///
/// ```
/// use manycore_chip::Broadcast;
/// use manycore_platform::Native;
///
/// // No such network on this host.
/// assert!(Native::create_channel().is_none());
/// ```
pub trait Broadcast: Platform {
    /// A number that the hardware puts on messages.
    type Channel: Copy + Debug + Send + Sync + 'static;

    /// Creates a channel. Returns `None` if the machine has no such network.
    #[inline(always)]
    fn create_channel() -> Option<Self::Channel> {
        None
    }

    /// Subscribes this core to `channel`. A second call has no effect.
    fn open_port(_channel: Self::Channel) {
        no_network();
    }

    /// Subscribes this core to the count of messages. The core's network interface counts the messages that pass the
    /// filter, and delivers only every `every`-th message. If the port is open already, it now counts, and the count
    /// restarts.
    fn open_counting_port(_channel: Self::Channel, _every: NonZeroU32) {
        no_network();
    }

    /// Unsubscribes this core. Messages that the core has not taken are lost.
    fn close_port(_channel: Self::Channel) {
        no_network();
    }

    /// Sets this core's filter, for all its channels.
    fn set_filter(_filter: Filter) {
        no_network();
    }

    /// Broadcasts to all other cores with a port of `channel`. The sender needs no port.
    fn send(_channel: Self::Channel, _message: Message) {
        no_network();
    }

    /// Takes the channel's oldest message from this core's message buffer, if
    /// there is one.
    fn receive(_channel: Self::Channel) -> Option<Delivery> {
        no_network()
    }

    /// Waits for a message of the channel and takes it.
    fn wait_and_receive(_channel: Self::Channel) -> Delivery {
        no_network()
    }
}

fn no_network() -> ! {
    unreachable!("there is no channel without a network")
}

impl Broadcast for Native {
    type Channel = Infallible;
}
