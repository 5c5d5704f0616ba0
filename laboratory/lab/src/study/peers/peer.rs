//! The runtimes, with the binary and the environment of each.

use std::path::Path;

/// A runtime, with its binary.
pub(super) struct Peer {
    pub(super) name: &'static str,
    /// The name of the binary in the folder of all binaries.
    file: &'static str,
    /// Variables of the program's environment.
    pub(super) environment: &'static [(&'static str, &'static str)],
    /// A library in the same folder that is loaded before all others.
    preload: Option<&'static str>,
    pub(super) libraries: Libraries,
    /// Whether the peer differs from another peer only in its loops.
    varies_loops: bool,
}

/// Where a binary's shared libraries are.
pub(super) enum Libraries {
    /// The binary is linked statically.
    None,
    /// In the folder of the setting `root`.
    Root,
    /// In the folder [`SYSROOT`] beside the binaries.
    Sysroot,
}

/// The folder with LLVM's OpenMP runtime and oneTBB, which `ci/guests.sh` makes.
pub(super) const SYSROOT: &str = "sysroot";

impl Peer {
    const fn new(name: &'static str, file: &'static str) -> Self {
        Self {
            name,
            file,
            environment: &[],
            preload: None,
            libraries: Libraries::None,
            varies_loops: false,
        }
    }

    /// A variant of the same binary. The environment changes how its loops run.
    const fn with(self, environment: &'static [(&'static str, &'static str)]) -> Self {
        Self {
            environment,
            varies_loops: true,
            ..self
        }
    }

    /// A binary with libraries of the sysroot.
    const fn in_sysroot(self) -> Self {
        Self {
            libraries: Libraries::Sysroot,
            ..self
        }
    }

    /// Whether to measure `program`. Variants that differ only in loops leave out recursive programs. Only OpenMP runs
    /// the programs of [`TEAMS`].
    pub(super) fn runs(&self, program: &str) -> bool {
        let recursive = ["fib", "tree", "quicksort", "mergesort", "tasks", "nested"];
        let has_tasks = recursive.iter().any(|stem| program.starts_with(stem));
        let has_teams = TEAMS.contains(&program);
        let is_openmp = OPENMP.contains(&self.file);
        (!self.varies_loops || !has_tasks) && (!has_teams || is_openmp)
    }

    /// The files that the peer needs.
    pub(super) fn files(&self, folder: &str) -> Vec<String> {
        let files = [Some(self.file), self.preload];
        let path = |file| Path::new(folder).join(file).display().to_string();
        files.into_iter().flatten().map(path).collect()
    }

    /// Whether the runtime is manycore or a variant of it.
    pub(super) fn is_ours(name: &str) -> bool {
        name.starts_with(OURS)
    }

    /// Whether the runtime is a peer: neither manycore, nor a variant of it, nor serial.
    pub(super) fn is_peer(name: &str) -> bool {
        !Self::is_ours(name) && name != SERIAL
    }

    /// Returns the peers of a figure's panel, from a list that begins with the fastest. A runtime counts once, with its
    /// fastest variant.
    pub(super) fn shown<'a>(
        ranked: impl IntoIterator<Item = (&'a str, f64)>,
    ) -> Vec<(&'a str, f64)> {
        let runtime = |name: &'a str| name.split('-').next();
        let mut shown: Vec<(&str, f64)> = Vec::new();
        for (name, speedup) in ranked {
            let is_new = |known: &(&'a str, f64)| runtime(known.0) != runtime(name);
            if shown.len() < SHOWN && shown.iter().all(is_new) {
                shown.push((name, speedup));
            }
        }
        shown
    }
}

/// The number of peers in a panel, in addition to manycore.
const SHOWN: usize = 3;

/// The runtime of this repository. Its time is the numerator of each ratio.
pub(super) const OURS: &str = "manycore";

/// One thread without a runtime, the base of speedups.
pub(super) const SERIAL: &str = "serial";

/// The binaries of OpenMP programs.
const OPENMP: [&str; 3] = ["openmp", "openmp-shared", "libomp"];

/// Programs that an OpenMP team executes together.
pub(super) const TEAMS: [&str; 3] = ["region", "barrier", "reduction"];

/// The peer that some tables compare with by name.
pub(super) const RAYON: &str = "rayon";

/// Loops that threads claim in blocks of four iterations.
const DYNAMIC: (&str, &str) = ("OMP_SCHEDULE", "dynamic,4");

/// All runtimes, in the order of the tables.
pub(super) const PEERS: [Peer; 15] = [
    Peer::new(SERIAL, "serial"),
    Peer::new(OURS, "manycore"),
    Peer::new("manycore-rayon", "manycore-rayon"),
    Peer {
        preload: Some("libmanycore_gomp.so"),
        libraries: Libraries::Root,
        ..Peer::new("manycore-gomp", "openmp-shared")
    },
    Peer::new(RAYON, "rayon"),
    Peer::new("chili", "chili"),
    Peer::new("forte", "forte"),
    Peer::new("paralight", "paralight"),
    Peer::new("orx", "orx"),
    Peer::new("gomp-static", "openmp"),
    Peer::new("gomp-dynamic", "openmp").with(&[DYNAMIC]),
    Peer::new("gomp-active", "openmp").with(&[("OMP_WAIT_POLICY", "active")]),
    Peer::new("libomp", "libomp").in_sysroot(),
    Peer::new("libomp-dynamic", "libomp")
        .in_sysroot()
        .with(&[DYNAMIC]),
    Peer::new("tbb", "tbb").in_sysroot(),
];

/// Returns the peer with this name.
pub(super) fn find(name: &str) -> Result<&'static Peer, String> {
    let found = PEERS.iter().find(|peer| peer.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = PEERS.iter().map(|peer| peer.name).collect();
        format!(
            "unknown peer `{name}`; expected some of {}",
            names.join(", ")
        )
    })
}
