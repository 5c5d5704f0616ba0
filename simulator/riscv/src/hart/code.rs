//! Decoded code, in blocks: sequences of instructions from an address that control enters.
//!
//! A block continues after a conditional branch. It ends at an instruction that always leaves the block, such as a
//! jump. If control enters the middle of a block, another block begins there.

use super::allocations::{Allocations, Allocator, Block as HeapBlock};
use super::{Hart, Stop};
use crate::isa::{Instruction, Kind, Mix, decode};
use crate::memory::Space;
use rustc_hash::FxHashMap;

/// The largest number of instructions of a block.
const LONGEST: usize = 48;
/// The number of entries of the table `recent`.
const RECENT: usize = 1 << 13;

/// A sequence of instructions.
pub(super) struct Block {
    pub(super) start: u64,
    pub(super) instructions: Box<[Instruction]>,
    /// The number of pure instructions (see `is_pure`) at the block's start. A loop over pure instructions only waits.
    pub(super) pure: usize,
    /// If instructions are counted: for each number of instructions, how often the block was left after that number.
    left: Box<[u64]>,
    /// Whether an allocator begins at the block's start, or returns to it.
    is_watched: bool,
}

/// The counts of a program, if its run asks for statistics.
#[derive(Default)]
struct Counted {
    /// Counts of forgotten blocks, and of instructions that were finished outside of a block.
    mix: Mix,
    allocations: Allocations,
}

/// The decoded blocks of a program. `recent`, a direct-mapped table, is searched before `by_address`.
pub(crate) struct Code {
    blocks: Vec<Block>,
    by_address: FxHashMap<u64, u32>,
    recent: Box<[(u64, u32)]>,
    generation: u64,
    counted: Option<Box<Counted>>,
}

impl Code {
    /// An empty table. `counts` says whether instructions are counted.
    pub(crate) fn new(counts: bool) -> Self {
        Self {
            counted: counts.then(Box::default),
            blocks: Vec::new(),
            by_address: FxHashMap::default(),
            recent: vec![(u64::MAX, 0); RECENT].into(),
            generation: 0,
        }
    }

    /// Forgets all blocks, as `fence.i` demands.
    pub(super) fn clear(&mut self) {
        let blocks = std::mem::take(&mut self.blocks);
        if let Some(counted) = &mut self.counted {
            for block in &blocks {
                block.add_to(&mut counted.mix);
            }
        }
        self.by_address.clear();
        self.recent.fill((u64::MAX, 0));
    }

    /// Forgets all blocks if executable pages have changed. No hart may be inside a block during this call.
    pub(super) fn refresh(&mut self, space: &Space) {
        if self.generation != space.code {
            self.generation = space.code;
            self.clear();
        }
    }

    pub(super) fn block(&self, at: u32) -> &Block {
        &self.blocks[at as usize]
    }

    /// The number of the block at `pc`.
    #[inline(always)]
    pub(super) fn find(&mut self, pc: u64, space: &mut Space) -> Result<u32, Stop> {
        let entry = self.recent[(pc >> 1) as usize % RECENT];
        if entry.0 == pc {
            return Ok(entry.1);
        }
        self.find_slowly(pc, space)
    }

    #[cold]
    #[inline(never)]
    fn find_slowly(&mut self, pc: u64, space: &mut Space) -> Result<u32, Stop> {
        let at = match self.by_address.get(&pc) {
            Some(&at) => at,
            None => {
                let mut block = read_block(pc, space)?;
                if let Some(counted) = &self.counted {
                    block.left = vec![0; block.instructions.len() + 1].into();
                    block.is_watched = counted.allocations.watches(pc);
                }
                self.blocks.push(block);
                let at = (self.blocks.len() - 1) as u32;
                self.by_address.insert(pc, at);
                at
            }
        };
        self.recent[(pc >> 1) as usize % RECENT] = (pc, at);
        Ok(at)
    }
}

/// Counting, for runs that ask for statistics.
impl Code {
    #[inline(always)]
    pub(crate) fn counts(&self) -> bool {
        self.counted.is_some()
    }

