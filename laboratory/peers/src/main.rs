//! Compares manycore with other runtimes on the same work: one contest each for loops, channels,
//! barriers and more; see `README.md`.

mod barriers;
mod beside;
mod channels;
mod child;
mod contest;
mod fleet;
mod glue;
mod iterators;
mod levels;
mod load;
mod loops;
mod mixtures;
mod npb;
mod output;
mod peer;
mod process;
mod protocol;
mod quota;
mod recursion;
mod runtime;
mod server;
mod stats;
mod stealing;
mod table;
mod tasks;
mod traffic;

use anyhow::{Result, bail};
use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Runs the same work on manycore and on other runtimes (peers), and prints the times side by side
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a contest: prints its tables and writes its CSV
    Run {
        #[command(subcommand)]
        contest: Named,
    },
    /// Lists the contests
    List,
    /// Runs the process of a peer
    #[command(hide = true)]
    Child {
        contest: String,
        peer: String,
        order: String,
    },
}

#[derive(Subcommand)]
enum Named {
    Loops(loops::Arguments),
    Channels(channels::Arguments),
    Barriers(barriers::Arguments),
    Npb(npb::Arguments),
    Quota(quota::Arguments),
    Server(server::Arguments),
    Beside(beside::Arguments),
    Stealing(stealing::Arguments),
    Mixtures(mixtures::Arguments),
    Iterators(iterators::Arguments),
}

/// If a contest cannot be run, prints one line to standard error. The status is then 2.
fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Run { contest } => run(&contest),
        Command::List => {
            list();
            Ok(ExitCode::SUCCESS)
        }
        Command::Child {
            contest,
            peer,
            order,
        } => serve(&contest, &peer, &order).map(|()| ExitCode::SUCCESS),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}

fn run(contest: &Named) -> Result<ExitCode> {
    match contest {
        Named::Loops(it) => loops::run(it),
        Named::Channels(it) => channels::run(it),
        Named::Barriers(it) => barriers::run(it),
        Named::Npb(it) => npb::run(it),
        Named::Quota(it) => quota::run(it),
        Named::Server(it) => server::run(it),
        Named::Beside(it) => beside::run(it),
        Named::Stealing(it) => stealing::run(it),
        Named::Mixtures(it) => mixtures::run(it),
        Named::Iterators(it) => iterators::run(it),
    }
}

fn list() {
    let command = Arguments::command();
    let run = command.find_subcommand("run").expect("`Command` has `run`");
    for contest in run.get_subcommands() {
        let about = contest.get_about().expect("each contest has a description");
        println!("{:10} {about}", contest.get_name());
    }
}

fn serve(contest: &str, peer: &str, order: &str) -> Result<()> {
    match contest {
        "fleet" => child::serve(peer, order.parse()?),
        "barriers" => process::answer(peer, order, barriers::visit),
        "quota" => process::answer(peer, order, quota::visit),
        "stealing" => process::answer(peer, order, stealing::visit),
        "mixtures" => process::answer(peer, order, mixtures::visit::visit),
        _ => bail!("no process of a peer belongs to the contest `{contest}`"),
    }
}
