//! Size classes. There are few block sizes, so a freed block fits the next request of its class.
//!
//! Up to 1 KiB, the classes are the multiples of 16 bytes. Above that, each doubling of the size has four classes,
//! which wastes at most a fifth of a block. Classes above a page are whole pages. A block is aligned to the largest
//! power of two that divides its size. This suits every alignment, because the size of a request is first rounded up to
//! a multiple of its alignment. If that size lies in (2^k, 2^(k+1)], its class is a multiple of 2^(k-2). Larger
//! alignments divide only sizes that are classes themselves.

use std::alloc::Layout;

use crate::memory::CAPACITY;

/// This size is the same on every host, whatever the host's page size.
const PAGE: usize = 4096;
const GRAIN: usize = 16;
/// The classes up to this size are multiples of `GRAIN`.
const FINE: usize = 1 << FINE_LOG2;
const FINE_LOG2: usize = 10;
const STEPS: usize = 4;

pub(super) const CLASSES: usize = FINE / GRAIN + STEPS * (CAPACITY.ilog2() as usize - FINE_LOG2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) index: usize,
    pub(super) bytes: usize,
}

impl Class {
    /// The class for `layout`. `None` if no arena (memory of a simulated machine) is large enough.
    #[inline]
    pub(super) fn of(layout: Layout) -> Option<Self> {
        if layout.size() > CAPACITY || layout.align() > CAPACITY {
            return None;
        }
        let size = layout
            .size()
            .next_multiple_of(layout.align())
            .next_multiple_of(GRAIN);
        if size <= FINE {
            return Some(Self {
                index: (size / GRAIN).saturating_sub(1),
                bytes: size.max(GRAIN),
            });
        }
        let log2 = (size - 1).ilog2() as usize;
        let quarter = (1 << log2) / STEPS;
        let step = if size > PAGE {
            quarter.max(PAGE)
        } else {
            quarter
        };
        let bytes = size.next_multiple_of(step);
        let index = FINE / GRAIN + STEPS * (log2 - FINE_LOG2) + bytes / quarter - STEPS - 1;
        (bytes <= CAPACITY).then_some(Self { index, bytes })
    }

    pub(super) fn align(self) -> usize {
        1 << self.bytes.trailing_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(size: usize, align: usize) -> usize {
        Class::of(Layout::from_size_align(size, align).unwrap())
            .unwrap()
            .bytes
    }

    #[test]
    fn sizes() {
        let expected = [
            (1, 16),
            (16, 16),
            (17, 32),
            (1000, 1008),
            (1024, 1024),
            (1025, 1280),
            (2048, 2048),
            (2049, 2560),
            (4096, 4096),
            (4097, 8192),
            (8193, 12288),
            (32769, 40960),
        ];
        for (size, class) in expected {
            assert_eq!(bytes(size, 1), class);
        }
        assert_eq!(bytes(1, 64), 64);
        assert_eq!(bytes(65, 64), 128);
        assert_eq!(bytes(3 * 65536 - 1, 65536), 3 * 65536);
        let too_large = Layout::from_size_align(CAPACITY + 1, 1).unwrap();
        assert_eq!(Class::of(too_large), None);
    }

    #[test]
    fn numbers_follow_sizes_without_collision() {
        let mut last = Class::of(Layout::from_size_align(1, 1).unwrap()).unwrap();
        assert_eq!(last.index, 0);
        while let Some(next) = Class::of(Layout::from_size_align(last.bytes + 1, 1).unwrap()) {
            assert!(next.bytes > last.bytes && next.index > last.index);
            last = next;
        }
        assert_eq!(
            last,
            Class {
                index: CLASSES - 1,
                bytes: CAPACITY
            }
        );
    }

    proptest! {
        #[test]
        fn a_block_suits_its_layout(log2 in 0_u32..34, below in any::<u64>(), align in 0_u32..22) {
            let size = (1 << log2) + below as usize % (1 << log2);
            let layout = Layout::from_size_align(size, 1 << align).unwrap();
            if let Some(class) = Class::of(layout) {
                prop_assert!(class.bytes >= size);
                prop_assert!(class.align() >= layout.align());
                prop_assert!(class.index < CLASSES);
                prop_assert!(size < PAGE || class.align() >= PAGE);
            }
        }
    }
}
