//! Finds the source lines of addresses, from the program's debug information (DWARF), if there is any.

use crate::elf;
use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, LittleEndian};
use std::rc::Rc;

/// The files that have debug information, and the address where each was loaded.
#[derive(Clone, Default)]
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

    /// File and line of the code at `address`. Damaged debug information may give `None` or a wrong line.
    pub(crate) fn find(&self, address: u64) -> Option<String> {
        let mut files = self.files.iter();
        files.find_map(|(bytes, base)| line(bytes, address.wrapping_sub(*base)))
    }
}

impl Sources {
    /// Like [`find`](Self::find), but leaves out inlined code from headers of the system. Also returns the name of the
    /// function, if it is known.
    pub(crate) fn find_own(&self, address: u64) -> Option<(String, Option<String>)> {
        let mut files = self.files.iter();
        files.find_map(|(bytes, base)| own_line(bytes, address.wrapping_sub(*base)))
    }
}

/// Reads the debug information of a file.
fn context(bytes: &[u8]) -> Option<Context<EndianSlice<'_, LittleEndian>>> {
    let section = |id: addr2line::gimli::SectionId| {
        let content = elf::section(bytes, id.name()).unwrap_or_default();
        Ok::<_, addr2line::gimli::Error>(EndianSlice::new(content, LittleEndian))
    };
    Context::from_dwarf(Dwarf::load(section).ok()?).ok()
}

/// The innermost function at an address (among the functions inlined there) that is not from a header of the system. If
/// all are from such headers, the outermost function.
fn own_line(bytes: &[u8], address: u64) -> Option<(String, Option<String>)> {
    let context = context(bytes)?;
    let mut frames = context.find_frames(address).skip_all_loads().ok()?;
    let mut last = None;
    while let Ok(Some(frame)) = frames.next() {
        let Some((file, line)) = frame.location.and_then(|at| Some((at.file?, at.line?))) else {
            continue;
        };
        let function = frame
            .function
            .and_then(|it| Some(it.demangle().ok()?.into_owned()));
        let is_systems = SYSTEMS.iter().any(|folder| file.starts_with(folder));
        last = Some((format!("{file}:{line}"), function));
        if !is_systems {
            break;
        }
    }
    last
}

/// Folders of the headers of compilers and libraries.
const SYSTEMS: [&str; 2] = ["/usr/", "/build/"];

/// Finds the line of an address. Reads the file's debug information each time, since only a failed run needs a line,
/// and needs it once.
fn line(bytes: &[u8], address: u64) -> Option<String> {
    let context = context(bytes)?;
    let location = context.find_location(address).ok()??;
    Some(format!("{}:{}", location.file?, location.line?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file of this test program, and the address where it is loaded.
    fn own() -> (Vec<u8>, u64) {
        let path = std::env::current_exe().expect("this program has a file");
        let maps = std::fs::read_to_string("/proc/self/maps").expect("the host is Linux");
        let first = maps
            .lines()
            .find(|line| line.ends_with(&*path.to_string_lossy()))
            .expect("its file is mapped");
        let (base, _) = first.split_once('-').expect("a range");
        let base = u64::from_str_radix(base, 16).expect("an address");
        (std::fs::read(path).expect("it can be read"), base)
    }

    const MARK: u32 = line!();
    #[inline(never)]
    fn marker(value: u32) -> u32 {
        value ^ MARK
    }

    fn address() -> u64 {
        marker as fn(u32) -> u32 as usize as u64
    }

    #[test]
    fn a_function_is_found_where_its_source_is() {
        let (bytes, base) = own();
        let mut sources = Sources::default();
        // A file without debug information is skipped.
        sources.add(&b"\x7fELF".as_slice().into(), 0);
        sources.add(&bytes.into(), base);
        let found = sources.find(address()).expect("tests have line tables");
        let (file, line) = found.rsplit_once(':').expect("a file and a line");
        assert!(file.ends_with("source.rs"), "{found}");
        let line: u32 = line.parse().expect("a number");
        assert!((MARK + 2..=MARK + 4).contains(&line), "{found}");
        assert_eq!(sources.find(8), None);
        assert_eq!(marker(MARK), 0);
    }

    #[test]
    fn damaged_debug_information_causes_no_panic() {
        let (mut bytes, base) = own();
        let mut rng = fastrand::Rng::with_seed(9);
        let section = elf::section(&bytes, ".debug_line").expect("tests have line tables");
        let start = section.as_ptr() as usize - bytes.as_ptr() as usize;
        let range = start..start + section.len();
        for _ in 0..20 {
            for _ in 0..200 {
                bytes[rng.usize(range.clone())] = rng.u8(..);
            }
            line(&bytes, address() - base);
        }
    }
}
