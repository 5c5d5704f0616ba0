//! The study `peers`: how fast the same programs run on manycore and on other runtimes. The programs are RISC-V
//! binaries on simulated machines of many cores, or binaries for this host. Each runtime's code is unmodified.

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
mod tail;
mod verdict;

use super::Study;
use super::settings::{Key, keys};
use super::trial::{Answer, Inquiry, RUNS, Results, SECONDS, Setup, Text, Trials};
use case::PeersCase;
use cells::Cells;
use config::PeersConfig;
use rows::PeersRow;
use serde_json::json;

/// The study `peers`.
pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "peers",
    question: "how fast manycore and other runtimes are on chips of many cores",
    home: config::HOME,
    keys: KEYS,
    text: TEXT,
    is_brief: false,
    brief_orders: 0,
    has_intervals: false,
    sentence: None,
    ask: PeersConfig::new,
};

/// The settings of this study.
const KEYS: &[Key] = keys![
    "folder"
        "the folder with the binaries, which ci/guests.sh builds [target/guests; with --on native: \
         target/guests-native, which ci/guests.sh --native builds]",

    "root"
        "the folder with the libraries of dynamically linked binaries [/usr/riscv64-linux-gnu]",
    "on"
        "a list of presets [with --on's default: graviton2-64,milan-7r13x2,sapphire-rapids-8470x2; with \
         another --on: that machine]",
    "programs"
        "a list of programs; a binary without arguments prints their names [mid, fine, skew, fib, empty, \
         reduce; --full: all]",
    "peers"
        "a list of peers [all whose binaries exist]",
    "orders" [1, 1_000]
        "number of orders of events; each order is a seed of the machine's perturbation (random \
         delays of misses and dispatches: at most 1/20 of the memory latency, from 4 to 64 \
         cycles); always 1 on a machine whose perturb is 0 or that has a perturb-seed [1; --full: 10]",
    "steady" [1, 4_000]
        "number of calls in the steady state, after the first ten [6; --full: 30]",
    "gaps" [0, 4_000]
        "number of calls after 1 ms without work [2; --full: 5]",
    "limit" [1, 100_000]
        "ms after which a run counts as failed; simulated ms on a simulated machine [40 and, for each gap, a tick \
         and the timer slack; --full: 4,000 instead of 40; with --on native: 20,000]",
    .. RUNS, SECONDS
];

const TEXT: Text = Text {
    title: "Peers",
    lead: "Programs of a few lines, each built with manycore and with other runtimes for parallel loops and \
           fork-join, run as ordinary RISC-V Linux binaries on simulated machines. All runtimes are thus \
           compared by their own code, on machines of many cores. With `--on native`, the same programs \
           run on this host.",
    how: &[
        "A binary makes ten first calls, then the calls of the steady state, and then calls \
         before which the caller sleeps for 1 ms. It measures each call with its own clock and \
         verifies the result. A program is `empty` (a loop of 1,000 iterations that do nothing), \
         `fine` (65,536 iterations of some ten instructions), `mid` (1,024 of some 0.2 us), \
         `coarse` (64 of 20 us), `skew` (1,024 whose cost grows with the index), `memory` (a sum \
         of two arrays, 48 MB in all), `reduce` (a sum of 65,536 terms), `fib` (the 22nd \
         Fibonacci number, with a join at every call), `tree-N` (the sum over a balanced tree of \
         N nodes; in `tree-N-heavy` and `tree-N-light`, two thirds of the nodes below each node \
         are on the side that runs first, or second), `tasks` (the iterations of `mid` as tasks \
         that one thread spawns), `nested` (the same iterations as leaves of joins), `quicksort` \
         and `mergesort` (of 16,384 numbers), `blur` (256 x 256 pixels), `nbody` (256 bodies), \
         `bfs` (a breadth-first search of a grid of 128 x 128, level by level), `server` (three \
         threads that each call for a loop, a join and a few spawned tasks), or `unit-N` (the \
         unit task of Shuai's paper in fixed blocks of N iterations; in `unit` the runtime \
         chooses the blocks). Three programs are for OpenMP alone: `region` (an empty parallel \
         region), `barrier` (100 barriers in one region), and `reduction` (of three variables).",
        "The steady time of a run is the median of its calls in the steady state. The time of a \
         cell (a program on a machine with a number of threads) is the median over its orders. An \
         order is one seed of the machine's perturbation. The ratio of two runtimes is the \
         geometric mean of their ratios under each seed. Its 95% interval comes from Student's t \
         distribution for the mean of the logarithms. With one order there is no interval. On this \
         host each round runs all cells once, and a round takes the place of an order. Since \
         medians hide rare slow calls, a table lists the cells in which the mean of all calls is \
         more than 1.25 times their median.",
    ],
};

/// The caption of the figure.
const FIGURE: &str = "Speedup over one thread without a runtime, by number of threads, in the steady state: \
                      the geometric mean over the programs that all shown runtimes have. The figure shows \
                      manycore and the three peers that are fastest with the most threads.";

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
        answer.extra.meta = vec![
            ("missing", json!(config.missing)),
            ("perturb", json!(config.delays())),
        ];
        Ok(answer)
    }
}
