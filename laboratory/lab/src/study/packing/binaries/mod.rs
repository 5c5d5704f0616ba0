//! The experiment of the poster (`packing/mod.rs` names it) with the user's compiled OpenMP programs, on this host.

mod answer;
mod case;
mod way;

use super::config::cores;
use super::keys;
use crate::failure::bad_input;
use crate::measure::journal::fingerprint_of;
use crate::study::Request;
use crate::study::compared::Compared;
use crate::study::settings::bounded;
use crate::study::trial::{Answer, Setup, Text, Trials};
use answer::{BinariesResults, BinaryRow};
use case::BinaryCase;
use manycore::topology::Topology;
use regex_lite::Regex;
use serde::Serialize;
use std::path::{Path, PathBuf};
use way::Way;

pub(super) const TEXT: Text = Text {
    title: "Thread packing of compiled programs",
    lead: "A compiled OpenMP program that was started with some number of threads may be given fewer \
     cores. The ways to run it are: tr, a start with as many threads as cores; tp, with all threads, \
     which the system places, and the program's own runtime; tp-passive, the same, but waiting threads \
     sleep at once; tp-pinned, with each thread bound to a core; ours, with manycore's library \
     preloaded; libomp, with LLVM's library preloaded.",
    how: &[
        "Each program runs unchanged, without arguments, in its folder, on the first C CPUs of this \
         machine. Each round runs all cases in shuffled order, so that all meet the same disturbance. \
         The time is from a program's start to its end. A result is right if the program writes what \
         `--set says` asks for. Runs without a right result have no time.",
    ],
};

/// The text by which the NAS parallel benchmarks report a right result.
const SAYS: &str = r"\bSUCCESSFUL";
/// Seconds after which a run is ended.
const LIMIT: u64 = 60;
/// The file name of manycore's OpenMP library.
const LIBRARY: &str = "libmanycore_gomp.so";
/// The path of the library in the Debian package.
const PACKAGED: &str = "/usr/lib/libmanycore-gomp/libgomp-manycore.so";

/// Everything that decides what is measured. Its hash names the journal (the file of measurements).
#[derive(Clone, Debug, Serialize)]
pub(super) struct BinariesConfig {
    #[serde(flatten)]
    setup: Setup,
    programs: Vec<PathBuf>,
    ways: Vec<Way>,
    /// The fingerprints of the programs, and of the libraries.
    fingerprints: Vec<String>,
    threads: Vec<usize>,
    cores: Vec<usize>,
    says: String,
    limit: u64,
}

impl BinariesConfig {
    pub(super) fn new(request: &Request) -> anyhow::Result<Self> {
        let setup = Setup::new("packing", request)?;
        let set = &request.settings;
        if !setup.machines.is_host() || !cfg!(target_os = "linux") {
            return Err(bad_input(
                "--set programs=openmp: compiled programs run only on this host, under Linux; \
                 expected --on native",
            ));
        }
        let others = keys::OF_OTHERS.into_iter();
        if let Some(key) = others.clone().find(|key| set.text(key).is_some()) {
            return Err(bad_input(format!(
                "--set {key}: it does not apply to compiled programs; expected some of threads, {}, runs, \
                 seconds",
                keys::OF_BINARIES.join(", ")
            )));
        }
        let cpus = Topology::detect().usable().len();
        let threads = match set.numbers("threads") {
            Some(threads) => threads.into_iter().map(|count| count as usize).collect(),
            None => vec![cpus, cpus + 1],
        };
        let says = set.text("says").unwrap_or(SAYS);
        Regex::new(says).map_err(|error| {
            bad_input(format!(
                "--set says={says}: {error}; expected a regular expression"
            ))
        })?;
        let programs = programs(set.text("binaries"))?;
        let ways = Way::asked(&request.only, || library(set.text("library")))?;
        let libraries = ways.iter().filter_map(Way::library);
        let config = Self {
            fingerprints: (programs.iter().map(PathBuf::as_path).chain(libraries))
                .map(fingerprint)
                .collect::<anyhow::Result<_>>()?,
            programs,
            ways,
            cores: cores(request, cpus, cpus)?,
            says: says.to_owned(),
            limit: set.number("limit")?.unwrap_or(LIMIT),
            threads,
            setup,
        };
        let (programs, ways) = (config.programs.len(), config.ways.len());
        bounded(&[config.threads.len(), config.cores.len(), programs, ways])?;
        Ok(config)
    }

