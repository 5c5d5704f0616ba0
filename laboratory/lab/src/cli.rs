//! The command line.

use crate::failure::bad_input;
use crate::shard::Shard;
use crate::study;
use crate::study::order::Orders;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use manycore_figure::FigureForm;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Measures parallel programs on this machine, simulates other machines, and repeats published experiments
#[derive(Debug, Parser)]
#[command(name = "manycore", version, arg_required_else_help = false)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show this machine or a simulated machine, and the cost of its atomic operations, loop launches and wake-ups
    Machine(MachineArgs),
    /// Run a RISC-V Linux program (rv64gc) on a simulated machine, and exit with its status
    Run(RunArgs),
    /// Run a study: print its tables, and write its results to NAME.csv, NAME.svg and NAME.meta.json. A copy of each
    /// file has the name of the machine too: NAME.MACHINE.csv and so on
    Study(StudyArgs),
    /// Make one table from the journals that the shards of a sweep wrote
    Merge(MergeArgs),
    /// Draw a figure again in another form, from the SVG file that a study wrote, or draw a figure from a CSV file of
    /// the studies packing and peers
    Figure(FigureArgs),
    /// Models of the best block size of a parallel loop: fit them, print the block sizes that they choose, compare them
    /// with measurements
    #[command(subcommand, arg_required_else_help = false)]
    Model(ModelCommand),
    /// Put the machine and all studies on one HTML page
    Report(ReportArgs),
    /// List the simulated machines
    Presets(PresetsArgs),
    /// List the studies, their questions, and where they run by default
    Studies(ListArgs),
    /// Write a small program to start from: a lock and a barrier, which run on this machine and on simulated machines
    NewProgram(NewProgramArgs),
    /// Print the completions of this command for a shell
    Completions(CompletionsArgs),
    /// Write the manual: a page for each command
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[arg(long, value_enum, default_value_t = Shape::Table)]
    pub(crate) format: Shape,
}

#[derive(Debug, Args)]
pub(crate) struct PresetsArgs {
    /// With --errors: measure only these machines, and list each of their published numbers [default: measure all
    /// machines, and list only the numbers with large errors]
    #[arg(requires = "errors", value_name = "PRESET")]
    pub(crate) names: Vec<String>,
    /// Measure the simulated machines, and list how far they are from published numbers of the real machines. Takes a
    /// minute or two
    #[arg(long)]
    pub(crate) errors: bool,
    /// Print a preset's TOML with its comments. To change the machine, edit a copy and pass it
    /// as --on FILE.toml
    #[arg(long, value_name = "PRESET", conflicts_with_all = ["errors", "names", "format"])]
    pub(crate) toml: Option<String>,
    #[arg(long, value_enum, default_value_t = Shape::Table)]
    pub(crate) format: Shape,
}

