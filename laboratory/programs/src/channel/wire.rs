//! A channel over the broadcast network.

use super::Closed;
use manycore_chip::{Broadcast, Delivery, Message};
use manycore_platform::{Atomic, Ordering};
use manycore_team::seam::{HANDLE, PORT, SenderCount};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// How long after the last sender has gone the network may still bring something: many times
/// what it takes to cross a chip, and what an interface takes for a message.
const ON_ITS_WAY: Duration = Duration::from_micros(2);

/// A handle of a channel over the network.
pub(crate) struct Wire<P: Broadcast> {
    shared: Arc<WireShared<P>>,
}

struct WireShared<P: Broadcast> {
    channel: P::Channel,
    senders: SenderCount<P>,
    /// The largest count of a port: its network interface delivers one message in that many.
    together: P::AtomicU32,
}

/// A core's port of a channel over the network.
pub(crate) struct WirePort<P: Broadcast> {
    shared: Arc<WireShared<P>>,
    core: usize,
}

impl<P: Broadcast> Wire<P> {
    /// A new channel; `None` if the machine has no such network.
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

    /// The port of the caller's core. It counts if `every` is given: of the messages that pass the
    /// filter it receives only every `every`-th.
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
        // Relaxed: read by a thread that has seen the port counted in and all others leave.
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

    /// A handle or a port goes. If one port is left, this wakes it by a message with data of no
    /// length, which no call of a port sends: its interface delivers nothing but messages. An
    /// interface that counts receives as many as it delivers one for.
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
    /// The core that it belongs to.
    pub(crate) fn core(&self) -> usize {
        self.core
    }

    /// Broadcasts to all other cores with a port of the channel.
    pub(crate) fn send(&mut self, message: Message) {
        P::send(self.shared.channel, message);
    }

    /// The next message in the core's buffer.
    pub(crate) fn try_receive(&mut self) -> Option<Delivery> {
        loop {
            let delivery = P::receive(self.shared.channel)?;
            if !is_notice(&delivery) {
                return Some(delivery);
            }
        }
    }

    /// The same, waiting for one.
    ///
    /// # Errors
    ///
    /// [`Closed`] when no port can send any more, and nothing is on its way.
    pub(crate) fn receive(&mut self) -> Result<Delivery, Closed> {
        loop {
            if let Some(delivery) = self.try_receive() {
                return Ok(delivery);
            }
            // A leaving port sends its notice after it has left the count: a receiver that does not
            // see that here waits for the notice.
            if self.is_closed() {
                return self.last().ok_or(Closed);
            }
            let delivery = P::wait_and_receive(self.shared.channel);
            if !is_notice(&delivery) {
                return Ok(delivery);
            }
        }
    }

    /// The next delivery after all senders have gone.
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
        // Elsewhere it would be another core's port that is closed.
        if P::core() == self.core {
            P::close_port(self.shared.channel);
        }
        self.shared.leave(PORT);
    }
}