    fn cores_of(&self, threads: usize) -> Vec<usize> {
        let cores = self.cores.iter().copied();
        cores.filter(|&cores| cores <= threads).collect()
    }

    fn case(&self, program: &Path, threads: usize, cores: usize, way: &Way) -> BinaryCase {
        BinaryCase {
            program: program.to_owned(),
            threads,
            cores,
            way: way.clone(),
            says: self.says.clone(),
            limit: self.limit,
        }
    }

    fn cases(&self) -> Vec<BinaryCase> {
        let mut cases = Vec::new();
        for &threads in &self.threads {
            for cores in self.cores_of(threads) {
                for program in &self.programs {
                    let ways = self.ways.iter();
                    cases.extend(ways.map(|way| self.case(program, threads, cores, way)));
                }
            }
        }
        cases
    }
}

impl Trials for BinariesConfig {
    type Trial = BinaryCase;
    type Row = BinaryRow;

    fn setup(&self) -> &Setup {
        &self.setup
    }

    fn trials(&self) -> Vec<BinaryCase> {
        self.cases()
    }

    fn answer(results: BinariesResults<'_>) -> anyhow::Result<Answer<BinaryRow>> {
        Ok(results.found())
    }

    fn compared(results: BinariesResults<'_>) -> Option<Compared> {
        let threads = results.config.threads.first()?;
        Some(results.compared(*threads))
    }
}

/// The executable files in a folder, in order of their names.
fn programs(folder: Option<&str>) -> anyhow::Result<Vec<PathBuf>> {
    let Some(folder) = folder else {
        return Err(bad_input(
            "--set programs=openmp: expected --set binaries=FOLDER, the folder of your programs",
        ));
    };
    let wrong = |error: &dyn std::fmt::Display| {
        bad_input(format!(
            "--set binaries={folder}: {error}; expected a folder with compiled programs"
        ))
    };
    let folder_of = std::fs::canonicalize(folder).map_err(|error| wrong(&error))?;
    let entries = std::fs::read_dir(&folder_of).map_err(|error| wrong(&error))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut programs: Vec<PathBuf> = paths.filter(|path| is_program(path)).collect();
    programs.sort();
    if programs.is_empty() {
        return Err(wrong(&"it has no file that can be executed"));
    }
    Ok(programs)
}

fn fingerprint(path: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(path)
        .map_err(|error| bad_input(format!("cannot read {}: {error}", path.display())))?;
    Ok(fingerprint_of(&bytes))
}

/// Whether a file is executable, and not a library.
fn is_program(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let metadata = path.metadata();
        let executable =
            metadata.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
        executable && !name.contains(".so")
    }
    #[cfg(not(unix))]
    {
        path.is_file()
    }
}

/// The path of manycore's library: the user's path, else the file in this command's folder, else the file of the Debian
/// package.
fn library(named: Option<&str>) -> anyhow::Result<PathBuf> {
    let path = match named {
        Some(path) => PathBuf::from(path),
        None => {
            let beside = std::env::current_exe()?.with_file_name(LIBRARY);
            match Path::new(PACKAGED).is_file() && !beside.is_file() {
                true => PathBuf::from(PACKAGED),
                false => beside,
            }
        }
    };
    std::fs::canonicalize(&path).map_err(|error| {
        bad_input(format!(
            "--set library={}: {error}; expected {LIBRARY} (cargo build --release -p \
             manycore-openmp, or the package libmanycore-gomp), or --only without `ours`",
            path.display()
        ))
    })
}