#[derive(Debug, Args)]
pub(crate) struct NewProgramArgs {
    /// The name of the crate, and of its new folder in the current folder
    pub(crate) name: String,
    /// The folder with the sources of manycore. An installed command needs this flag [default: the sources that this
    /// command was built from]
    #[arg(long, value_name = "DIR")]
    pub(crate) manycore: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder for the pages; it is made if it does not exist
    #[arg(long, value_name = "DIR", default_value = "man")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct MachineArgs {
    /// The machine: native (this machine), the name of a preset (a simulated machine), or FILE.toml
    #[arg(long, value_name = "WORLD", default_value = "native")]
    pub(crate) on: String,
    /// Change a value of the simulated machine, such as cores=256. This flag may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Measure for a few seconds (the default)
    #[arg(long)]
    pub(crate) quick: bool,
    /// Measure more rounds
    #[arg(long, conflicts_with = "quick")]
    pub(crate) full: bool,
    /// Numbers of threads, such as 2,4 [default: 2, 4, 8, ... and one thread for each CPU]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count)]
    pub(crate) threads: Vec<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) instruments: InstrumentArgs,
    /// The folder for the files that --stats writes
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub(crate) out: PathBuf,
    /// Measure this machine, and write a new file that simulates it with --on FILE.toml. Each key has the measured
    /// value, and a comment with the quartiles. Takes 10 s on two cores
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["on", "set", "full", "threads", "stats", "timeline", "out", "check", "format"])]
    pub(crate) as_preset: Option<PathBuf>,
    /// Run small programs (a counter, locks, barriers, a loop, joins) on this machine and on the simulated machine, and
    /// compare their times. --as-preset uses none of these programs
    #[arg(long, value_name = "FILE.toml|PRESET", conflicts_with_all = ["on", "full", "threads", "stats", "timeline", "out"])]
    pub(crate) check: Option<String>,
    /// The form of the output. csv is possible only with --check
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The simulated machine: the name of a preset, or FILE.toml
    #[arg(long, value_name = "WORLD", default_value = "atac-64")]
    pub(crate) on: String,
    /// Change a value of the simulated machine, such as cores=256. This flag may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Run without timing: no caches, no cycles
    #[arg(long, conflicts_with_all = ["set", "timeline", "fast_forward"])]
    pub(crate) functional: bool,
    /// Execute the program without timing until its region of interest begins (mc_region_begin, m5_work_begin,
    /// m5_reset_stats), but for at most this number of instructions. Then simulate it
    #[arg(long, value_name = "INSTRUCTIONS", num_args = 0..=1, require_equals = true,
        default_missing_value = "18446744073709551615", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) fast_forward: Option<u64>,
    /// The folder with the program's libraries, such as /usr/riscv64-linux-gnu. An absolute path of the program is
    /// looked up in this folder first
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Add a variable to the environment of the program, which is empty by default. This flag may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// Restrict the program to the first N cores of the machine, by an affinity mask
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cpus: Option<u32>,
    /// The seed of the random numbers that the system gives to the program, and of the address of its stack
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The most memory that the program may use, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096,
        value_parser = clap::value_parser!(u64).range(1..=262_144))]
    pub(crate) memory: u64,
    /// End with an error after this number of cycles (with --functional: of instructions), and print the counts until
    /// then
    #[arg(long, value_name = "CYCLES", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,
    /// Also print statistics: cycle stacks, counters of caches, links and memory controllers, energy, and the contended
    /// cache lines with their symbols. With FILE (.csv, .json or .txt), write them to the file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(crate) stats: Option<Option<PathBuf>>,
    /// Write a timeline for Perfetto (ui.perfetto.dev)
    #[arg(long, value_name = "FILE.json")]
    pub(crate) timeline: Option<PathBuf>,
    /// Run the program under N orders of events, or under orders A to B, side by side on the cores of this host. Each
    /// order delays misses and dispatches (each access that leaves the private caches, and each start of a thread on a
    /// core) by random numbers of cycles, at most 1/20 of the memory latency, from 4 to 64 cycles (or CYCLES, with --set
    /// perturb=CYCLES). until:N runs orders until the 95% interval
    /// of the mean is narrower than 1% of the mean, but at most N orders. This mean is of the cycles of the first
    /// region of interest, or of the whole program if it has no region. The output of the first order is shown.
    /// --stats=FILE writes a row for each order. The program writes to the same files in all orders
    #[arg(long, value_name = "N|A-B|until:N", conflicts_with_all = ["functional", "timeline"])]
    pub(crate) orders: Option<Orders>,
    /// Print only the program's output, errors, and with --stats the statistics
    #[arg(long)]
    pub(crate) quiet: bool,
    /// The program, linked for riscv64-linux, and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    pub(crate) program: Vec<String>,
}

