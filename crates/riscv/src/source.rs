//! Lines of the program's source by address, from debug information (DWARF) if it is there.

use crate::elf;
use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, LittleEndian};
use std::rc::Rc;

/// The files that have debug information, and where each was loaded.
#[derive(Default)]
pub(crate) struct Sources {
    files: Vec<(Rc<[u8]>, u64)>,
}

impl Sources {
    /// Adds a program or a library that was loaded at `base`, if it has debug information.
    pub(crate) fn add(&mut self, bytes: &Rc<[u8]>, base: u64) {
        if elf::section(bytes, ".debug_line").is_some() {
            self.files.push((Rc::clone(bytes), base));
        }
    }

    /// File and line of the code at `address`. Debug information that is damaged has none.
    pub(crate) fn find(&self, address: u64) -> Option<String> {
        let mut files = self.files.iter();
        files.find_map(|(bytes, base)| line(bytes, address.wrapping_sub(*base)))
    }
}

/// Reads a file's debug information anew: only a run that fails asks, and once.
fn line(bytes: &[u8], address: u64) -> Option<String> {
    let section = |id: addr2line::gimli::SectionId| {
        let content = elf::section(bytes, id.name()).unwrap_or_default();
        Ok::<_, addr2line::gimli::Error>(EndianSlice::new(content, LittleEndian))
    };
    let context = Context::from_dwarf(Dwarf::load(section).ok()?).ok()?;
    let location = context.find_location(address).ok()??;
    Some(format!("{}:{}", location.file?, location.line?))
}
