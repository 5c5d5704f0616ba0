//! `manycore machine`.

use crate::cli::MachineArgs;
use crate::machine::{self, MachineOptions, MachineReport};
use crate::measure::progress::Spinner;

pub(crate) fn run(args: &MachineArgs) -> anyhow::Result<()> {
    let mut options = match args.full {
        true => MachineOptions::full(),
        false => MachineOptions::quick(),
    };
    options.threads = args.threads.iter().map(|count| count.get()).collect();
    super::show(&measure(&options), args.format)
}

/// Measures the machine while a line on the terminal says what is being done.
pub(super) fn measure(options: &MachineOptions) -> MachineReport {
    let spinner = Spinner::new("machine");
    machine::measure(options, &mut |what| spinner.show(what))
}
