//! Names of addresses for messages: the program's symbols, and the lines of its source.

use crate::elf::Symbols;
use crate::hart::{Allocator, HeapBlock as Block};
use crate::memory::Space;
use crate::source::Sources;
use std::rc::Rc;

/// The names that the program's files give to addresses.
#[derive(Clone, Default)]
pub(crate) struct Names {
    /// Processes share the symbols. A process that adds a file's symbols first copies the shared symbols.
    symbols: Rc<Symbols>,
    sources: Sources,
    /// The program's allocators, each with its first address.
    allocators: Rc<[(u64, Allocator)]>,
}

impl Names {
    /// Adds the names of a file that is mapped at `base`.
    pub(super) fn add(&mut self, file: &Rc<[u8]>, base: u64) {
        Rc::make_mut(&mut self.symbols).add(file, base);
        self.sources.add(file, base);
        let mut allocators: Vec<_> = self.symbols.named(Allocator::named).collect();
        allocators.dedup_by_key(|(start, _)| *start);
        self.allocators = allocators.into();
    }

    pub(super) fn allocators(&self) -> &[(u64, Allocator)] {
        &self.allocators
    }

    /// Describes the code that asked for a block of the heap. `back` is the address to which the allocator returned.
    fn describe_caller(&self, back: u64) -> String {
        // The call instruction is before its return address.
        let call = back.wrapping_sub(2);
        let name = self.symbols.around(call).map(|(name, _)| name.to_owned());
        match (self.sources.find_own(call), name) {
            (Some((line, Some(function))), _) => format!("{line} ({function})"),
            (Some((line, None)), Some(name)) => format!("{line} ({name})"),
            (Some((line, None)), None) => line,
            (None, Some(name)) => name,
            (None, None) => format!("{call:#x}"),
        }
    }

    /// Describes the heap blocks in the cache line at `address` by the code that asked for them. Describes a single
    /// block also by its size and by the line's place in the block.
    pub(crate) fn describe_heap(&self, address: u64, blocks: &[Block]) -> Option<String> {
        let first = blocks.first()?;
        let mut callers: Vec<String> = Vec::new();
        for block in blocks {
            let caller = self.describe_caller(block.back);
            if !callers.contains(&caller) {
                callers.push(caller);
            }
        }
        let callers = callers.join(", ");
        Some(match blocks {
            [_] => {
                let at = address.saturating_sub(first.start);
                format!("heap of {callers}, +{at:#x} of {} bytes", first.bytes)
            }
            _ => format!("heap of {callers}, {} blocks", blocks.len()),
        })
    }

    /// Describes an address by its symbol (or by its mapping if it has no symbol) and by its source line.
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

    /// Describes the cache line at an address by its symbols. Without symbols, describes it by the address.
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

    /// Describes a thread's place. If the return address is in another function, describes the caller too.
    pub(super) fn describe_place(&self, space: &Space, pc: u64, back: u64) -> String {
        // The call instruction is before its return address.
        let call = back.wrapping_sub(2);
        let [here, caller] = [pc, call].map(|at| self.symbols.around(at).map(|(name, _)| name));
        let mut text = self.describe(space, pc);
        if caller.is_some() && caller != here {
            text += &format!(", called from {}", self.describe(space, call));
        }
        text
    }
}

/// The most letters of a message about a program.
const LETTERS: usize = 200;

/// Cuts a message to [`LETTERS`] letters, since C++ names and paths may be longer.
pub(super) fn short(text: String) -> String {
    if text.chars().count() <= LETTERS {
        return text;
    }
    text.chars()
        .take(LETTERS - 3)
        .chain("...".chars())
        .collect()
}
