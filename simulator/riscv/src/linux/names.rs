//! Where an address is, for a message: the program's symbols, and the lines of its source.

use crate::elf::Symbols;
use crate::memory::Space;
use crate::source::Sources;
use std::rc::Rc;

/// The names that the program's files give to addresses.
#[derive(Clone, Default)]
pub(crate) struct Names {
    /// Copied when a process adds to what another one has too.
    symbols: Rc<Symbols>,
    sources: Sources,
}

impl Names {
    /// Adds the names of a file that lies at `base`.
    pub(super) fn add(&mut self, file: &Rc<[u8]>, base: u64) {
        Rc::make_mut(&mut self.symbols).add(file, base);
        self.sources.add(file, base);
    }

    /// An address by symbol, or by what is mapped there; and the line of the source.
    pub(super) fn describe(&self, space: &Space, address: u64) -> String {
        let region = || match space.region(address) {
            Some((start, region)) if !region.name.is_empty() => {
                Some(format!("{}+{:#x}", region.name, address - start))
            }
            _ => None,
        };
        let place = self.symbols.find(address).or_else(region);
        let parts: Vec<String> = place
            .into_iter()
            .chain(self.sources.find(address))
            .collect();
        match &*parts {
            [] => format!("{address:#x}"),
            parts => format!("{address:#x} ({})", parts.join(", ")),
        }
    }

    /// What is in the line at an address: its symbols, or where it is.
    pub(crate) fn describe_line(&self, space: &Space, address: u64) -> String {
        let mut names: Vec<String> = (address..address + 64)
            .step_by(4)
            .filter_map(|at| self.symbols.find(at))
            .collect();
        names.dedup_by_key(|name| name.split('+').next().map(str::to_owned));
        if names.is_empty() {
            self.describe(space, address)
        } else {
            names.join(", ")
        }
    }

    /// The place of a thread, and its caller if the return address lies in another function.
    pub(super) fn describe_place(&self, space: &Space, pc: u64, back: u64) -> String {
        // The call itself lies before the address that it returns to.
        let call = back.wrapping_sub(2);
        let [here, caller] = [pc, call].map(|at| self.symbols.around(at).map(|(name, _)| name));
        let mut text = self.describe(space, pc);
        if caller.is_some() && caller != here {
            text += &format!(", called from {}", self.describe(space, call));
        }
        text
    }
}
