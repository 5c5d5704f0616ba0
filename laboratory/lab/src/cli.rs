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
    /// Show this machine, or a simulated one, and the cost of its atomics, launches and wake-ups
    Machine(MachineArgs),
    /// Run a RISC-V Linux program (rv64gc) on a simulated machine, and exit with its status
    Run(RunArgs),
    /// Run a study: print its table, and write NAME.csv, NAME.svg and NAME.meta.json of the latest run, and the same
    /// files as NAME.MACHINE.*
    Study(StudyArgs),
    /// Make one table from the journals of a sweep's shards
    Merge(MergeArgs),
    /// Draw a study's figure again in another form, from its SVG file, or a figure of packed programs
    /// from a table of their times
    Figure(FigureArgs),
    /// Models of the best block size: fit them, print their blocks, judge them
    #[command(subcommand, arg_required_else_help = false)]
    Model(ModelCommand),
    /// Put the machine and all studies on one HTML page
    Report(ReportArgs),
    /// List the simulated machines
    Presets(PresetsArgs),
    /// List the studies, their questions, and where they run by default
    Studies(ListArgs),
    /// Write a small program to begin with: a lock and a barrier, native and simulated
    NewProgram(NewProgramArgs),
    /// Print a shell's completions for this command
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
    /// With --errors: measure only these machines, and list each published number
    /// [default: all machines, and the numbers that are far off]
    #[arg(requires = "errors", value_name = "PRESET")]
    pub(crate) names: Vec<String>,
    /// Measure the machines, and list their errors against published numbers of the real ones; takes
    /// a minute or two
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
    /// The folder of manycore's sources; an installed command needs it [default: the sources of this
    /// command]
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
    /// The machine: native, a simulated machine's preset, or FILE.toml
    #[arg(long, value_name = "WORLD", default_value = "native")]
    pub(crate) on: String,
    /// Change a value of the simulated machine, such as cores=256; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Measure for a few seconds (the default)
    #[arg(long)]
    pub(crate) quick: bool,
    /// Measure more rounds
    #[arg(long, conflicts_with = "quick")]
    pub(crate) full: bool,
    /// Thread counts, such as 2,4 [default: 2, 4, 8, ... and all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count)]
    pub(crate) threads: Vec<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) instruments: InstrumentArgs,
    /// The folder for the files of --stats
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub(crate) out: PathBuf,
    /// Measure this machine, and write it as a new file for --on: each key with the measured value and
    /// its quartiles as a comment. Takes 10 s on two cores
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["on", "set", "full", "threads", "stats", "timeline", "out", "check", "format"])]
    pub(crate) as_preset: Option<PathBuf>,
    /// Run a counter, locks, barriers, a loop and joins on this machine and on a simulated one, and
    /// compare their times. --as-preset uses none of these programs
    #[arg(long, value_name = "FILE.toml|PRESET", conflicts_with_all = ["on", "full", "threads", "stats", "timeline", "out"])]
    pub(crate) check: Option<String>,
    /// The form of the output; csv with --check only
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The machine: a simulated machine's preset, or FILE.toml
    #[arg(long, value_name = "WORLD", default_value = "atac-64")]
    pub(crate) on: String,
    /// Change a value of the simulated machine, such as cores=256; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Run without timing: no caches, no cycles
    #[arg(long, conflicts_with_all = ["set", "timeline", "fast_forward"])]
    pub(crate) functional: bool,
    /// Execute without timing until the program's region of interest begins (mc_region_begin,
    /// m5_work_begin, m5_reset_stats), or for at most this number of instructions; then simulate
    #[arg(long, value_name = "INSTRUCTIONS", num_args = 0..=1, require_equals = true,
        default_missing_value = "18446744073709551615", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) fast_forward: Option<u64>,
    /// The folder with the program's libraries, such as /usr/riscv64-linux-gnu: absolute paths are looked up there
    /// first
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Add a variable to the program's environment, which is empty by default; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// Restrict the program to the machine's first N cores, by a mask
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cpus: Option<u32>,
    /// The seed of the program's random numbers and of its stack's place
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The most memory that the program may use, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096,
        value_parser = clap::value_parser!(u64).range(1..=262_144))]
    pub(crate) memory: u64,
    /// End with an error after this number of cycles, or of instructions with --functional; the counts
    /// until then are printed
    #[arg(long, value_name = "CYCLES", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,
    /// Also print cycle stacks, counters of caches, links and controllers, energy, and the contended
    /// lines by symbol; or write them to a file (.csv, .json or .txt)
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(crate) stats: Option<Option<PathBuf>>,
    /// Write a timeline for Perfetto (ui.perfetto.dev)
    #[arg(long, value_name = "FILE.json")]
    pub(crate) timeline: Option<PathBuf>,
    /// Run the program under N orders of events, or under orders A to B, side by side on the host's cores. A small
    /// random delay of each cache miss makes an order (--set perturb=CYCLES, 4 without it). until:N runs orders, at
    /// most N, until the 95% interval of the mean cycles of the first region, or else of the program, is narrower than
    /// 1% of the mean. The output of the first order is shown; --stats=FILE has a row for each order. All orders write
    /// to the same files
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
    /// Count the events of the simulated machine. Writes NAME.stats.csv of the latest run, the same file as
    /// NAME.MACHINE.stats.csv, and figures of the cycle stacks
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
    /// The machine: native, a simulated machine's preset, or FILE.toml [default: native, or the
    /// simulated machine that the study is about]
    #[arg(long, value_name = "WORLD")]
    pub(crate) on: Option<String>,
    /// Change a setting of the study or of the simulated machine; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Thread counts, such as 1,2,4 [default: 1, 2, 4, ... and all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count)]
    pub(crate) threads: Vec<NonZeroUsize>,
    /// Core counts, such as 2,4,64, of a study that gives each thread a core of its own
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count)]
    pub(crate) cores: Vec<NonZeroUsize>,
    /// Run the study with each of these values of a setting of the study or of the simulated
    /// machine, of `seed`, or of `on`; may be repeated, and then all combinations run. Writes
    /// NAME.sweep.csv
    #[arg(long, value_name = "KEY=A,B")]
    pub(crate) sweep: Vec<String>,
    /// Run each simulation under N orders of events, or under those from A to B. A small random delay of each cache
    /// miss makes an order (--set perturb=CYCLES, 4 without it). until:N runs orders, at most N, until each interval of
    /// the study's sentence, or of --versus, is narrower than a third of its effect. Writes NAME.sweep.orders.csv, with
    /// means over the orders and their 95% intervals
    #[arg(long, value_name = "N|A-B|until:N")]
    pub(crate) orders: Option<Orders>,
    /// With --orders: divide the times of all rows by those of the rows with this value, in pairs under the same order,
    /// with 95% intervals. Writes NAME.sweep.ratios.csv
    #[arg(long, value_name = "COLUMN=VALUE", requires = "orders")]
    pub(crate) versus: Option<String>,
    /// Measure only the I-th of every N points of a sweep, or of the orders
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Compare only these alternatives
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    #[command(flatten)]
    pub(crate) effort: EffortArgs,
    #[command(flatten)]
    pub(crate) instruments: InstrumentArgs,
    /// Measure finished cells of an interrupted run again. --stats and --timeline do so too
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
    /// Figures that a study or a report wrote; or tables of packed programs with the columns machine,
    /// program, threads, cores, mode, time and unit, as `study packing --set programs=openmp` and
    /// ci/riscv-guests.sh write them; or tables of `study peers`
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
    /// The machine for all studies: native, a simulated machine's preset, or FILE.toml [default: each
    /// study's own]
    #[arg(long, value_name = "WORLD")]
    pub(crate) on: Option<String>,
    /// Also measure the times behind each simulated study's finding under N orders of events, or under orders A to B,
    /// so that the finding has 95% intervals. Writes NAME.orders.csv. until:N runs orders, at most N, until each
    /// interval is narrower than a third of its effect [default: a few with --quick, none with --full or --on]
    #[arg(long, value_name = "N|A-B|until:N")]
    pub(crate) orders: Option<Orders>,
    #[command(flatten)]
    pub(crate) effort: EffortArgs,
    /// Measure finished cells of an interrupted run again
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Fit our model's exponent to measured latencies, and the formula of Shuai's paper to the paper's table
    Fit(FitArgs),
    /// Print the block that each model picks for each configuration
    Predict(PredictArgs),
    /// Print the regret of each model's blocks on measured cells
    Eval(ModelArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// A CSV file: machine, core_groups, threads, unit_read, unit_write, unit_comp, and, except
    /// for predict, block_size, latency_clocks [default: the document's latencies]
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) data: Option<PathBuf>,
    /// The prices of our model: fit writes this file, the others read it [default: those of the
    /// document's machines, measured on their presets]
    #[arg(long, value_name = "FILE.json")]
    pub(crate) params: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Shape::Table)]
    pub(crate) format: Shape,
}

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Measure the prices of the document's machines again, on their presets
    #[arg(long)]
    pub(crate) measure: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Measure the prices of this machine now, as `machine` does, and predict for it instead of the
    /// table's machines: native, a simulated machine's preset, or FILE.toml
    #[arg(long, value_name = "WORLD", conflicts_with = "params")]
    pub(crate) on: Option<String>,
}

/// The arguments of every command that measures.
#[derive(Clone, Debug, Args)]
pub(crate) struct EffortArgs {
    /// Measure the essential cells, in seconds (the default)
    #[arg(long)]
    pub(crate) quick: bool,
    /// Measure every cell, in minutes
    #[arg(long, conflicts_with = "quick")]
    pub(crate) full: bool,
    /// The seed of inputs and of the order of measurements
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
