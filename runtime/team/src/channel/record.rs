//! The format of a message in a ring.
//!
//! A record begins at an even position with a header, which is never 0. The record of a word has
//! these parts:
//!
//! | word | bits |
//! |---|---|
//! | header | kind 8, tag 24, signature 32 |
//! | payload | 64 |
//! | tag, if the kind is [`WIDE`] | 64, and 64 unused |
//!
//! The record of long data, or of a piece of it, has these parts:
//!
//! | word | bits |
//! |---|---|
//! | header | kind 8, unused 24, bytes 32 |
//! | names | tag 32, signature 32 |
//! | data | as many words as the bytes fill, rounded up to an even number |

/// Records begin at multiples of this many words. They are 16 bytes, so the record of a word lies
/// in one cache line.
pub(super) const GRANULE: u64 = 2;

/// A word, with a tag below 2^24.
pub(super) const WORD: u8 = 1;
/// A word, with any tag.
pub(super) const WIDE: u8 = 2;
/// The kind of long data. The bits [`FIRST`] and [`LAST`] are added to it.
const LONG: u8 = 4;
const FIRST: u8 = 8;
const LAST: u8 = 16;

const KIND_BITS: u32 = 8;
const TAG_BITS: u32 = 24;

/// The first word of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header(pub(super) u64);

impl Header {
    /// The word of a place without a record.
    pub(super) const NONE: u64 = 0;

    /// The header of a word, unless its tag is too large.
    #[inline(always)]
    pub(super) fn word(signature: u32, tag: u32) -> Option<Self> {
        let header = u64::from(signature) << 32 | u64::from(tag) << KIND_BITS | u64::from(WORD);
        (tag >> TAG_BITS == 0).then_some(Self(header))
    }

    /// The header of a word with a separate tag word.
    pub(super) fn wide(signature: u32) -> Self {
        Self(u64::from(signature) << 32 | u64::from(WIDE))
    }

    /// The header of a piece of long data. The piece may be the `first` of its message, the `last`,
    /// both or neither.
    pub(super) fn long(bytes: usize, first: bool, last: bool) -> Self {
        let mut kind = LONG;
        if first {
            kind |= FIRST;
        }
        if last {
            kind |= LAST;
        }
        debug_assert!(u32::try_from(bytes).is_ok());
        Self((bytes as u64) << 32 | u64::from(kind))
    }

    #[inline(always)]
    pub(super) fn kind(self) -> u8 {
        self.0 as u8
    }

    pub(super) fn is_first(self) -> bool {
        self.kind() & (LONG | FIRST) != LONG
    }

    pub(super) fn is_last(self) -> bool {
        self.kind() & (LONG | LAST) != LONG
    }

    /// The signature of a word.
    #[inline(always)]
    pub(super) fn signature(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The tag of a word that is not wide.
    #[inline(always)]
    pub(super) fn tag(self) -> u32 {
        self.0 as u32 >> KIND_BITS
    }

    /// The bytes of a piece of long data.
    pub(super) fn bytes(self) -> usize {
        (self.0 >> 32) as usize
    }

    pub(super) fn words(self) -> u64 {
        match self.kind() {
            WORD => 2,
            WIDE => 4,
            _ => long_words(self.bytes()),
        }
    }
}

/// The number of words of a record with `bytes` bytes of data.
pub(super) fn long_words(bytes: usize) -> u64 {
    (2 + bytes.div_ceil(8) as u64).next_multiple_of(GRANULE)
}

/// The second word of long data.
pub(super) fn names(signature: u32, tag: u32) -> u64 {
    u64::from(signature) << 32 | u64::from(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_keep_their_fields() {
        for signature in [0, 1, u32::MAX] {
            for tag in [0, 1, (1 << 24) - 1] {
                let header = Header::word(signature, tag).unwrap();
                assert_eq!((header.signature(), header.tag()), (signature, tag));
                assert_eq!((header.kind(), header.words()), (WORD, 2));
                assert!(header.is_first() && header.is_last());
            }
            assert_eq!(Header::word(signature, 1 << 24), None);
            let wide = Header::wide(signature);
            assert_eq!((wide.signature(), wide.words()), (signature, 4));
            assert!(wide.is_first() && wide.is_last());
        }
        for (bytes, words) in [(0, 2), (1, 4), (16, 4), (17, 6)] {
            for (first, last) in [(false, false), (false, true), (true, false), (true, true)] {
                let header = Header::long(bytes, first, last);
                assert_eq!((header.bytes(), header.words()), (bytes, words));
                assert_eq!((header.is_first(), header.is_last()), (first, last));
                assert_ne!(header.0, Header::NONE);
            }
        }
    }
}
