//! Decoded code: runs of instructions from where control enters.
//!
//! A block goes on behind a branch that is not taken, and ends where control never does. Control
//! that comes into the middle of a block begins another one there.

use super::Stop;
use crate::isa::{Instruction, Kind, decode};
use crate::memory::Space;
use rustc_hash::FxHashMap;

/// The most instructions of a block.
const LONGEST: usize = 48;
/// Entries of the table that is looked at first.
const RECENT: usize = 1 << 13;

/// Instructions that follow each other.
pub(super) struct Block {
    pub(super) start: u64,
    pub(super) instructions: Box<[Instruction]>,
    /// How many from the start are pure: a loop over them alone only waits.
    pub(super) pure: usize,
}

/// The decoded code of a program.
pub(crate) struct Code {
    blocks: Vec<Block>,
    by_address: FxHashMap<u64, u32>,
    recent: Box<[(u64, u32)]>,
    generation: u64,
}

impl Code {
    pub(crate) fn new() -> Self {
        Self {
            blocks: Vec::new(),
            by_address: FxHashMap::default(),
            recent: vec![(u64::MAX, 0); RECENT].into(),
            generation: 0,
        }
    }

    /// Forgets all, as `fence.i` demands.
    pub(super) fn clear(&mut self) {
        self.blocks.clear();
        self.by_address.clear();
        self.recent.fill((u64::MAX, 0));
    }

    /// Forgets all if executable pages have changed. No hart is in the midst of a block.
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
                let block = read_block(pc, space)?;
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
            // Control may leave the block before: what is wrong is told when it is reached.
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
    })
}

const NEXT: Instruction = Instruction {
    length: 0,
    ..Instruction::new(Kind::Next, 0, 0, 0, 0)
};

fn read_instruction(pc: u64, space: &mut Space) -> Result<Instruction, Stop> {
    let mut bytes = [0; 4];
    // The second half may lie in another page, which need not be there for a compressed one.
    space.read_code(pc, &mut bytes[..2]).map_err(Stop::Fault)?;
    if bytes[0] & 3 == 3 {
        space
            .read_code(pc.wrapping_add(2), &mut bytes[2..])
            .map_err(Stop::Fault)?;
    }
    let word = u32::from_le_bytes(bytes);
    decode(word).ok_or(Stop::Illegal(word))
}
