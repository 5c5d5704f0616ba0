use super::filter::Filter;
use super::message::Message;
use super::record::{Header, WIDE, WORD};
use super::ring::{Mark, ReadCursor, Ring};
use manycore_platform::{Atomic, Ordering, Platform};
use std::collections::VecDeque;
use std::sync::Arc;

/// A port's reader of another port's ring. Like a port, it is on cache lines of its own.
#[repr(align(128))]
pub(super) struct RingReader<P: Platform> {
    pub(super) ring: Arc<Ring<P>>,
    cursor: Arc<ReadCursor<P>>,
    /// The position of the next record. If the owner (the port that sends) overtakes readers, also
    /// the number of the record's message.
    next: Mark,
    /// The position that this reader has last published to the owner.
    published: u64,
    /// The number of messages that were lost since the last message that was returned.
    missed: u64,
    /// A long message whose last piece has not been read yet.
    partial: Option<Partial>,
    /// Whether the next record may belong to a message whose beginning is lost.
    headless: bool,
    /// The replaced filters in order, each with the position where it ends.
    replaced: VecDeque<(u64, Filter)>,
    /// Whether the owner has gone, so that no more records come.
    pub(super) closed: bool,
}

struct Partial {
    data: Vec<u8>,
    /// Whether the first piece passed the filter. If not, `data` stays empty.
    passes: bool,
}

/// What the reader finds at its next record.
pub(super) enum Look {
    Nothing,
    /// A record that is not a message for this port, or is not yet a whole message.
    Other,
    /// A message that passes the filter.
    Message(Message),
}

impl<P: Platform> RingReader<P> {
    /// Makes a reader that begins at `next`.
    pub(super) fn new(ring: Arc<Ring<P>>, cursor: Arc<ReadCursor<P>>, next: Mark) -> Self {
        Self {
            ring,
            cursor,
            next,
            published: next.position,
            missed: 0,
            partial: None,
            headless: false,
            replaced: VecDeque::new(),
            closed: false,
        }
    }

    /// Takes the next record if it is a word that passes the filter, as it usually is. This is separate from
    /// [`look`](Self::look) so that the message is built where it is used. If the message went through memory, with
    /// narrow stores and then wide loads, a call would cost five times as much.
    #[inline(always)]
    pub(super) fn take_word(&mut self, filter: Filter) -> Option<Message> {
        let ring = &*self.ring;
        let position = self.next.position;
        // Acquire: after this load, the record is complete and the sender's earlier work is
        // visible.
        let header = Header(ring.word(position).load(Ordering::Acquire));
        let payload = ring.word(position + 1).load(Ordering::Relaxed);
        let usual = header.kind() == WORD
            && self.replaced.is_empty()
            && filter.passes(header.signature())
            && !(ring.loses && ring.has_overtaken(position));
        if !usual {
            return None;
        }
        let sender = ring.sender;
        let missed = if ring.loses {
            std::mem::take(&mut self.missed)
        } else {
            0
        };
        self.pass(2, true);
        Some(Message {
            payload,
            signature: header.signature(),
            tag: header.tag(),
            length: 0,
            sender,
            missed,
        })
    }

    /// Looks at the next record, and copies long data to `data` if the caller wants it.
    pub(super) fn look(&mut self, filter: Filter, data: Option<&mut Vec<u8>>) -> Look {
        let position = self.next.position;
        // Acquire: as in `take_word`.
        let header = Header(self.ring.word(position).load(Ordering::Acquire));
        if self.has_lost_the_record() {
            return Look::Other;
        }
        if header.0 == Header::NONE {
            return Look::Nothing;
        }
        let second = self.ring.word(position + 1).load(Ordering::Relaxed);
        if header.kind() != WORD && header.kind() != WIDE {
            return self.long(header, second, filter, data);
        }
        let (words, tag) = match header.kind() {
            WORD => (2, header.tag()),
            _ => (
                4,
                self.ring.word(position + 2).load(Ordering::Relaxed) as u32,
            ),
        };
        if self.has_lost_the_record() {
            return Look::Other;
        }
        self.word(filter, words, second, header.signature(), tag, data)
    }

    /// Takes a word that has been read.
    fn word(
        &mut self,
        filter: Filter,
        words: u64,
        payload: u64,
        signature: u32,
        tag: u32,
        data: Option<&mut Vec<u8>>,
    ) -> Look {
        let passes = self.passes(filter, signature);
        self.pass(words, true);
        if !passes {
            return Look::Other;
        }
        if let Some(data) = data {
            data.clear();
        }
        Look::Message(Message {
            payload,
            signature,
            tag,
            length: 0,
            sender: self.ring.sender,
            missed: std::mem::take(&mut self.missed),
        })
    }

