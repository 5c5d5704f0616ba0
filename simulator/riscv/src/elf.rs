//! ELF files of programs: their segments, their dynamic loader, and their symbols.

use crate::error::RunError;
use std::rc::Rc;

/// A mapped part of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) offset: u64,
    pub(crate) address: u64,
    pub(crate) in_file: u64,
    pub(crate) in_memory: u64,
    /// Rights, with the bits of `memory::right`.
    pub(crate) rights: u8,
}

/// A program or a shared library.
pub(crate) struct Elf {
    pub(crate) bytes: Rc<[u8]>,
    pub(crate) entry: u64,
    /// Whether the file can be loaded at any address.
    pub(crate) relocatable: bool,
    pub(crate) segments: Vec<Segment>,
    /// The path of the dynamic loader that the program asks for.
    pub(crate) interpreter: Option<String>,
    pub(crate) headers: Headers,
}

/// The program headers in memory, which the dynamic loader needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Headers {
    pub(crate) address: u64,
    pub(crate) count: u64,
    pub(crate) size: u64,
}

const SIZE: u64 = 56;
const RISCV: u16 = 243;
const LOAD: u32 = 1;
const INTERPRETER: u32 = 3;
const HEADERS: u32 = 6;

/// Reads little-endian numbers of a file. An offset may be outside of the file.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn bytes<const N: usize>(&self, at: u64) -> Option<[u8; N]> {
        let at = usize::try_from(at).ok()?;
        self.0.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn half(&self, at: u64) -> Option<u16> {
        self.bytes(at).map(u16::from_le_bytes)
    }

    fn word(&self, at: u64) -> Option<u32> {
        self.bytes(at).map(u32::from_le_bytes)
    }

    fn long(&self, at: u64) -> Option<u64> {
        self.bytes(at).map(u64::from_le_bytes)
    }
}

impl Elf {
    /// Reads the headers of a file called `name`.
    pub(crate) fn new(name: &str, bytes: Vec<u8>) -> Result<Self, RunError> {
        let wrong = |what: &str| RunError::Program {
            file: name.into(),
            what: what.into(),
        };
        if bytes.get(..4) != Some(b"\x7fELF") {
            return Err(wrong(
                "no ELF file; expected a RISC-V Linux program of 64 bits",
            ));
        }
        let bytes: Rc<[u8]> = bytes.into();
        let file = Reader(&bytes);
        let kind = (bytes.get(4), bytes.get(5), file.half(18));
        if kind != (Some(&2), Some(&1), Some(RISCV)) {
            return Err(wrong(
                "not for RISC-V of 64 bits; expected a program for riscv64-linux",
            ));
        }
        let damaged = || wrong("damaged: its headers point outside of it");
        let relocatable = match file.half(16) {
            Some(2) => false,
            Some(3) => true,
            _ => {
                return Err(wrong(
                    "not a program; expected an executable or a shared library",
                ));
            }
        };
        let entry = file.long(24).ok_or_else(damaged)?;
        let table = file.long(32).ok_or_else(damaged)?;
        let count = u64::from(file.half(56).ok_or_else(damaged)?);
        let mut elf = Self {
            bytes: Rc::clone(&bytes),
            entry,
            relocatable,
            segments: Vec::new(),
            interpreter: None,
            headers: Headers {
                address: 0,
                count,
                size: SIZE,
            },
        };
        for at in 0..count {
            elf.read_segment(&file, table.wrapping_add(at * SIZE))
                .ok_or_else(damaged)?;
        }
        if elf.segments.is_empty() {
            return Err(wrong("without a segment to load; expected a program"));
        }
        if elf.headers.address == 0 {
            let holds = |s: &&Segment| s.offset <= table && table < s.offset + s.in_file;
            if let Some(segment) = elf.segments.iter().find(holds) {
                elf.headers.address = segment.address + (table - segment.offset);
            }
        }
        Ok(elf)
    }

    fn read_segment(&mut self, file: &Reader<'_>, at: u64) -> Option<()> {
        let (kind, flags) = (file.word(at)?, file.word(at.checked_add(4)?)?);
        let long = |n: u64| file.long(at.checked_add(8 * n)?);
        let (offset, address, in_file, in_memory) = (long(1)?, long(2)?, long(4)?, long(5)?);
        let end = offset.checked_add(in_file)?;
        if end > file.0.len() as u64 {
            return None;
        }
        match kind {
            LOAD => {
                let fits = in_file <= in_memory
                    && address.checked_add(in_memory)? < crate::memory::END
                    && address % 4096 == offset % 4096;
                if !fits {
                    return None;
                }
                // In ELF files the bits for reading and executing are exchanged.
                let rights = (flags >> 2 & 1 | flags & 2 | (flags & 1) << 2) as u8;
                self.segments.push(Segment {
                    offset,
                    address,
                    in_file,
                    in_memory,
                    rights,
                });
            }
            INTERPRETER => {
                let text = &file.0[offset as usize..end as usize];
                let text = text.split(|&byte| byte == 0).next()?;
                self.interpreter = Some(String::from_utf8(text.to_vec()).ok()?);
            }
            HEADERS => self.headers.address = address,
            _ => {}
        }
        Some(())
    }

