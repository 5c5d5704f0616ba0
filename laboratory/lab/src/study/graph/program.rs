//! What is done with the graph, which stays as it is but for the triangles.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One of the searches of `manycore_programs::graph`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum GraphProgram {
    BreadthFirst,
    Components,
    Triangles,
}

impl GraphProgram {
    pub(super) const ALL: [Self; 3] = [Self::BreadthFirst, Self::Components, Self::Triangles];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::BreadthFirst => "breadth-first",
            Self::Components => "components",
            Self::Triangles => "triangles",
        }
    }
}

impl fmt::Display for GraphProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for GraphProgram {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        let mut all = Self::ALL.into_iter();
        all.find(|one| one.name() == name).ok_or(())
    }
}
