//! Simulates the instructions of loops that wait, on x86-64. Names and encodings are from the processors' manuals.

use std::ptr;

/// The most instructions that are simulated.
const STEPS: usize = 64;
/// The greatest distance in bytes between instructions of a loop that waits.
const LOOP: usize = 64;

const SP: usize = 4;

/// The flags that conditions read, except the parity flag.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Flags {
    carry: bool,
    zero: bool,
    sign: bool,
    overflow: bool,
}

/// The general registers of a rank (the interrupted thread), by their numbers in instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::carry) struct Machine {
    general: [u64; 16],
    flags: Flags,
    /// The address of the next instruction.
    at: usize,
}

/// The place of an operand.
#[derive(Clone, Copy)]
enum Place {
    Register(usize),
    Memory(usize),
}

/// An instruction's bytes, one after another.
struct Code {
    at: usize,
    /// The prefix that extends the size and the numbers of registers, or 0 if there is none.
    rex: usize,
}

impl Code {
    fn number<const BYTES: usize>(&mut self) -> [u8; BYTES] {
        // SAFETY: the bytes belong to an instruction that the rank will execute.
        let bytes = unsafe { ptr::read_unaligned(self.at as *const [u8; BYTES]) };
        self.at += BYTES;
        bytes
    }

    fn byte(&mut self) -> usize {
        usize::from(u8::from_le_bytes(self.number()))
    }

    /// A number of one, two or four bytes, extended by its sign.
    fn signed(&mut self, bytes: usize) -> u64 {
        let value = match bytes {
            1 => i64::from(i8::from_le_bytes(self.number())),
            2 => i64::from(i16::from_le_bytes(self.number())),
            _ => i64::from(i32::from_le_bytes(self.number())),
        };
        value.cast_unsigned()
    }

    /// A register of this number of bytes. `None` if the number means the second byte of another register, as some do
    /// without the prefix.
    fn register(&self, number: usize, bytes: usize) -> Option<Place> {
        let is_low = bytes > 1 || self.rex != 0 || number < SP;
        is_low.then_some(Place::Register(number))
    }
}

/// All bits of a value of this number of bytes.
fn mask(bytes: usize) -> u64 {
    u64::MAX >> (64 - 8 * bytes)
}

fn is_negative(value: u64, bytes: usize) -> bool {
    value >> (8 * bytes - 1) & 1 != 0
}

/// A value of this number of bytes, extended by its sign.
fn extend(value: u64, bytes: usize) -> u64 {
    let unused = 64 - 8 * bytes as u32;
    ((value << unused).cast_signed() >> unused).cast_unsigned()
}

impl Flags {
    fn of_bits(bits: u64) -> Self {
        let bit = |at: u32| bits >> at & 1 != 0;
        Self {
            carry: bit(0),
            zero: bit(6),
            sign: bit(7),
            overflow: bit(11),
        }
    }

    fn of_logic(value: u64, bytes: usize) -> Self {
        Self {
            zero: value & mask(bytes) == 0,
            sign: is_negative(value, bytes),
            ..Self::default()
        }
    }

    fn of_difference(left: u64, right: u64, bytes: usize) -> Self {
        let (left, right) = (left & mask(bytes), right & mask(bytes));
        let value = left.wrapping_sub(right);
        Self {
            carry: left < right,
            overflow: is_negative((left ^ right) & (left ^ value), bytes),
            ..Self::of_logic(value, bytes)
        }
    }

    /// Whether the condition with this number in instructions holds. `None` if the condition reads the parity flag.
    fn hold(self, condition: usize) -> Option<bool> {
        let is_less = self.sign != self.overflow;
        let holds = match condition >> 1 {
            0 => self.overflow,
            1 => self.carry,
            2 => self.zero,
            3 => self.carry || self.zero,
            4 => self.sign,
            6 => is_less,
            7 => is_less || self.zero,
            _ => return None,
        };
        Some(holds != (condition & 1 != 0))
    }
}