    /// The end of the last segment.
    pub(crate) fn end(&self) -> u64 {
        let ends = self
            .segments
            .iter()
            .map(|segment| segment.address + segment.in_memory);
        ends.max().unwrap_or(0)
    }
}

/// The offsets of the headers of a file's sections.
fn sections(file: &Reader<'_>) -> impl Iterator<Item = u64> + use<> {
    let (table, count) = (file.long(40).unwrap_or(0), file.half(60).unwrap_or(0));
    (0..u64::from(count)).map(move |at| table.wrapping_add(at * 64))
}

/// The content of a file's section of this name. Returns `None` if there is no such section or if it is compressed.
pub(crate) fn section<'a>(bytes: &'a [u8], name: &str) -> Option<&'a [u8]> {
    const COMPRESSED: u64 = 1 << 11;
    let file = Reader(bytes);
    let content = |header: u64| {
        let long = |at: u64| file.long(header.wrapping_add(at));
        let (offset, size) = (
            usize::try_from(long(24)?).ok()?,
            usize::try_from(long(32)?).ok()?,
        );
        bytes.get(offset..offset.checked_add(size)?)
    };
    let names = content(sections(&file).nth(file.half(62)?.into())?)?;
    let mut all = sections(&file);
    let header = all.find(|&header| {
        let own = file.word(header).and_then(|at| names.get(at as usize..));
        own.is_some_and(|own| own.split(|&byte| byte == 0).next() == Some(name.as_bytes()))
    })?;
    let plain = file.long(header.wrapping_add(8))? & COMPRESSED == 0;
    plain.then(|| content(header))?
}

/// Functions and objects by address.
#[derive(Clone, Default)]
pub(crate) struct Symbols {
    /// Start, size and name of each symbol, sorted by start.
    sorted: Vec<(u64, u64, Box<str>)>,
}

impl Symbols {
    /// Adds the symbols of a file that was loaded at `base`. A damaged table may add no symbols.
    pub(crate) fn add(&mut self, bytes: &[u8], base: u64) {
        let file = Reader(bytes);
        for section in sections(&file) {
            // The types of a full symbol table and of a dynamic symbol table.
            if matches!(file.word(section.wrapping_add(4)), Some(2 | 11)) {
                self.add_table(&file, section, base);
            }
        }
        self.sorted.sort();
        self.sorted.dedup();
    }

    fn add_table(&mut self, file: &Reader<'_>, section: u64, base: u64) -> Option<()> {
        let (offset, size) = (
            file.long(section.wrapping_add(24))?,
            file.long(section.wrapping_add(32))?,
        );
        let names = file.word(section.wrapping_add(40))? as usize;
        let names = file.long(sections(file).nth(names)?.checked_add(24)?)?;
        for at in (offset..offset.checked_add(size)?).step_by(24) {
            let info = *file.0.get(usize::try_from(at.wrapping_add(4)).ok()?)?;
            let (value, length) = (
                file.long(at.wrapping_add(8))?,
                file.long(at.wrapping_add(16))?,
            );
            // Only objects and functions that the file defines are added.
            if !matches!(info & 15, 1 | 2) || file.half(at.wrapping_add(6))? == 0 {
                continue;
            }
            let from = usize::try_from(names.wrapping_add(u64::from(file.word(at)?))).ok()?;
            let text = file.0.get(from..)?.split(|&byte| byte == 0).next()?;
            let name = String::from_utf8_lossy(text).into();
            self.sorted.push((value.wrapping_add(base), length, name));
        }
        Some(())
    }

    /// The addresses of the symbols for which `find` returns a value, with these values.
    pub(crate) fn named<T>(
        &self,
        find: impl Fn(&str) -> Option<T>,
    ) -> impl Iterator<Item = (u64, T)> {
        let symbols = self.sorted.iter();
        symbols.filter_map(move |(start, _, name)| Some((*start, find(name)?)))
    }

    /// The name of the symbol that contains `address`, with the distance from the symbol's start.
    pub(crate) fn find(&self, address: u64) -> Option<String> {
        self.around(address).map(|(name, distance)| match distance {
            0 => name.to_string(),
            _ => format!("{name}+{distance:#x}"),
        })
    }

    /// The name of the symbol that contains `address`, and the distance from the symbol's start in bytes.
    pub(crate) fn around(&self, address: u64) -> Option<(&str, u64)> {
        let after = self.sorted.partition_point(|(start, ..)| *start <= address);
        let (start, size, name) = self.sorted[..after].last()?;
        let distance = address - start;
        (distance < (*size).max(1)).then_some((&**name, distance))
    }
}
