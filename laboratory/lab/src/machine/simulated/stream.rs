//! Bandwidth: each core walks through its own arrays, as in STREAM.
//!
//! The measured machine has small caches, so that small arrays do not stay in them. The path to memory determines the
//! bandwidth, and does not depend on the sizes of the caches.

use super::thread::spawn;
use manycore_chip::config::Config;
use manycore_chip::{Run, Simulated, Simulation, SimulationError};
use manycore_platform::Platform;
use serde::Serialize;

/// The operation on the arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kernel {
    /// One array is read.
    Read,
    /// The triad of STREAM: `a[i] = b[i] + q * c[i]`.
    Triad,
    /// `a[i] = b[i] + c[i] * d[i]`.
    SchoenauerTriad,
}

impl Kernel {
    pub(super) const ALL: [Self; 3] = [Self::Read, Self::Triad, Self::SchoenauerTriad];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Triad => "triad",
            Self::SchoenauerTriad => "schoenauer triad",
        }
    }

    /// The numbers of read arrays and of written arrays.
    fn arrays(self) -> (usize, usize) {
        match self {
            Self::Read => (1, 0),
            Self::Triad => (2, 1),
            Self::SchoenauerTriad => (3, 1),
        }
    }
}

#[repr(align(4096))]
struct Page([u8; PAGE]);

const PAGE: usize = 4096;
/// The pages of all arrays of a core: 1.5 MB. With a quarter of these pages 96 cores of `milan-7r13x2` have a tenth
/// less bandwidth, since the time of the last core counts.
const PAGES: usize = 384;
/// The bytes of a core's L2 in this measurement, and of its share of the last cache.
const L2: u64 = 64 << 10;
const SHARE: u64 = 16 << 10;
/// The vector instructions of the loop for each line: loads, a multiply-add, a store.
const INSTRUCTIONS: u64 = 6;

/// Returns the GB/s of the first `cores` cores together, counting the bytes that the program accesses.
pub(super) fn measure(
    config: &Config,
    kernel: Kernel,
    cores: usize,
) -> Result<Run<f64>, SimulationError> {
    let config = with_small_caches(config);
    let start = 2 * cores as u64 * config.os.spawn + 40_000_000;
    Simulation::new(&config).run(|| {
        let team: Vec<_> = (0..cores)
            .map(|core| {
                let line = config.line as usize;
                spawn(core, move || walk(kernel, line, start))
            })
            .collect();
        let walks: Vec<(usize, u64)> = team.into_iter().map(|task| task.join()).collect();
        let bytes: usize = walks.iter().map(|walk| walk.0).sum();
        let last = walks.iter().map(|walk| walk.1).max().unwrap_or(1);
        bytes as f64 / last as f64 * config.ghz
    })
}

/// Writes all arrays, waits for `start`, and then walks through the arrays. Returns the bytes that were accessed since
/// `start`, and the cycles that this took.
fn walk(kernel: Kernel, line: usize, start: u64) -> (usize, u64) {
    let (read, written) = kernel.arrays();
    let pages = PAGES / (read + written);
    let array = || -> Vec<Page> { (0..pages).map(|_| Page([0; PAGE])).collect() };
    let mut arrays: Vec<Vec<Page>> = (0..read + written).map(|_| array()).collect();
    for page in arrays.iter_mut().flatten() {
        Simulated::write(&mut page.0);
    }
    if written == 0 {
        // After these reads no modified line is left to be written back.
        for page in arrays.iter().flatten() {
            Simulated::read(&page.0);
        }
    }
    while Simulated::now() < start {
        Simulated::compute(1_000);
    }
    for page in 0..pages {
        for at in (0..PAGE).step_by(line) {
            for array in &arrays[..read] {
                Simulated::read(&array[page].0[at..at + line]);
            }
            for array in &mut arrays[read..] {
                Simulated::write(&mut array[page].0[at..at + line]);
            }
            Simulated::compute(INSTRUCTIONS);
        }
    }
    let bytes = pages * PAGE * (read + written);
    (bytes, Simulated::now() - start)
}

fn with_small_caches(config: &Config) -> Config {
    let mut config = config.clone();
    let line = u64::from(config.line);
    let whole = |size: u64, ways: u32| {
        let set = line * u64::from(ways);
        (size / set).max(1) * set
    };
    if let Some(l2) = &mut config.l2 {
        l2.size = l2.size.min(whole(L2, l2.ways));
    }
    if let Some(llc) = &mut config.llc {
        let share = SHARE * u64::from(config.group_cores);
        llc.size = llc.size.min(whole(share, llc.ways));
    }
    config
}