impl Machine {
    /// The registers that the kernel has saved in the frame.
    pub(in crate::carry) fn of(frame: &libc::ucontext_t) -> Self {
        use libc::{REG_RAX, REG_RBP, REG_RBX, REG_RCX, REG_RDI, REG_RDX, REG_RSI, REG_RSP};
        const NAMED: [libc::c_int; 8] = [
            REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
        ];
        let saved = |name: libc::c_int| frame.uc_mcontext.gregs[name as usize].cast_unsigned();
        let general = |number: usize| match NAMED.get(number) {
            Some(&name) => saved(name),
            // R8 to R15 come first.
            None => saved(libc::REG_R8 + (number - NAMED.len()) as libc::c_int),
        };
        Self {
            general: std::array::from_fn(general),
            flags: Flags::of_bits(saved(libc::REG_EFL)),
            at: saved(libc::REG_RIP) as usize,
        }
    }

    /// Whether the rank would come back to this instruction with nothing changed, unless another thread changes memory.
    pub(in crate::carry) fn waits(&self) -> bool {
        let (mut now, mut before) = (*self, *self);
        for _ in 0..STEPS {
            if now.step().is_none() || now.at.abs_diff(self.at) > LOOP {
                return false;
            }
            if now.at == self.at {
                if now == before {
                    return true;
                }
                // The first round may have read words that changed after the interruption.
                before = now;
            }
        }
        false
    }

    /// A value of this number of bytes.
    fn read(&self, place: Place, bytes: usize) -> Option<u64> {
        match place {
            Place::Register(register) => Some(self.general[register] & mask(bytes)),
            Place::Memory(address) if address % bytes == 0 => {
                // SAFETY: the rank itself will read this address. The read is of a whole word, since the address is
                // aligned.
                Some(unsafe {
                    match bytes {
                        1 => u64::from(ptr::read_volatile(address as *const u8)),
                        2 => u64::from(ptr::read_volatile(address as *const u16)),
                        4 => u64::from(ptr::read_volatile(address as *const u32)),
                        _ => ptr::read_volatile(address as *const u64),
                    }
                })
            }
            Place::Memory(_) => None,
        }
    }

    /// Writes a register. Does not write memory: returns `None` if the write would change the value there.
    fn write(&mut self, place: Place, bytes: usize, value: u64) -> Option<()> {
        let value = value & mask(bytes);
        match place {
            Place::Register(register) => {
                let kept = if bytes >= 4 { 0 } else { !mask(bytes) };
                self.general[register] = self.general[register] & kept | value;
                Some(())
            }
            Place::Memory(_) => (self.read(place, bytes)? == value).then_some(()),
        }
    }

    /// The operands in the byte after the opcode. The first is the number of a register, or another field in its place.
    /// The second is a register of this number of bytes, or an address. `left` bytes of the instruction follow.
    fn operands(&self, code: &mut Code, bytes: usize, left: usize) -> Option<(usize, Place)> {
        let byte = code.byte();
        let (mode, register, base) = (byte >> 6, byte >> 3 & 7 | (code.rex & 4) << 1, byte & 7);
        let high = (code.rex & 1) << 3;
        if mode == 3 {
            return Some((register, code.register(base | high, bytes)?));
        }
        let mut address = match base {
            SP => {
                let byte = code.byte();
                let (scale, index, base) =
                    (byte >> 6, byte >> 3 & 7 | (code.rex & 2) << 2, byte & 7);
                let index = if index == SP {
                    0
                } else {
                    self.general[index] << scale
                };
                let base = if base == 5 && mode == 0 {
                    code.signed(4)
                } else {
                    self.general[base | high]
                };
                base.wrapping_add(index)
            }
            5 if mode == 0 => {
                let distance = code.signed(4);
                distance.wrapping_add((code.at + left) as u64)
            }
            _ => self.general[base | high],
        };
        match mode {
            1 => address = address.wrapping_add(code.signed(1)),
            2 => address = address.wrapping_add(code.signed(4)),
            _ => {}
        }
        Some((register, Place::Memory(address as usize)))
    }

