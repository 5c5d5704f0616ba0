use super::bell::wait_for;
use super::hub::Hub;
use super::record::{self, GRANULE, Header};
use super::ring::{Mark, Ring};
use manycore_platform::{Atomic, Ordering, Platform};
use std::sync::Arc;

/// The sending side of a port, which makes its ring (the memory for its messages) at its first message.
pub(super) struct Outbox<P: Platform> {
    ring: Option<Arc<Ring<P>>>,
    /// The place of the next record, and the number of its message.
    next: Mark,
    /// The port may write up to this position.
    limit: u64,
}

impl<P: Platform> Outbox<P> {
    pub(super) fn new() -> Self {
        Self {
            ring: None,
            next: Mark::default(),
            limit: 0,
        }
    }

    pub(super) fn ring(&self) -> Option<&Arc<Ring<P>>> {
        self.ring.as_ref()
    }

    #[inline(always)]
    pub(super) fn send(
        &mut self,
        hub: &Hub<P>,
        sender: usize,
        payload: u64,
        signature: u32,
        tag: u32,
    ) {
        let Some(header) = Header::word(signature, tag) else {
            return self.send_wide(hub, sender, payload, signature, tag);
        };
        self.make_sure_of(hub, sender, 2);
        let ring = self.made();
        // Relaxed: the header publishes this word.
        ring.word(self.next.position + 1)
            .store(payload, Ordering::Relaxed);
        self.publish(hub, header, 2, true);
    }

    #[cold]
    fn send_wide(&mut self, hub: &Hub<P>, sender: usize, payload: u64, signature: u32, tag: u32) {
        self.make_sure_of(hub, sender, 4);
        let ring = self.made();
        let position = self.next.position;
        ring.word(position + 1).store(payload, Ordering::Relaxed);
        ring.word(position + 2).store(tag.into(), Ordering::Relaxed);
        self.publish(hub, Header::wide(signature), 4, true);
    }

    pub(super) fn send_long(
        &mut self,
        hub: &Hub<P>,
        sender: usize,
        data: &[u8],
        signature: u32,
        tag: u32,
    ) {
        let mut left = data;
        let mut first = true;
        loop {
            let (piece, rest) = left.split_at(left.len().min(hub.longest_piece));
            let words = record::long_words(piece.len());
            self.make_sure_of(hub, sender, words);
            let ring = self.made();
            let position = self.next.position;
            ring.word(position + 1)
                .store(record::names(signature, tag), Ordering::Relaxed);
            for (place, bytes) in (position + 2..).zip(piece.chunks(8)) {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                ring.word(place)
                    .store(u64::from_le_bytes(word), Ordering::Relaxed);
            }
            let last = rest.is_empty();
            let header = Header::long(piece.len(), first, last);
            self.publish(hub, header, words, last);
            if last {
                return;
            }
            (left, first) = (rest, false);
        }
    }

    /// Makes sure that there is room for a record of `words` words and the next header.
    #[inline(always)]
    fn make_sure_of(&mut self, hub: &Hub<P>, sender: usize, words: u64) {
        if self.next.position + words + GRANULE > self.limit {
            self.make_room(hub, sender, words);
        }
    }

    /// Returns the ring, which exists after `make_sure_of`.
    #[inline(always)]
    fn made(&self) -> &Ring<P> {
        self.ring.as_ref().expect("there is room in it")
    }

    /// Makes the record visible. All words but the header are written.
    #[inline(always)]
    fn publish(&mut self, hub: &Hub<P>, header: Header, words: u64, last: bool) {
        let Mark { position, number } = self.next;
        let ring = self.made();
        // Relaxed: a thread that looks at this place has read the header below.
        ring.word(position + words)
            .store(Header::NONE, Ordering::Relaxed);
        // Release: a thread that reads the header sees the record, the zero after it, and the
        // sender's earlier writes.
        ring.word(position).store(header.0, Ordering::Release);
        self.next.position = position + words;
        self.next.number = number + u64::from(last);
        hub.hot.arrival.ring();
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, hub: &Hub<P>, sender: usize, words: u64) {
        let next = self.next;
        let ring = &**self.ring.get_or_insert_with(|| hub.add_ring(sender));
        let needed = next.position + words + GRANULE;
        if ring.loses {
            self.limit = needed.max(next.position + ring.quarter());
            ring.claim(next, self.limit);
        } else {
            self.limit = wait_for(&ring.room, || {
                Some(ring.limit(next)).filter(|&limit| limit >= needed)
            });
        }
    }
}