    /// Counts that the block was left after this number of instructions.
    pub(super) fn count(&mut self, at: u32, instructions: u64) {
        let left = &mut self.blocks[at as usize].left;
        left[instructions as usize] += 1;
    }

    /// Counts that an instruction was executed `times` times outside of a block.
    pub(crate) fn count_one(&mut self, kind: Kind, times: u64) {
        if let Some(counted) = &mut self.counted {
            counted.mix[kind.class()] += times;
        }
    }

    /// The executed instructions until now, by kind. `None` if they are not counted.
    pub(crate) fn mix(&self) -> Option<Mix> {
        let mut mix = self.counted.as_ref()?.mix;
        for block in &self.blocks {
            block.add_to(&mut mix);
        }
        Some(mix)
    }

    /// Sets the program's allocators. A library that is loaded later may add more allocators.
    pub(crate) fn watch(&mut self, allocators: &[(u64, Allocator)]) {
        let Some(counted) = &mut self.counted else {
            return;
        };
        if counted.allocations.set(allocators) {
            self.clear();
        }
    }

    /// Notes a call or return of an allocator, if the block that a hart is about to execute is watched.
    #[inline(always)]
    pub(super) fn look(&mut self, at: u32, hart: &Hart, space: &mut Space) {
        if self.blocks[at as usize].is_watched {
            self.look_at_allocator(hart, space);
        }
    }

    #[cold]
    fn look_at_allocator(&mut self, hart: &Hart, space: &mut Space) {
        let Some(counted) = &mut self.counted else {
            return;
        };
        // From now on the block at the allocator's return address is watched.
        if let Some(back) = counted.allocations.look(hart, space)
            && let Ok(at) = self.find(back, space)
        {
            self.blocks[at as usize].is_watched = true;
        }
    }

    /// The heap blocks that overlap a range, in the order of addresses.
    pub(crate) fn allocated(&self, from: u64, to: u64) -> Vec<HeapBlock> {
        let counted = self.counted.as_ref();
        counted.map_or_else(Vec::new, |counted| counted.allocations.within(from, to))
    }
}

impl Block {
    fn add_to(&self, mix: &mut Mix) {
        let mut times: u64 = 0;
        // An instruction was executed as often as the block was left at any point after the instruction. So the sum
        // runs from the end.
        for (instruction, left) in self.instructions.iter().zip(self.left.iter().skip(1)).rev() {
            times += left;
            mix[instruction.kind.class()] += times;
        }
    }
}

fn read_block(start: u64, space: &mut Space) -> Result<Block, Stop> {
    let mut instructions = Vec::new();
    let mut pc = start;
    loop {
        match read_instruction(pc, space) {
            Ok(instruction) => {
                instructions.push(instruction);
                pc = pc.wrapping_add(instruction.length.into());
                if instruction.ends_block() {
                    break;
                }
            }
            Err(stop) if instructions.is_empty() => return Err(stop),
            // Control may leave the block before this instruction. So the error is raised only when control reaches it.
            Err(_) => instructions.push(NEXT),
        }
        if instructions.len() == LONGEST - 1 {
            instructions.push(NEXT);
        }
        if instructions.last() == Some(&NEXT) {
            break;
        }
    }
    let pure = instructions
        .iter()
        .take_while(|instruction| instruction.is_pure())
        .count();
    Ok(Block {
        start,
        instructions: instructions.into(),
        pure,
        left: Box::default(),
        is_watched: false,
    })
}

const NEXT: Instruction = Instruction {
    length: 0,
    ..Instruction::new(Kind::Next, 0, 0, 0, 0)
};

fn read_instruction(pc: u64, space: &mut Space) -> Result<Instruction, Stop> {
    let mut bytes = [0; 4];
    // The second half may lie in another page. A compressed instruction does not need that page.
    space.read_code(pc, &mut bytes[..2]).map_err(Stop::Fault)?;
    if bytes[0] & 3 == 3 {
        space
            .read_code(pc.wrapping_add(2), &mut bytes[2..])
            .map_err(Stop::Fault)?;
    }
    let word = u32::from_le_bytes(bytes);
    decode(word).ok_or(Stop::Illegal(word))
}
