//! A channel over the broadcast network.

use super::Closed;
use manycore_chip::{Broadcast, Delivery, Message};
use manycore_platform::{Atomic, Ordering};
use manycore_team::seam::{HANDLE, PORT, SenderCount};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// How long a message may be in transit after the last sender has left. This is many times the time in which a message
/// crosses a chip and an interface handles it.
const ON_ITS_WAY: Duration = Duration::from_micros(2);

/// A handle of a channel over the network.
pub(crate) struct Wire<P: Broadcast> {
    shared: Arc<WireShared<P>>,
}

struct WireShared<P: Broadcast> {
    channel: P::Channel,
    senders: SenderCount<P>,
    /// The largest `every` of any port. A port's network interface delivers one message in `every`.
    together: P::AtomicU32,
}

/// A core's port of a channel over the network.
pub(crate) struct WirePort<P: Broadcast> {
    shared: Arc<WireShared<P>>,
    core: usize,
}

impl<P: Broadcast> Wire<P> {
    /// A new channel, or `None` if the machine has no such network.
    pub(crate) fn new() -> Option<Self> {
        let channel = P::create_channel()?;
        let shared = WireShared {
            channel,
            senders: SenderCount::with_handle(),
            together: <P::AtomicU32 as Atomic<u32>>::new(1),
        };
        let shared = Arc::new(shared);
        Some(Self { shared })
    }

    /// Opens the port of the caller's core. If `every` is given, the port counts: it receives only every
    /// `every`-th message that passes the filter.
    pub(crate) fn open(&self, every: Option<NonZeroU32>) -> WirePort<P> {
        let shared = Arc::clone(&self.shared);
        shared.senders.add(PORT);
        match every {
            None => P::open_port(shared.channel),
            Some(every) => {
                shared.count_together(every);
                P::open_counting_port(shared.channel, every);
            }
        }
        let core = P::core();
        WirePort { shared, core }
    }
}

impl<P: Broadcast> Clone for Wire<P> {
    fn clone(&self) -> Self {
        let shared = Arc::clone(&self.shared);
        shared.senders.add(HANDLE);
        Self { shared }
    }
}

impl<P: Broadcast> Drop for Wire<P> {
    fn drop(&mut self) {
        self.shared.leave(HANDLE);
    }
}

impl<P: Broadcast> WireShared<P> {
    /// Notes an opened port that delivers one message in `every`.
    fn count_together(&self, every: NonZeroU32) {
        // Relaxed: the reader has seen that this port is counted, and that all others have left.
        let (mut most, every) = (self.together.load(Ordering::Relaxed), every.get());
        while let Err(now) = (self.together).compare_exchange(
            most,
            most.max(every),
            Ordering::Relaxed,
            Ordering::Relaxed,
        ) {
            most = now;
        }
    }

    /// Removes a handle or a port. If one port is left, this wakes it with a notice, because its interface
    /// delivers only messages. The notice is a message with data of length zero, which no method of a port
    /// sends. A counting interface needs as many notices as it counts for one delivery.
    fn leave(&self, end: u64) {
        if !self.senders.leave(end) {
            return;
        }
        for _ in 0..self.together.load(Ordering::Relaxed) {
            let notice = Message {
                data: Some([].into()),
                ..Message::default()
            };
            P::send(self.channel, notice);
        }
    }
}

fn is_notice(delivery: &Delivery) -> bool {
    let data = delivery.message.data.as_ref();
    data.is_some_and(|data| data.is_empty())
}

impl<P: Broadcast> WirePort<P> {
    pub(crate) fn core(&self) -> usize {
        self.core
    }

    /// Broadcasts a message to all other cores with a port of the channel.
    pub(crate) fn send(&mut self, message: Message) {
        P::send(self.shared.channel, message);
    }

    /// Takes the next message in the core's buffer.
    pub(crate) fn try_receive(&mut self) -> Option<Delivery> {
        loop {
            let delivery = P::receive(self.shared.channel)?;
            if !is_notice(&delivery) {
                return Some(delivery);
            }
        }
    }

    /// Takes the next message, or waits for a message.
    ///
    /// # Errors
    ///
    /// [`Closed`] when no port can send any more, and no message is in transit.
    pub(crate) fn receive(&mut self) -> Result<Delivery, Closed> {
        loop {
            if let Some(delivery) = self.try_receive() {
                return Ok(delivery);
            }
            // A leaving port sends its notice after it has left the count. So if this receiver does not see the new
            // count here, the notice will end its wait.
            if self.is_closed() {
                return self.last().ok_or(Closed);
            }
            let delivery = P::wait_and_receive(self.shared.channel);
            if !is_notice(&delivery) {
                return Ok(delivery);
            }
        }
    }

    /// Waits for a delivery after all senders have left.
    #[cold]
    fn last(&mut self) -> Option<Delivery> {
        let until = P::now() + P::duration_to_ticks(ON_ITS_WAY);
        while P::now() < until {
            if let Some(delivery) = self.try_receive() {
                return Some(delivery);
            }
            P::relax();
        }
        None
    }

    /// Whether no port can send any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.shared.senders.is_closed()
    }
}

impl<P: Broadcast> Drop for WirePort<P> {
    fn drop(&mut self) {
        // On another core, the close below would close that core's port.
        if P::core() == self.core {
            P::close_port(self.shared.channel);
        }
        self.shared.leave(PORT);
    }
}