    /// The target and the source of an instruction whose opcode has the direction in its second bit.
    fn ends(&self, opcode: usize, code: &mut Code, bytes: usize) -> Option<(Place, Place)> {
        let (register, place) = self.operands(code, bytes, 0)?;
        let register = code.register(register, bytes)?;
        Some(if opcode & 2 == 0 {
            (place, register)
        } else {
            (register, place)
        })
    }

    /// `or`, `and`, `xor` or `cmp`, by their numbers.
    fn combine(&mut self, what: usize, to: Place, bytes: usize, other: u64) -> Option<()> {
        let left = self.read(to, bytes)?;
        let value = match what {
            1 => left | other,
            4 => left & other,
            6 => left ^ other,
            7 => {
                self.flags = Flags::of_difference(left, other, bytes);
                return Some(());
            }
            _ => return None,
        };
        self.write(to, bytes, value)?;
        self.flags = Flags::of_logic(value, bytes);
        Some(())
    }

    /// Simulates an instruction. Returns `None` if it is unknown, or would change memory.
    fn step(&mut self) -> Option<()> {
        let mut code = Code {
            at: self.at,
            rex: 0,
        };
        let (mut is_half, mut repeats) = (false, false);
        let mut opcode = code.byte();
        loop {
            match opcode {
                0x66 => is_half = true,
                0xf3 => repeats = true,
                // The lock prefix, and hints. The simulation reads whole words, and changes no memory.
                0x2e | 0x3e | 0xf0 => {}
                _ => break,
            }
            opcode = code.byte();
        }
        if opcode & 0xf0 == 0x40 {
            (code.rex, opcode) = (opcode, code.byte());
        }
        // `pause`. With this prefix, all other opcodes are other instructions.
        if repeats && opcode != 0x90 {
            return None;
        }
        let bytes = match (code.rex & 8 != 0, is_half) {
            (true, _) => 8,
            (false, true) => 2,
            (false, false) => 4,
        };
        // Most opcodes have a form for operands of one byte.
        let size = if opcode & 1 == 0 { 1 } else { bytes };
        match opcode {
            0x00..=0x3f if opcode & 7 < 4 => {
                let (to, from) = self.ends(opcode, &mut code, size)?;
                let other = self.read(from, size)?;
                self.combine(opcode >> 3, to, size, other)?;
            }
            0x00..=0x3f if opcode & 7 < 6 => {
                let other = code.signed(size) & mask(size);
                self.combine(opcode >> 3, Place::Register(0), size, other)?;
            }
            0x63 => {
                let (register, place) = self.operands(&mut code, 4, 0)?;
                let value = extend(self.read(place, 4)?, 4);
                self.write(Place::Register(register), bytes, value)?;
            }
            0x70..=0x7f => {
                let distance = code.signed(1);
                self.jump_if(opcode & 15, &mut code, distance)?;
            }
            0x80 | 0x81 | 0x83 => {
                let long = if opcode == 0x81 { bytes.min(4) } else { 1 };
                let (what, place) = self.operands(&mut code, size, long)?;
                let other = code.signed(long) & mask(size);
                self.combine(what & 7, place, size, other)?;
            }
            0x84 | 0x85 => {
                let (register, place) = self.operands(&mut code, size, 0)?;
                let register = code.register(register, size)?;
                let value = self.read(place, size)? & self.read(register, size)?;
                self.flags = Flags::of_logic(value, size);
            }
            // An exchange. An exchange with memory must not change the value there.
            0x86 | 0x87 => {
                let (register, place) = self.operands(&mut code, size, 0)?;
                let register = code.register(register, size)?;
                let (there, here) = (self.read(place, size)?, self.read(register, size)?);
                self.write(place, size, here)?;
                self.write(register, size, there)?;
            }
            0x88..=0x8b => {
                let (to, from) = self.ends(opcode, &mut code, size)?;
                let value = self.read(from, size)?;
                self.write(to, size, value)?;
            }
            0x8d => match self.operands(&mut code, bytes, 0)? {
                (register, Place::Memory(address)) => {
                    self.write(Place::Register(register), bytes, address as u64)?;
                }
                _ => return None,
            },
            0x90 if code.rex & 1 == 0 => {}
            0xa8 | 0xa9 => {
                let value = code.signed(size.min(4)) & self.general[0];
                self.flags = Flags::of_logic(value, size);
            }
            0xb8..=0xbf if code.rex & 8 == 0 => {
                let value = code.signed(bytes);
                self.write(
                    Place::Register(opcode & 7 | (code.rex & 1) << 3),
                    bytes,
                    value,
                )?;
            }
            0xc6 | 0xc7 => {
                let (what, place) = self.operands(&mut code, size, size.min(4))?;
                let value = code.signed(size.min(4));
                if what & 7 != 0 {
                    return None;
                }
                self.write(place, size, value)?;
            }
            0xe9 | 0xeb => {
                let distance = code.signed(if opcode == 0xeb { 1 } else { 4 });
                code.at = (code.at as u64).wrapping_add(distance) as usize;
            }
            0xf6 | 0xf7 => {
                let (what, place) = self.operands(&mut code, size, size.min(4))?;
                let other = code.signed(size.min(4));
                if what & 7 != 0 {
                    return None;
                }
                self.flags = Flags::of_logic(self.read(place, size)? & other, size);
            }
            0x0f => self.step_of_two(&mut code, bytes)?,
            _ => return None,
        }
        self.at = code.at;
        Some(())
    }

