//! Parts that the tests of programs share: a small assembler, ELF files, and a stream that keeps its bytes.

mod awaited;
mod beside;
mod calls;
mod compiled;
mod damaged;
mod differential;
mod exec;
mod fence;
mod guest;
mod hashes;
mod mixture;
mod processes;
mod region;
mod spin;
mod system;

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;

fn i_type(opcode: u32, rd: u32, funct3: u32, rs1: u32, imm: i32) -> u32 {
    (imm as u32) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

fn s_type(opcode: u32, funct3: u32, rs1: u32, rs2: u32, imm: u32) -> u32 {
    (imm >> 5) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | (imm & 31) << 7 | opcode
}

/// The number of random cases: `usual`, times the number in `MANYCORE_SCHEDULES` if it is set.
fn cases(usual: usize) -> usize {
    let times = std::env::var("MANYCORE_SCHEDULES").ok();
    usual * times.map_or(1, |times| times.parse().expect("a number"))
}

/// An ELF file of segments, each with an address, rights and bytes.
fn elf(segments: &[(u64, u32, &[u8])]) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    file.extend([2, 0, 243, 0, 1, 0, 0, 0]);
    for word in [segments[0].0, 64, 0] {
        file.extend(word.to_le_bytes());
    }
    // Flags: compressed instructions, double-precision ABI.
    file.extend(5u32.to_le_bytes());
    for half in [64, 56, segments.len() as u16, 64, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    let mut offset = 4096u64;
    for (address, rights, bytes) in segments {
        file.extend(1u32.to_le_bytes());
        file.extend(rights.to_le_bytes());
        let length = bytes.len() as u64;
        for word in [offset, *address, *address, length, length, 4096] {
            file.extend(word.to_le_bytes());
        }
        offset = (offset + length).next_multiple_of(4096);
    }
    for (.., bytes) in segments {
        file.resize(file.len().next_multiple_of(4096), 0);
        file.extend(*bytes);
    }
    file
}

/// A stream that keeps the bytes written to it.
#[derive(Clone, Default)]
struct Kept(Rc<RefCell<Vec<u8>>>);

impl Kept {
    /// Returns the bytes written since the last call.
    fn take(&self) -> Vec<u8> {
        self.0.take()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
