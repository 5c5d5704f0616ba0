//! How a program that was written for so many threads runs on fewer cores.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How threads are put on cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mode {
    /// Thread reduction: started with as many threads as cores, each bound to its own.
    Tr,
    /// Thread packing: all threads under a mask of the cores; the system balances.
    Tp,
    /// The same, each thread bound to one of the cores, in turns.
    TpPinned,
    /// Parallel loops on a pool that follows its cores.
    Elastic,
    /// All ranks, of user level, on workers that follow their cores.
    Wrap,
}

impl Mode {
    pub(super) const ALL: [Self; 5] = [
        Self::Tr,
        Self::Tp,
        Self::TpPinned,
        Self::Elastic,
        Self::Wrap,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tr => "tr",
            Self::Tp => "tp",
            Self::TpPinned => "tp-pinned",
            Self::Elastic => "elastic",
            Self::Wrap => "wrap",
        }
    }

    /// Ranks of a program of `threads` on `cores`.
    pub(super) fn ranks(self, threads: usize, cores: usize) -> usize {
        match self {
            Self::Tr => threads.min(cores),
            Self::Tp | Self::TpPinned | Self::Elastic | Self::Wrap => threads,
        }
    }

    /// Where a rank's thread may run while the program has `cores`.
    pub(super) fn cpus(self, rank: usize, cores: &[usize]) -> &[usize] {
        match self {
            Self::Tp | Self::Elastic | Self::Wrap => cores,
            Self::Tr | Self::TpPinned => std::slice::from_ref(&cores[rank % cores.len()]),
        }
    }

    /// Whether it can be given other cores while it runs.
    pub(super) fn follows(self) -> bool {
        self != Self::Tr
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        all.find(|one| one.name() == name).ok_or_else(|| {
            let all = Self::ALL.map(Self::name).join(", ");
            format!("unknown mode `{name}`; expected some of {all}")
        })
    }
}
