//! `manycore machine`.

use crate::cli::{MachineArgs, counts};
use crate::failure::bad_input;
use crate::machine::{self, MachineOptions, MachineReport, simulated};
use crate::measure::progress::Spinner;
use crate::world::World;

pub(crate) fn run(args: &MachineArgs) -> anyhow::Result<()> {
    let threads = counts("--threads", &args.threads)?;
    let threads: Vec<usize> = threads.into_iter().map(usize::from).collect();
    match World::new(&args.on, &args.set, &[])? {
        (World::Simulated(config), _) => {
            let spinner = Spinner::new("machine");
            let report = simulated::measure(&config, &threads, &mut |what| spinner.show(what))?;
            super::show(&report, args.format)
        }
        (World::Native, set) => {
            if let Some(pair) = set.first() {
                return Err(bad_input(format!(
                    "--set {pair}: this host cannot be changed; expected --on with a simulated \
                     machine"
                )));
            }
            let effort = match args.full {
                true => MachineOptions::full(),
                false => MachineOptions::quick(),
            };
            super::show(&measure(&MachineOptions { threads, ..effort }), args.format)
        }
    }
}

/// Measures the machine while a line on the terminal says what is being done.
pub(super) fn measure(options: &MachineOptions) -> MachineReport {
    let spinner = Spinner::new("machine");
    machine::measure(options, &mut |what| spinner.show(what))
}
