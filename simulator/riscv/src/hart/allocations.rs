//! Finds the code that asked for each block of a program's heap. To find this code, the hart notes when calls of the
//! program's allocators begin and return.

use super::Hart;
use crate::memory::Space;
use std::collections::BTreeMap;

/// The largest number of noted calls that have not returned. If there are more, the program has left some calls by
/// jumps, and these calls never return.
const UNDER_WAY: usize = 1_024;
/// If an allocator calls another allocator, their frames are less than this number of bytes apart.
const NESTED: u64 = 1 << 16;

/// Which arguments of an allocator contain the wanted size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allocator {
    /// The first argument, as in `malloc`.
    First,
    /// The second argument, as in `realloc` and `aligned_alloc`.
    Second,
    /// The product of the first two arguments, as in `calloc`.
    Product,
    /// The third argument, as in `posix_memalign`. The first argument is the address of the word to which the allocator
    /// writes the block's address.
    Third,
}

impl Allocator {
    /// The allocator of this name, if the name is that of an allocator.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            // The last two are `operator new` and `operator new[]`.
            "malloc" | "_Znwm" | "_Znam" => Self::First,
            "_ZnwmSt11align_val_t" | "_ZnamSt11align_val_t" => Self::First,
            "realloc" | "aligned_alloc" | "memalign" => Self::Second,
            "calloc" => Self::Product,
            "posix_memalign" => Self::Third,
            _ => return None,
        })
    }

    fn wanted(self, hart: &Hart) -> u64 {
        let [first, second, third] = [10, 11, 12].map(|register| hart.x[register]);
        match self {
            Self::First => first,
            Self::Second => second,
            Self::Product => first.wrapping_mul(second),
            Self::Third => third,
        }
    }
}

/// A block of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) start: u64,
    pub(crate) bytes: u64,
    /// The address to which the allocator returned.
    pub(crate) back: u64,
}

/// A call of an allocator that has not returned.
struct Call {
    /// The return address (`back`) and the stack pointer at the call.
    back: u64,
    stack: u64,
    bytes: u64,
    /// The address to which the allocator writes the block's address. 0 if the allocator returns the block's address.
    to: u64,
}

/// The calls of a program's allocators.
#[derive(Default)]
pub(super) struct Allocations {
    allocators: Vec<(u64, Allocator)>,
    calls: Vec<Call>,
    /// Blocks by their starts. A block that overlaps a later block is removed.
    blocks: BTreeMap<u64, Block>,
}

impl Allocations {
    /// Sets the allocators. Returns whether they have changed.
    pub(super) fn set(&mut self, allocators: &[(u64, Allocator)]) -> bool {
        let is_new = self.allocators != allocators;
        if is_new {
            self.allocators = allocators.to_vec();
        }
        is_new
    }

    /// Whether an allocator begins at an address, or will return to this address.
    pub(super) fn watches(&self, address: u64) -> bool {
        let begins = self.allocators.iter().any(|(start, _)| *start == address);
        begins || self.calls.iter().any(|call| call.back == address)
    }

    /// Notes that a hart has reached a watched address. If an allocator begins there, returns the return address of
    /// this call.
    pub(super) fn look(&mut self, hart: &Hart, space: &mut Space) -> Option<u64> {
        let stack = hart.x[2];
        let returns = |call: &Call| call.back == hart.pc && call.stack == stack;
        if let Some(at) = self.calls.iter().rposition(returns) {
            let call = self.calls.swap_remove(at);
            let start = match call.to {
                0 => hart.x[10],
                to => space.read_u64(to).unwrap_or(0),
            };
            self.keep(start, &call);
        }
        let mut allocators = self.allocators.iter();
        let (_, allocator) = allocators.find(|(start, _)| *start == hart.pc)?;
        // If an allocator calls another allocator, only the outer call counts.
        let mut calls = self.calls.iter();
        if calls.any(|call| (1..NESTED).contains(&call.stack.wrapping_sub(stack))) {
            return None;
        }
        if self.calls.len() >= UNDER_WAY {
            self.calls.clear();
        }
        let back = hart.x[1];
        self.calls.push(Call {
            back,
            stack,
            bytes: allocator.wanted(hart),
            to: match allocator {
                Allocator::Third => hart.x[10],
                _ => 0,
            },
        });
        Some(back)
    }

