//! How the same programs fare on manycore and on other runtimes, as RISC-V binaries on simulated
//! machines of many cores: each peer's own code, unmodified.

mod case;
mod cells;
mod config;
mod figure;
mod guest;
mod output;
mod peer;
pub(crate) mod printed;
mod rows;
mod sample;
mod scaling;
mod summary;
mod tables;
mod verdict;

use super::Study;
use super::settings::{Key, keys};
use super::trial::{Answer, Inquiry, Results, Setup, Text, Trials};
use case::PeersCase;
use cells::Cells;
use config::PeersConfig;
use rows::PeersRow;
use serde_json::json;

/// The study `peers`.
pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "peers",
    question: "how fast other runtimes' own binaries are beside ours on chips of many cores",
    home: config::HOME,
    keys: KEYS,
    text: TEXT,
    is_brief: false,
    brief_orders: 0,
    sentence: None,
    ask: PeersConfig::new,
};

/// The settings of this study.
const KEYS: &[Key] = keys![
    "folder"
        "the folder with the binaries, which ci/guests.sh builds [target/guests]",
    "root"
        "the folder with the libraries of binaries that are linked to any [/usr/riscv64-linux-gnu]",
    "on"
        "a list of presets [of --on's default: graviton2-64,milan-7r13x2,sapphire-rapids-8470x2; of \
         another machine: that one alone]",
    "programs"
        "a list of programs, as a binary lists them that is called without arguments [mid, fine, \
         skew, fib, empty, reduce; --full: all]",
    "peers"
        "a list of peers [all whose binaries are there]",
    "orders" [1, 1_000]
        "orders of events, each a seed of the machine's perturbation; 1 where the machine has none [1; \
         --full: 10]",
    "steady" [1, 4_000]
        "calls after the first ten [6; --full: 30]",
    "gaps" [0, 4_000]
        "calls that each come after 1 ms without work [2; --full: 5]",
    "limit" [1, 100_000]
        "simulated ms after which a run has failed [40; --full: 4,000]",
];

const TEXT: Text = Text {
    title: "Peers",
    lead: "Programs of a few lines, each built with manycore and with other runtimes for parallel \
           loops and fork-join, run as ordinary RISC-V Linux binaries on simulated machines. So all \
           runtimes are compared on machines of many cores, by their own code.",
    how: &[
        "A binary makes ten calls (the first ones), then those of the steady state, and then calls that \
         each come after 1 ms in which the caller sleeps. It notes the time of each by its own clock, \
         and verifies the result. A program is `empty` (a loop of 1,000 iterations that do nothing), \
         `fine` (65,536 iterations of some ten instructions), `mid` (1,024 of some 0.2 us), `coarse` (64 of \
         20 us), `skew` (1,024 whose cost grows with the index), `memory` (a sum of two arrays, 48 MB in \
         all), `reduce` (a sum of 65,536 terms), `fib` (Fibonacci's 22nd number with a join at every \
         call), `tree-N` (the sum over a balanced tree of N nodes; `-heavy` and `-light`: of a tree whose \
         nodes have two thirds of what is below them on the side that is run first, or second), \
         `tasks` (the iterations of `mid` as tasks that one thread spawns), `nested` (as leaves of joins), \
         `quicksort` and `mergesort` (of 16,384 numbers), `blur` (256 x 256 pixels), `nbody` (256 \
         bodies), `bfs` (a breadth-first search of a grid of 128 x 128, level by level), `server` (three \
         threads that each call for a loop, a join and a few spawned tasks), or `unit-N` (the unit task \
         of Shuai's paper in fixed blocks of N iterations; `unit`: as the runtime divides it). Three are of \
         OpenMP alone: `region` (an empty parallel region), `barrier` (100 barriers in one region), and \
         `reduction` (of three variables).",
        "The steady time is the median of the calls of the steady state, and over orders again the median. \
         An order is one seed of the machine's perturbation. A ratio of two runtimes is the geometric mean \
         over orders of the ratios under the same seed; its interval is the one that Student's t \
         distribution gives for the mean of their logarithms, at 95%. With one order there is none.",
    ],
};

/// Under the figure.
const FIGURE: &str = "Speedup over one thread without a runtime, by threads: the geometric mean over the programs \
     that all runtimes shown have, in the steady state. Shown are ours and the three peers that are \
     fastest with most threads.";

impl Trials for PeersConfig {
    type Trial = PeersCase;
    type Row = PeersRow;

    fn setup(&self) -> &Setup {
        &self.setup
    }

    fn trials(&self) -> Vec<PeersCase> {
        self.cases()
    }

    fn answer(results: Results<'_, Self>) -> anyhow::Result<Answer<PeersRow>> {
        let config = results.config;
        let cells = Cells::new(results);
        let mut answer = Answer::new(
            figure::figure(config, &cells),
            FIGURE,
            tables::all(config, &cells),
            rows::all(config, &cells),
        );
        answer.extra.caution = config.caution();
        answer.extra.meta = vec![("missing", json!(config.missing))];
        Ok(answer)
    }
}
