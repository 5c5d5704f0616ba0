//! A channel through memory; see `README.md` in the folder above.

mod bell;
#[cfg(test)]
mod checked;
mod inbox;
mod outlet;
mod record;
mod ring;
mod tap;

use super::ends::{Ends, HANDLE, PORT};
use super::{Closed, Message, Settings};
use bell::Bell;
use inbox::Inbox;
use manycore_cores::sync::Lock;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Filter, Ordering, Platform};
use outlet::Outlet;
use ring::Ring;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;
use tap::Tap;

/// How long a thread spins before it sleeps: about what falling asleep and being woken
/// costs.
const SPIN: Duration = Duration::from_micros(20);

/// A handle of a channel.
pub(super) struct MemoryChannel<P: Platform> {
    hub: Arc<Hub<P>>,
}

/// What the ports of a channel share. What is read all the time is on a line that
/// changes when somebody falls asleep, or begins or ends to send.
pub(super) struct Hub<P: Platform> {
    settings: Settings,
    longest_piece: usize,
    news: CachePadded<News<P>>,
    members: Lock<P, Members<P>>,
}

struct News<P: Platform> {
    /// Receivers sleep here.
    arrival: Bell<P>,
    /// Counts rings that were made and closed.
    version: P::AtomicU32,
    /// Looked at by receivers that wait.
    ends: Ends<P>,
}

struct Members<P: Platform> {
    /// Ports opened so far.
    opened: usize,
    /// The numbers of those that are open.
    ports: Vec<usize>,
    /// Rings that somebody may still read from.
    rings: Vec<Arc<Ring<P>>>,
}

/// A port of a channel through memory. On lines of its own, two at a time as they are
/// prefetched: it changes with each message, and its neighbour may be another thread's.
#[repr(align(128))]
pub(super) struct MemoryPort<P: Platform> {
    hub: Arc<Hub<P>>,
    number: usize,
    outlet: Outlet<P>,
    inbox: Inbox<P>,
}

impl<P: Platform> MemoryChannel<P> {
    pub(super) fn new(settings: Settings) -> Self {
        // Light fences are real ones until somebody has asked.
        P::has_light_fences();
        let hub = Hub {
            settings,
            longest_piece: ring::longest_piece(settings),
            news: CachePadded::new(News {
                arrival: Bell::new(),
                version: <P::AtomicU32 as Atomic<u32>>::new(0),
                ends: Ends::new(),
            }),
            members: Lock::new(Members {
                opened: 0,
                ports: Vec::new(),
                rings: Vec::new(),
            }),
        };
        let hub = Arc::new(hub);
        Self { hub }
    }

    /// A port that hears what is sent from now on.
    pub(super) fn open(&self, every: Option<NonZeroU32>) -> MemoryPort<P> {
        let hub = Arc::clone(&self.hub);
        hub.news.ends.add(PORT);
        let mut inbox = Inbox::new(every);
        // Under the lock: a ring made before is joined here, one made later knows this
        // port.
        let number = hub.members.with(|members| {
            let number = members.opened;
            members.opened += 1;
            members.ports.push(number);
            for ring in &members.rings {
                if let Some((cursor, mark)) = ring.join(number) {
                    inbox.taps.push(Tap::new(Arc::clone(ring), cursor, mark));
                }
            }
            inbox.version = hub.news.version.load(Ordering::Relaxed);
            number
        });
        for tap in &mut inbox.taps {
            tap.skip();
        }
        MemoryPort {
            hub,
            number,
            outlet: Outlet::new(),
            inbox,
        }
    }
}

impl<P: Platform> Clone for MemoryChannel<P> {
    fn clone(&self) -> Self {
        let hub = Arc::clone(&self.hub);
        hub.news.ends.add(HANDLE);
        Self { hub }
    }
}

impl<P: Platform> Drop for MemoryChannel<P> {
    fn drop(&mut self) {
        self.hub.leave(HANDLE);
    }
}