/// The arguments of every command that simulates.
#[derive(Clone, Debug, Args)]
pub(crate) struct InstrumentArgs {
    /// Count the events of the simulated machine. Writes the counts to NAME.stats.csv, a copy with the name of the
    /// machine (NAME.MACHINE.stats.csv), and figures of the cycle stacks
    #[arg(long)]
    pub(crate) stats: bool,
    /// Write a timeline of simulated cores and threads, for Perfetto (ui.perfetto.dev)
    #[arg(long, value_name = "FILE")]
    pub(crate) timeline: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct StudyArgs {
    /// The study
    pub(crate) name: String,
    /// The machine: native (this machine), the name of a preset (a simulated machine), or FILE.toml [default: the
    /// machine that the study is about, as `manycore studies` lists it]
    #[arg(long, value_name = "WORLD")]
    pub(crate) on: Option<String>,
    /// Change a setting of the study or of the simulated machine. This flag may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Numbers of threads, such as 1,2,4 [default: 1, 2, 4, ... and one thread for each CPU]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count)]
    pub(crate) threads: Vec<NonZeroUsize>,
    /// Numbers of cores, such as 2,4,64, for a study that gives each thread its own core
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count)]
    pub(crate) cores: Vec<NonZeroUsize>,
    /// Run the study with each of these values of KEY: a setting of the study or of the simulated machine, `seed`, or
    /// `on`. If this flag is repeated, all combinations run. Writes NAME.sweep.csv
    #[arg(long, value_name = "KEY=A,B")]
    pub(crate) sweep: Vec<String>,
    /// Run each simulation under N orders of events, or under orders A to B. Each order delays misses and
    /// dispatches (each access that leaves the private caches, and each start of a thread on a core) by random numbers
    /// of cycles, at most 1/20 of the memory latency, from 4 to 64 cycles (or CYCLES, with --set perturb=CYCLES). until:N runs orders until each interval in the study's finding (or in the
    /// table of --versus) is narrower than a third of its effect, but at most N orders. Writes NAME.sweep.orders.csv,
    /// with means over the orders and their 95% intervals. The study sleep has these intervals in its own tables and
    /// figures, unless until:N, --versus, --shard or --sweep is given
    #[arg(long, value_name = "N|A-B|until:N")]
    pub(crate) orders: Option<Orders>,
    /// With --orders: divide the time of each row by the time of the row with this value under the same order. Writes
    /// the ratios, with 95% intervals, to NAME.sweep.ratios.csv
    #[arg(long, value_name = "COLUMN=VALUE", requires = "orders")]
    pub(crate) versus: Option<String>,
    /// Measure only every N-th point of a sweep, or every N-th order, beginning with the I-th
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Compare only the alternatives with these names
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    #[command(flatten)]
    pub(crate) effort: EffortArgs,
    #[command(flatten)]
    pub(crate) instruments: InstrumentArgs,
    /// Measure everything again, also the part that an interrupted run has finished. --stats and --timeline always
    /// measure everything again
    #[arg(long)]
    pub(crate) fresh: bool,
    /// The form of the output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The journals of all shards, NAME.sweep-HASH.journal in their output folders
    #[arg(required = true, value_name = "JOURNAL")]
    pub(crate) journals: Vec<PathBuf>,
    /// The folder for NAME.sweep.csv
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub(crate) out: PathBuf,
    /// The form of the output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct FigureArgs {
    /// SVG files that `study` or `report` wrote; CSV files that `study peers` wrote; or CSV files with the columns
    /// machine, program, threads, cores, mode, time and unit, such as `study packing --set programs=openmp` and
    /// ci/riscv-guests.sh write
    #[arg(required = true, value_name = "FILE.svg|FILE.csv")]
    pub(crate) files: Vec<PathBuf>,
    #[arg(long, value_name = "KEY=VALUE", help = FigureForm::HELP)]
    pub(crate) figure: Vec<String>,
    /// The folder for the new files
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The machine for all studies: native (this machine), the name of a preset (a simulated machine), or FILE.toml
    /// [default: for each study its own default machine]
    #[arg(long, value_name = "WORLD")]
    pub(crate) on: Option<String>,
    /// Measure the times in the finding of each simulated study also under N orders of events, or under orders A to B,
    /// so that the finding has 95% intervals. Writes NAME.orders.csv. until:N runs orders until each interval is
    /// narrower than a third of its effect, but at most N orders [default: a few with --quick, none with --full or
    /// --on]
    #[arg(long, value_name = "N|A-B|until:N")]
    pub(crate) orders: Option<Orders>,
    #[command(flatten)]
    pub(crate) effort: EffortArgs,
    /// Measure everything again, also the part that an interrupted run has finished
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Fit the exponent of our model to measured latencies, and the formula of Shuai's paper to the table in that paper
    Fit(FitArgs),
    /// Print the block size that each model picks for each configuration
    Predict(PredictArgs),
    /// Print the regret of each model: how much longer measured loops take with its block size than with the best block
    /// size
    Eval(ModelArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// A CSV file with the columns machine, core_groups, threads, unit_read, unit_write and unit_comp, and for fit and
    /// eval also block_size and latency_clocks [default: the latencies in Shuai's paper]
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) data: Option<PathBuf>,
    /// The file with the prices of our model: fit writes it, predict and eval read it [default: prices of the machines
    /// in Shuai's paper, measured on their presets]
    #[arg(long, value_name = "FILE.json")]
    pub(crate) params: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Shape::Table)]
    pub(crate) format: Shape,
}

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Measure the prices of the machines in Shuai's paper again, on their presets
    #[arg(long)]
    pub(crate) measure: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Measure the prices of a machine now, as `manycore machine` does, and predict only for this machine: native (this
    /// machine), the name of a preset (a simulated machine), or FILE.toml
    #[arg(long, value_name = "WORLD", conflicts_with = "params")]
    pub(crate) on: Option<String>,
}

