//! The study's checked settings, with their defaults: the machines and loops that it draws.

use super::case::{DrawnLoop, InputsCase};
use super::virtual_machine::VirtualMachine;
use crate::failure::bad_input;
use crate::study::Request;
use crate::study::settings::bounded;
use crate::study::trial::Setup;
use serde::Serialize;
use std::num::NonZeroUsize;

/// Iterations of the loops in the document (Shuai's paper).
const N: u64 = 4096;
const MACHINES: u64 = 24;
const FULL_MACHINES: u64 = 200;
const LOOPS: u64 = 3;

/// Binary logarithms of the bytes that an iteration reads or writes.
const BYTES: std::ops::RangeInclusive<u32> = 6..=12;
/// Binary logarithms of the blocks.
const BLOCKS: std::ops::Range<u32> = 0..10;

/// Everything that decides what is measured. Its hash names the journal (the file of measurements).
#[derive(Clone, Debug, Serialize)]
pub(super) struct InputsConfig {
    #[serde(flatten)]
    pub(super) setup: Setup,
    machines: Vec<VirtualMachine>,
    /// The loops of each machine.
    loops: Vec<Vec<DrawnLoop>>,
}

impl InputsConfig {
    pub(super) fn new(request: &Request) -> anyhow::Result<Self> {
        let setup = Setup::new("cost-inputs", request)?;
        let Some(base) = setup.chip() else {
            return Err(bad_input(
                "--on native: this study varies the machine; expected --on PRESET",
            ));
        };
        if let Some(name) = request.only.first() {
            return Err(bad_input(format!(
                "--only {name}: this study always compares all models; expected no --only"
            )));
        }
        let set = &request.settings;
        let wanted = |key, quick, full| {
            let wanted = set.number(key)?;
            anyhow::Ok(wanted.unwrap_or(if request.full { full } else { quick }))
        };
        let n = wanted("n", N, N)? as usize;
        let (mut machines, mut loops) = (Vec::new(), Vec::new());
        for number in 0..wanted("machines", MACHINES, FULL_MACHINES)? as usize {
            let mut random = fastrand::Rng::with_seed(setup.seed ^ ((number as u64) << 32));
            let machine = VirtualMachine::draw(number, &mut random);
            machine.build(&base.0)?;
            let all = wanted("loops", LOOPS, LOOPS)? as usize;
            loops.push(
                (0..all)
                    .map(|at| draw(at, n, &machine, &mut random))
                    .collect(),
            );
            machines.push(machine);
        }
        let config = Self {
            setup,
            machines,
            loops,
        };
        bounded(&[config.cases().len()])?;
        Ok(config)
    }

    /// Each loop of each machine.
    pub(super) fn loops(&self) -> impl Iterator<Item = (&VirtualMachine, DrawnLoop)> {
        let all = self.machines.iter().zip(&self.loops);
        all.flat_map(|(machine, loops)| loops.iter().map(move |&of| (machine, of)))
    }

    /// The measurement of a machine's prices, or of a loop.
    pub(super) fn case(
        &self,
        machine: &VirtualMachine,
        run: Option<(DrawnLoop, NonZeroUsize)>,
    ) -> InputsCase {
        InputsCase {
            machine: machine.clone(),
            run,
            seed: self.setup.seed,
        }
    }

    pub(super) fn cases(&self) -> Vec<InputsCase> {
        let prices = self.machines.iter().map(|machine| self.case(machine, None));
        let loops = self.loops().flat_map(|(machine, of)| {
            blocks(&of).map(move |block| self.case(machine, Some((of, block))))
        });
        prices.chain(loops).collect()
    }
}

/// The block sizes of a loop: powers of two that leave every thread a block.
pub(super) fn blocks(of: &DrawnLoop) -> impl Iterator<Item = NonZeroUsize> + use<> {
    let most = (of.n / of.threads).max(1);
    let all = BLOCKS.filter_map(|shift| NonZeroUsize::new(1 << shift));
    all.take_while(move |block| block.get() <= most)
}

/// A loop for this machine. Every number of threads from 2 on that is a power of two is equally likely.
fn draw(
    number: usize,
    n: usize,
    machine: &VirtualMachine,
    random: &mut fastrand::Rng,
) -> DrawnLoop {
    DrawnLoop {
        number,
        threads: 1 << random.u32(1..=machine.cores().ilog2()),
        read: 1 << random.u32(BYTES),
        write: 1 << random.u32(BYTES),
        n,
    }
}
