//! The data that the ports of a channel share.

use super::bell::Bell;
use super::inbox::Inbox;
use super::ring::{self, Ring};
use super::ring_reader::RingReader;
use super::sender_count::{PORT, SenderCount};
use super::settings::Settings;
use manycore_cores::sync::Lock;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::sync::Arc;

/// The data that the ports of a channel share. Frequently read words are on a line that changes
/// only when a thread falls asleep, or begins or stops to send.
pub(super) struct Hub<P: Platform> {
    settings: Settings,
    pub(super) longest_piece: usize,
    pub(super) hot: CachePadded<HotLine<P>>,
    members: Lock<P, Members<P>>,
}

pub(super) struct HotLine<P: Platform> {
    /// Receivers sleep here.
    pub(super) arrival: Bell<P>,
    /// Counts rings that were made and closed.
    version: P::AtomicU32,
    /// Looked at by receivers that wait.
    pub(super) senders: SenderCount<P>,
}

struct Members<P: Platform> {
    /// Ports opened so far.
    opened: usize,
    /// The numbers of the open ports.
    ports: Vec<usize>,
    /// Rings that a port may still read from.
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

    /// A port that hears what is sent from now on: its number, and its receiving side.
    pub(super) fn open(&self) -> (usize, Inbox<P>) {
        self.hot.senders.add(PORT);
        let mut inbox = Inbox::new();
        // Under the lock: a ring made before is joined here, one made later knows this
        // port.
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

    /// A port goes, and with it its ring.
    pub(super) fn close(&self, number: usize, ring: Option<&Arc<Ring<P>>>) {
        self.members.with(|members| {
            if let Some(ring) = ring {
                ring.close();
                self.tell();
            }
            members.ports.retain(|&port| port != number);
            // Also the rings that this port has not noticed.
            for ring in &members.rings {
                ring.leave(number);
            }
            members.rings.retain(|ring| !ring.is_over());
        });
        self.leave(PORT);
    }

    /// A handle or a port goes. A receiver that can hear no more by that is woken: the bell
    /// publishes that, as it does a message.
    pub(super) fn leave(&self, end: u64) {
        if self.hot.senders.leave(end) {
            self.hot.arrival.ring();
        }
    }

    /// The ring of a port that sends for the first time: all other ports will read it
    /// from the start.
    pub(super) fn add_ring(&self, sender: usize) -> Arc<Ring<P>> {
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
        // Release: a reader takes the lock next. The bell's fences make sure that a sleeper does
        // not miss a new ring: this comes before the first message.
        self.hot.version.fetch_add(1, Ordering::Release);
    }

    /// Brings a port's readers up to date; whether there was anything to be done.
    pub(super) fn look_after(&self, inbox: &mut Inbox<P>, port: usize) -> bool {
        // Acquire: the lock protects the change that the version announces.
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
            // Changes under the lock only.
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