/// The arguments of every command that measures.
#[derive(Clone, Debug, Args)]
pub(crate) struct EffortArgs {
    /// Measure only the essential cases, which takes seconds (the default)
    #[arg(long)]
    pub(crate) quick: bool,
    /// Measure all cases, which takes minutes
    #[arg(long, conflicts_with = "quick")]
    pub(crate) full: bool,
    /// The seed of the random inputs and of the order of the measurements
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The folder for results
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub(crate) out: PathBuf,
    #[arg(long, value_name = "KEY=VALUE", help = FigureForm::HELP)]
    pub(crate) figure: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Table,
    Json,
    Csv,
}

/// For output that is not a table of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shape {
    Table,
    Json,
}

impl Cli {
    /// Reads the process's arguments.
    pub(crate) fn from_process() -> Result<Self, clap::Error> {
        Self::from_arguments(std::env::args_os())
    }

    /// Reads arguments. The first is the program's name.
    pub(crate) fn from_arguments(
        arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> Result<Self, clap::Error> {
        Self::from_arg_matches(&Self::explained().try_get_matches_from(arguments)?)
    }

    /// All commands and flags, with the settings of the studies.
    pub(crate) fn explained() -> clap::Command {
        Self::command().mut_subcommand("study", |command| command.after_help(study::help()))
    }
}

/// clap's explanation of a usage error, on one line, with what was expected.
pub(crate) fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    // The first paragraph says what is wrong; usage and tips follow.
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    let joined: Vec<&str> = lines.map(str::trim).collect();
    let joined = joined.join(" ");
    let what = joined.strip_prefix("error: ").unwrap_or(&joined);
    match expected(error, what) {
        None => what.to_owned(),
        Some(expected) => format!("{what}; expected {expected}"),
    }
}

/// Completes a usage error with the expected values.
fn expected(error: &clap::Error, what: &str) -> Option<String> {
    // The standard library's errors for a text that is not a number of a type.
    const NO_NUMBER: [&str; 4] = [
        "invalid digit found",
        "cannot parse integer",
        "number too large to fit",
        "number too small to fit",
    ];
    if NO_NUMBER.iter().any(|text| what.contains(text)) {
        return Some("a whole number".to_owned());
    }
    match error.kind() {
        ErrorKind::UnknownArgument => {
            return Some("the flags and values that --help lists".to_owned());
        }
        ErrorKind::ArgumentConflict => return Some("one of the two".to_owned()),
        ErrorKind::InvalidSubcommand => {}
        _ => return None,
    }
    let is_model = |command: &clap::Command| command.get_name() == "model";
    let all = Cli::command();
    let model = all.get_subcommands().find(|command| is_model(command))?;
    // clap reports only the unknown word, with the usage of the command that lacks it.
    let of_model = error.render().to_string().contains("manycore model");
    let command = if of_model { model } else { &all };
    let names: Vec<&str> = command
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    Some(format!("one of {}", names.join(", ")))
}

/// The most threads or cores that a simulated machine has.
const MOST: usize = 4096;
/// The most counts of one list.
const MOST_COUNTS: usize = 64;

fn count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "expected a whole number of at least 1".into())
}

/// Returns the counts that were given with `flag`. Refuses a list that is too long, or a count that is too large.
pub(crate) fn counts(flag: &str, list: &[NonZeroUsize]) -> anyhow::Result<Vec<NonZeroUsize>> {
    if list.len() > MOST_COUNTS {
        return Err(bad_input(format!(
            "{flag}: {} counts; expected at most {MOST_COUNTS}",
            list.len()
        )));
    }
    match list.iter().find(|count| count.get() > MOST) {
        None => Ok(list.to_vec()),
        Some(count) => Err(bad_input(format!(
            "{flag} {count}: expected at most {MOST}"
        ))),
    }
}