    fn keep(&mut self, start: u64, call: &Call) {
        let end = start.saturating_add(call.bytes.max(1));
        if start == 0 {
            return;
        }
        let old: Vec<u64> = self.overlapping(start, end).map(|it| it.start).collect();
        for start in old {
            self.blocks.remove(&start);
        }
        let (bytes, back) = (call.bytes, call.back);
        self.blocks.insert(start, Block { start, bytes, back });
    }

    fn overlapping(&self, from: u64, to: u64) -> impl Iterator<Item = &Block> {
        // Blocks do not overlap. So only the last block that begins before the range can reach into the range.
        let before = self.blocks.range(..from).next_back();
        let before = before.filter(move |(start, block)| **start + block.bytes > from);
        let inside = self.blocks.range(from..to);
        before.into_iter().chain(inside).map(|(_, block)| block)
    }

    /// The blocks that overlap a range.
    pub(super) fn within(&self, from: u64, to: u64) -> Vec<Block> {
        self.overlapping(from, to).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Physical, Space};

    const MALLOC: u64 = 0x1000;
    const NEW: u64 = 0x2000;

    fn at(pc: u64, stack: u64, back: u64, argument: u64) -> Hart {
        let mut hart = Hart::new(pc);
        (hart.x[1], hart.x[2], hart.x[10]) = (back, stack, argument);
        hart
    }

    #[test]
    fn the_outermost_allocator_has_the_block_until_another_block_covers_it() {
        let mut space = Space::new(Physical::new(1 << 20));
        let mut heap = Allocations::default();
        assert!(heap.set(&[(MALLOC, Allocator::First), (NEW, Allocator::First)]));
        assert!(heap.watches(NEW) && !heap.watches(0x5000));
        assert_eq!(
            heap.look(&at(NEW, 900, 0x5000, 24), &mut space),
            Some(0x5000)
        );
        // `new` calls `malloc`, and another thread calls `malloc` meanwhile.
        assert_eq!(heap.look(&at(MALLOC, 800, NEW + 8, 24), &mut space), None);
        let other = at(MALLOC, 1 << 30, 0x6000, 8);
        assert_eq!(heap.look(&other, &mut space), Some(0x6000));
        assert!(heap.watches(0x5000));
        heap.look(&at(0x5000, 900, 0, 0x8_0000), &mut space);
        heap.look(&at(0x6000, 1 << 30, 0, 0x8_0020), &mut space);
        let blocks = heap.within(0x8_0000, 0x8_0040);
        assert_eq!(
            blocks
                .iter()
                .map(|it| (it.back, it.bytes))
                .collect::<Vec<_>>(),
            [(0x5000, 24), (0x6000, 8)]
        );
        assert_eq!(heap.within(0x8_0010, 0x8_0011).len(), 1);
        assert!(heap.within(0x8_0018, 0x8_0020).is_empty());
        // The first block is freed, and a longer block is made there.
        heap.look(&at(MALLOC, 900, 0x7000, 64), &mut space);
        heap.look(&at(0x7000, 900, 0, 0x8_0010), &mut space);
        let blocks = heap.within(0x8_0000, 0x8_0040);
        assert_eq!(
            blocks.iter().map(|it| it.back).collect::<Vec<_>>(),
            [0x7000]
        );
        // An allocator without memory returns 0.
        heap.look(&at(MALLOC, 900, 0x7000, 64), &mut space);
        heap.look(&at(0x7000, 900, 0, 0), &mut space);
        assert_eq!(heap.within(0, 0x100).len(), 0);
    }
}