    /// Instructions of two bytes.
    fn step_of_two(&mut self, code: &mut Code, bytes: usize) -> Option<()> {
        let opcode = code.byte();
        let size = if opcode & 1 == 0 { 1 } else { bytes };
        match opcode {
            // `nop` with operands.
            0x1f => _ = self.operands(code, bytes, 0)?,
            0x80..=0x8f => {
                let distance = code.signed(4);
                self.jump_if(opcode & 15, code, distance)?;
            }
            0x90..=0x9f => {
                let (_, place) = self.operands(code, 1, 0)?;
                let holds = self.flags.hold(opcode & 15)?;
                self.write(place, 1, u64::from(holds))?;
            }
            // Fences.
            0xae if matches!(code.byte(), 0xe8 | 0xf0 | 0xf8) => {}
            // Compare and exchange. If the comparison succeeds, the instruction writes.
            0xb0 | 0xb1 => {
                let (register, place) = self.operands(code, size, 0)?;
                let Place::Memory(_) = place else {
                    return None;
                };
                let register = code.register(register, size)?;
                let (there, expected) = (self.read(place, size)?, self.general[0] & mask(size));
                self.flags = Flags::of_difference(expected, there, size);
                if self.flags.zero {
                    let value = self.read(register, size)?;
                    self.write(place, size, value)?;
                } else {
                    self.write(Place::Register(0), size, there)?;
                }
            }
            0xb6 | 0xb7 | 0xbe | 0xbf => {
                let from = if opcode & 1 == 0 { 1 } else { 2 };
                let (register, place) = self.operands(code, from, 0)?;
                let value = self.read(place, from)?;
                let value = if opcode < 0xb8 {
                    value
                } else {
                    extend(value, from)
                };
                self.write(Place::Register(register), bytes, value)?;
            }
            _ => return None,
        }
        Some(())
    }

    fn jump_if(&self, condition: usize, code: &mut Code, distance: u64) -> Option<()> {
        if self.flags.hold(condition)? {
            code.at = (code.at as u64).wrapping_add(distance) as usize;
        }
        Some(())
    }
}

#[cfg(test)]
#[path = "checked.rs"]
mod checked;
