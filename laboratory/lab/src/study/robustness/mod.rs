//! Whether the barrier of S. J. Park's thesis (MIT, 2013; "the thesis" in this folder) stays fast on a slower broadcast
//! network: its robustness test.

mod config;
mod curve;
mod figure;
mod rows;
mod sentence;
mod tables;

use super::Study;
use super::compared::Compared;
use super::settings::{Key, keys};
use super::team::{self, Race, TeamMeasured, TeamPoint};
use super::trial::{Answer, Inquiry, Results, Setup, Text, Trials};
use config::{Contestants, RobustnessConfig};
use rows::RobustnessRow;

pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "robustness",
    question: "whether a barrier over a broadcast network stays fast when the network is slower",
    home: "atac-64",
    keys: KEYS,
    text: TEXT,
    is_brief: true,
    brief_orders: 2,
    has_intervals: false,
    sentence: Some(sentence::sentence),
    ask: RobustnessConfig::new,
};

const KEYS: &[Key] = keys![
    "transport" [0, 1_000_000]
        "cycles of a message from its sender to the receiver's queue, a list [5..20000; --full: \
         more values]",
    "controller" [0, 1_000_000]
        "cycles that the receiver's controller needs for a message, a list [10..1000; --full: more values]",
    "check" [0, 1_000_000]
        "cycles of a core's look into its buffer, a list [3..300; --full: more values]",
    "episodes" [1, 1_000_000]
        "waits of the loop [100; --full: 1000]",
];

const TEXT: Text = Text {
    title: "Robustness",
    lead: "A barrier is a place in a program where each thread waits until all threads have arrived. In \
     the thesis of S. J. Park (MIT, 2013) cores signal each other by light: an optical network carries \
     each message to all cores at once. This study makes that network slower, step by step, to see how \
     fast it must be.",
    how: &[
        "The thesis's barrier runs in a loop of waits, and in streamcluster with the input test. One \
         delay of the broadcast network changes at a time.",
        team::HOW,
    ],
};

/// The figure's caption.
const FIGURE: &str = "The time from beginning to end for several values of one delay of the \
     broadcast network. The other delays are unchanged. Simulations have no noise, so there are \
     no bars.";

impl Trials for RobustnessConfig {
    type Trial = TeamPoint;
    type Row = RobustnessRow;

    fn setup(&self) -> &Setup {
        &self.setup
    }

    fn trials(&self) -> Vec<TeamPoint> {
        self.all_points()
    }

    fn answer(results: Results<'_, Self>) -> anyhow::Result<Answer<RobustnessRow>> {
        let config = results.config;
        let measured = &TeamMeasured::new(results.measured);
        let contests: Vec<Contestants<'_>> = config.contests().collect();
        let races = contests.iter().map(|config| Race { config, measured });
        let figure = figure::figure(config, races.clone());
        let tables = races.flat_map(|race| [tables::sweeps(race), tables::references(race)]);
        let rows = rows::rows(config, measured);
        Ok(Answer::new(figure, FIGURE, tables.collect(), rows))
    }

    fn compared_trials(&self) -> Vec<TeamPoint> {
        self.compared_points()
    }

    fn compared(results: Results<'_, Self>) -> Option<Compared> {
        let config = results.config.contests().next()?;
        sentence::compared(Race {
            config: &config,
            measured: &TeamMeasured::new(results.measured),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_chip::config::range;

    #[test]
    fn settings_have_the_ranges_of_a_machines_network() {
        for key in &KEYS[..3] {
            let (least, most) = range(&format!("optical.{}", key.name)).unwrap();
            assert_eq!(key.range(), format!("; from {least} to {most}"));
        }
    }
}