impl<P: Platform> Hub<P> {
    /// A handle or a port goes. A receiver that can hear no more by that is woken: the bell
    /// publishes that, as it does a message.
    fn leave(&self, end: u64) {
        if self.news.ends.leave(end) {
            self.news.arrival.ring();
        }
    }

    /// The ring of a port that sends for the first time: all other ports will read it
    /// from the start.
    fn add_ring(&self, sender: usize) -> Arc<Ring<P>> {
        self.members.with(|members| {
            let others = members.ports.iter().copied();
            let readers: Vec<_> = others.filter(|&port| port != sender).collect();
            let ring = Arc::new(Ring::new(sender, self.settings, &readers));
            members.rings.push(Arc::clone(&ring));
            self.tell();
            ring
        })
    }

    /// Rings have changed; under the lock.
    fn tell(&self) {
        // Release: who reads it is not yet in the lock, and goes there next. That a
        // sleeper does not miss a new ring is a matter of the bell's fences: this comes
        // before the first message.
        self.news.version.fetch_add(1, Ordering::Release);
    }

    /// Brings a port's taps up to date; whether there was anything to be done.
    fn look_after(&self, inbox: &mut Inbox<P>, port: usize) -> bool {
        // Acquire: what is told of is in the lock.
        let version = self.news.version.load(Ordering::Acquire);
        if version == inbox.version {
            return false;
        }
        self.look_after_news(inbox, port);
        true
    }

    #[cold]
    fn look_after_news(&self, inbox: &mut Inbox<P>, port: usize) {
        self.members.with(|members| {
            // Changes under the lock only.
            inbox.version = self.news.version.load(Ordering::Relaxed);
            for ring in &members.rings {
                if inbox.taps.iter().any(|tap| Arc::ptr_eq(&tap.ring, ring)) {
                    continue;
                }
                if let Some(cursor) = ring.cursor(port) {
                    inbox
                        .taps
                        .push(Tap::new(Arc::clone(ring), cursor, ring::Mark::default()));
                }
            }
        });
        for tap in &mut inbox.taps {
            tap.closed = tap.ring.is_closed();
        }
    }
}

impl<P: Platform> MemoryPort<P> {
    pub(super) fn number(&self) -> usize {
        self.number
    }

    #[inline(always)]
    pub(super) fn send(&mut self, payload: u64, signature: u32, tag: u32) {
        (self.outlet).send(&self.hub, self.number, payload, signature, tag);
    }

    pub(super) fn send_long(&mut self, data: &[u8], signature: u32, tag: u32) {
        (self.outlet).send_long(&self.hub, self.number, data, signature, tag);
    }

    #[inline(always)]
    pub(super) fn try_receive(&mut self) -> Option<Message> {
        self.inbox.take(&self.hub, self.number, None)
    }

    pub(super) fn try_receive_long(&mut self, data: &mut Vec<u8>) -> Option<Message> {
        self.inbox.take(&self.hub, self.number, Some(data))
    }

    #[inline(always)]
    pub(super) fn receive(&mut self) -> Result<Message, Closed> {
        self.inbox.wait_and_take(&self.hub, self.number, None)
    }

    pub(super) fn receive_long(&mut self, data: &mut Vec<u8>) -> Result<Message, Closed> {
        (self.inbox).wait_and_take(&self.hub, self.number, Some(data))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.hub.news.ends.is_closed()
    }

    pub(super) fn set_filter(&mut self, filter: Filter) {
        self.inbox.set_filter(&self.hub, self.number, filter);
    }
}

impl<P: Platform> Drop for MemoryPort<P> {
    fn drop(&mut self) {
        self.hub.members.with(|members| {
            if let Some(ring) = self.outlet.ring() {
                ring.close();
                self.hub.tell();
            }
            members.ports.retain(|&port| port != self.number);
            // Also those that this port has not noticed.
            for ring in &members.rings {
                ring.leave(self.number);
            }
            members.rings.retain(|ring| !ring.is_over());
        });
        self.hub.leave(PORT);
    }
}