    fn long(
        &mut self,
        header: Header,
        names: u64,
        filter: Filter,
        mut data: Option<&mut Vec<u8>>,
    ) -> Look {
        let (signature, tag) = ((names >> 32) as u32, names as u32);
        let whole = header.is_first() && header.is_last();
        if header.is_first() {
            let passes = self.passes(filter, signature);
            let data = Vec::new();
            self.partial = Some(Partial { data, passes });
            self.headless = false;
        }
        let place = self.next.position + 2;
        // `None` if this reader has not read the first piece of the message.
        let mut partial = self.partial.take();
        let mut length = 0;
        if let Some(partial) = partial.as_mut().filter(|partial| partial.passes) {
            length = partial.data.len() + header.bytes();
            // A whole message that the caller does not want need not be copied. Pieces are copied,
            // because the caller that takes the last piece may want all pieces.
            match &mut data {
                Some(data) if whole && !self.ring.loses => {
                    data.clear();
                    copy(&self.ring, place, header.bytes(), data);
                }
                None if whole => (),
                _ => copy(&self.ring, place, header.bytes(), &mut partial.data),
            }
        }
        if self.has_lost_the_record() {
            return Look::Other;
        }
        self.pass(header.words(), header.is_last());
        if !header.is_last() {
            self.partial = partial;
            return Look::Other;
        }
        if std::mem::take(&mut self.headless) {
            self.missed += 1;
        }
        let Some(partial) = partial.filter(|partial| partial.passes) else {
            return Look::Other;
        };
        if let Some(data) = data.filter(|_| !whole || self.ring.loses) {
            *data = partial.data;
        }
        Look::Message(Message {
            payload: 0,
            signature,
            tag,
            length,
            sender: self.ring.sender,
            missed: std::mem::take(&mut self.missed),
        })
    }

    /// Moves to the next record. `last` says whether this record ended its message.
    #[inline(always)]
    fn pass(&mut self, words: u64, last: bool) {
        self.next.position += words;
        if self.ring.loses {
            self.next.number += u64::from(last);
        }
        if self.next.position - self.published >= self.ring.quarter() {
            self.publish();
        }
    }

    /// Publishes this port's position to the owner.
    #[cold]
    pub(super) fn publish(&mut self) {
        self.published = self.next.position;
        self.cursor.publish(self.published);
        self.ring.room.ring();
    }

    /// The published position, which changes each time a quarter ring has been read.
    pub(super) fn published(&self) -> u64 {
        self.published
    }

    /// Whether the owner may have overwritten the words that this reader has just read from the next record. If so,
    /// moves to the latest mark.
    #[inline(always)]
    fn has_lost_the_record(&mut self) -> bool {
        let lost = self.ring.loses && self.ring.has_overtaken(self.next.position);
        if lost {
            self.resume();
        }
        lost
    }

    #[cold]
    fn resume(&mut self) {
        let mark = self.ring.latest_mark();
        self.missed += mark.number - self.next.number;
        self.next = mark;
        self.partial = None;
        self.headless = true;
    }

    /// Whether a message passes the filter that holds for the next record.
    #[inline(always)]
    fn passes(&mut self, filter: Filter, signature: u32) -> bool {
        if self.replaced.is_empty() {
            return filter.passes(signature);
        }
        let position = self.next.position;
        while matches!(self.replaced.front(), Some(&(until, _)) if until <= position) {
            self.replaced.pop_front();
        }
        let replaced = self.replaced.front().map(|&(_, filter)| filter);
        replaced.unwrap_or(filter).passes(signature)
    }

    /// Keeps `filter` only for the messages that have been sent so far.
    pub(super) fn replace(&mut self, filter: Filter) {
        let end = self.end().position;
        let since = self
            .replaced
            .back()
            .map_or(self.next.position, |&(until, _)| until);
        if end > since {
            self.replaced.push_back((end, filter));
        }
    }

    /// Moves to the end of the records that have been sent.
    pub(super) fn skip(&mut self) {
        self.next = self.end();
        self.publish();
    }

    fn end(&self) -> Mark {
        let mut at = self.next;
        loop {
            let header = Header(self.ring.word(at.position).load(Ordering::Acquire));
            if self.ring.loses && self.ring.has_overtaken(at.position) {
                at = self.ring.latest_mark();
            } else if header.0 == Header::NONE {
                return at;
            } else {
                at.position += header.words();
                at.number += u64::from(header.is_last());
            }
        }
    }
}

/// Appends `bytes` bytes from the word `place` on.
fn copy<P: Platform>(ring: &Ring<P>, place: u64, bytes: usize, data: &mut Vec<u8>) {
    data.reserve(bytes);
    let end = data.len() + bytes;
    for place in (place..).take(bytes.div_ceil(8)) {
        let word = ring.word(place).load(Ordering::Relaxed).to_le_bytes();
        let left = end - data.len();
        data.extend_from_slice(&word[..left.min(8)]);
    }
}
