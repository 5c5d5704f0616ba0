//! The names of a program's objects, such as locks and barriers.

use std::collections::BTreeMap;

/// The number of an interned name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name(u32);

impl Name {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The names of one run. Equal names have one number.
#[derive(Debug, Default)]
pub(crate) struct Names {
    numbers: BTreeMap<String, Name>,
    texts: Vec<String>,
}

impl Names {
    pub(crate) fn intern(&mut self, text: &str) -> Name {
        if let Some(name) = self.numbers.get(text) {
            return *name;
        }
        let name = Name(u32::try_from(self.texts.len()).expect("fewer than 2^32 names"));
        self.numbers.insert(text.into(), name);
        self.texts.push(text.into());
        name
    }

    pub(crate) fn text(&self, name: Name) -> &str {
        &self.texts[name.index()]
    }

    /// All names, in the order in which they were interned.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(String::as_str)
    }
}
