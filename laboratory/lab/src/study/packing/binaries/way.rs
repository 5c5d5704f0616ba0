//! The ways to run a compiled program of T threads on C cores.

use crate::failure::bad_input;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// The three ways of the poster (`packing/mod.rs`), and other runtimes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::study::packing) enum Way {
    /// Thread reduction: as many threads as cores, each bound to its own core.
    Tr,
    /// Thread packing: all threads under a mask of the cores, with the program's own runtime unchanged.
    Tp,
    /// Thread packing in which waiting threads sleep at once.
    TpPassive,
    /// Thread packing in which each thread is bound to a core. Thread i is bound to core i modulo the cores.
    TpPinned,
    /// manycore's library, preloaded.
    Ours(PathBuf),
    /// LLVM's library in place of GCC's library, preloaded.
    Libomp(PathBuf),
}

impl Way {
    const NAMES: [&str; 6] = ["tr", "tp", "tp-passive", "tp-pinned", "ours", "libomp"];

    pub(super) fn name(&self) -> &'static str {
        Self::NAMES[match self {
            Self::Tr => 0,
            Self::Tp => 1,
            Self::TpPassive => 2,
            Self::TpPinned => 3,
            Self::Ours(_) => 4,
            Self::Libomp(_) => 5,
        }]
    }

    /// The library that is preloaded.
    pub(super) fn library(&self) -> Option<&Path> {
        match self {
            Self::Ours(path) | Self::Libomp(path) => Some(path),
            Self::Tr | Self::Tp | Self::TpPassive | Self::TpPinned => None,
        }
    }

    /// The ways in `only`, or else all ways that this host has. Each is compared with thread reduction, which is always
    /// added.
    pub(super) fn asked(
        only: &[String],
        library: impl Fn() -> anyhow::Result<PathBuf>,
    ) -> anyhow::Result<Vec<Self>> {
        let mut ways = vec![Self::Tr];
        let all = Self::NAMES.map(String::from);
        for name in if only.is_empty() { &all[..] } else { only } {
            let way = match &**name {
                "tr" => Self::Tr,
                "tp" => Self::Tp,
                "tp-passive" => Self::TpPassive,
                "tp-pinned" => Self::TpPinned,
                "ours" => Self::Ours(library()?),
                "libomp" => match libomp() {
                    Some(path) => Self::Libomp(path),
                    None if only.is_empty() => continue,
                    None => {
                        return Err(bad_input(
                            "--only libomp: no libomp.so.5 in /usr/lib; expected LLVM's OpenMP \
                             library (apt-get install libomp5)",
                        ));
                    }
                },
                other => {
                    return Err(bad_input(format!(
                        "--only: unknown way `{other}`; expected some of {}",
                        Self::NAMES.join(", ")
                    )));
                }
            };
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        Ok(ways)
    }

    pub(super) fn threads(&self, threads: usize, cores: usize) -> usize {
        match self {
            Self::Tr => threads.min(cores),
            _ => threads,
        }
    }

    /// The environment variables of a program on these CPUs.
    pub(super) fn variables(&self, cpus: &[usize]) -> Vec<(&'static str, String)> {
        let cpus: Vec<String> = cpus.iter().map(usize::to_string).collect();
        match self {
            Self::Tp => vec![],
            Self::Tr | Self::TpPinned => vec![("GOMP_CPU_AFFINITY", cpus.join(" "))],
            Self::TpPassive => vec![("OMP_WAIT_POLICY", "passive".into())],
            Self::Ours(library) | Self::Libomp(library) => vec![
                ("LD_PRELOAD", library.display().to_string()),
                ("OMP_DISPLAY_ENV", "verbose".into()),
            ],
        }
    }

    /// The text in the program's output that shows that the way took effect.
    pub(super) fn sign(&self) -> Option<&'static str> {
        match self {
            Self::Ours(_) => Some("MANYCORE_VERSION"),
            Self::Libomp(_) => Some("KMP_"),
            _ => None,
        }
    }
}

/// LLVM's OpenMP library in the folders of the packages of Debian, Fedora and LLVM, the newest first.
fn libomp() -> Option<PathBuf> {
    let machine = std::env::consts::ARCH;
    let plain = [
        format!("/usr/lib/{machine}-linux-gnu/libomp.so.5"),
        "/usr/lib64/libomp.so".into(),
    ];
    let llvm = (11..=30).rev();
    let llvm = llvm.map(|version| format!("/usr/lib/llvm-{version}/lib/libomp.so.5"));
    let mut paths = plain.into_iter().chain(llvm).map(PathBuf::from);
    paths.find(|path| path.exists())
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
