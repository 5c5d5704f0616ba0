//! The data that the ports of a channel share. Each port that sends has a ring of messages, which the other ports read.

use super::bell::Bell;
use super::inbox::Inbox;
use super::ring::{self, Ring};
use super::ring_reader::RingReader;
use super::sender_count::{PORT, SenderCount};
use super::settings::Settings;
use manycore_cores::sync::Lock;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::sync::Arc;

/// Frequently read words are on one cache line. It changes only when a thread falls asleep, sends
/// for the first time, or leaves.
pub(super) struct Hub<P: Platform> {
    settings: Settings,
    pub(super) longest_piece: usize,
    pub(super) hot: CachePadded<HotLine<P>>,
    members: Lock<P, Members<P>>,
}

pub(super) struct HotLine<P: Platform> {
    /// Receivers wait here for messages.
    pub(super) arrival: Bell<P>,
    /// The number of rings made, plus the number of rings closed.
    version: P::AtomicU32,
    /// The count of ports and handles. Only waiting receivers read it.
    pub(super) senders: SenderCount<P>,
}

struct Members<P: Platform> {
    /// The number of ports opened so far.
    opened: usize,
    /// The numbers of the open ports.
    ports: Vec<usize>,
    /// The rings from which a port may still read.
    rings: Vec<Arc<Ring<P>>>,
}

impl<P: Platform> Hub<P> {
    /// The hub of a channel with one handle.
    pub(super) fn new(settings: Settings) -> Arc<Self> {
        // Light fences are real fences until this call.
        P::has_light_fences();
        Arc::new(Self {
            settings,
            longest_piece: ring::longest_piece(settings),
            hot: CachePadded::new(HotLine {
                arrival: Bell::new(),
                version: <P::AtomicU32 as Atomic<u32>>::new(0),
                senders: SenderCount::with_handle(),
            }),
            members: Lock::new(Members {
                opened: 0,
                ports: Vec::new(),
                rings: Vec::new(),
            }),
        })
    }

    /// Opens a port, which receives all messages from now on. Returns its number and its receiving
    /// side.
    pub(super) fn open(&self) -> (usize, Inbox<P>) {
        self.hot.senders.add(PORT);
        let mut inbox = Inbox::new();
        // Under the lock the port joins all earlier rings. Later rings know the port.
        let number = self.members.with(|members| {
            let number = members.opened;
            members.opened += 1;
            members.ports.push(number);
            for ring in &members.rings {
                if let Some((cursor, mark)) = ring.join(number) {
                    inbox
                        .readers
                        .push(RingReader::new(Arc::clone(ring), cursor, mark));
                }
            }
            inbox.version = self.hot.version.load(Ordering::Relaxed);
            number
        });
        for reader in &mut inbox.readers {
            reader.skip();
        }
        (number, inbox)
    }
    pub(super) fn close(&self, number: usize, ring: Option<&Arc<Ring<P>>>) {
        self.members.with(|members| {
            if let Some(ring) = ring {
                ring.close();
                self.rings_changed();
            }
            members.ports.retain(|&port| port != number);
            // The port also leaves rings that it has not noticed.
            for ring in &members.rings {
                ring.leave(number);
            }
            members.rings.retain(|ring| !ring.is_over());
        });
        self.leave(PORT);
    }

    /// Counts a handle or port as gone. If no port can send any more, wakes the last receiver. The
    /// bell publishes this change like a message.
    pub(super) fn leave(&self, end: u64) {
        if self.hot.senders.leave(end) {
            self.hot.arrival.ring();
        }
    }

    /// Makes the ring of a port that sends for the first time. All other ports read this ring from
    /// the first record on.
    pub(super) fn add_ring(&self, sender: usize) -> Arc<Ring<P>> {
        self.members.with(|members| {
            let others = members.ports.iter().copied();
            let readers: Vec<_> = others.filter(|&port| port != sender).collect();
            let ring = Arc::new(Ring::new(sender, self.settings, &readers));
            members.rings.push(Arc::clone(&ring));
            self.rings_changed();
            ring
        })
    }

    /// Announces that rings have changed. The caller holds the lock.
    fn rings_changed(&self) {
        // Release: a reader that sees the new version takes the lock next. By the bell's fences no
        // sleeper misses a new ring, because this comes before the ring's first message.
        self.hot.version.fetch_add(1, Ordering::Release);
    }

    /// Updates a port's readers if rings have changed. Returns whether they have.
    pub(super) fn look_after(&self, inbox: &mut Inbox<P>, port: usize) -> bool {
        // Acquire pairs with the release in `rings_changed`. The lock protects the rings.
        let version = self.hot.version.load(Ordering::Acquire);
        if version == inbox.version {
            return false;
        }
        self.look_after_news(inbox, port);
        true
    }

    #[cold]
    fn look_after_news(&self, inbox: &mut Inbox<P>, port: usize) {
        self.members.with(|members| {
            // Relaxed: the version changes only under the lock.
            inbox.version = self.hot.version.load(Ordering::Relaxed);
            for ring in &members.rings {
                if inbox
                    .readers
                    .iter()
                    .any(|reader| Arc::ptr_eq(&reader.ring, ring))
                {
                    continue;
                }
                if let Some(cursor) = ring.cursor(port) {
                    inbox.readers.push(RingReader::new(
                        Arc::clone(ring),
                        cursor,
                        ring::Mark::default(),
                    ));
                }
            }
        });
        for reader in &mut inbox.readers {
            reader.closed = reader.ring.is_closed();
        }
    }
}
