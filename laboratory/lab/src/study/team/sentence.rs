//! The sentence of a study of barriers. It names the fastest barrier through memory, as far as the intervals show it,
//! and compares the barrier of the thesis (Park 2013) with it.

use super::race::{CHANNEL, Contest, Race};
use crate::measure::ratio::{Ratio, Side};
use crate::study::compared::{Compared, ComparedCell, Sentence, difference};

/// The names of the cells of [`Race::compared`].
const MEMORY: &str = "through memory";
const NETWORK: &str = "over a broadcast network";

impl<C: Contest> Race<'_, C> {
    /// The times of all barriers on `at` cores: of a wait, or of the whole program. `what` is like "a wait takes".
    pub(in crate::study) fn compared(self, at: usize, what: &str, is_a_wait: bool) -> Compared {
        let setup = self.config.setup();
        let is_simulated = !setup.machines.is_host();
        let place = format!("On {at} cores {what}");
        let mut compared = Compared::new(place, setup.unit(), is_simulated);
        for (cell, broadcasts) in [(MEMORY, false), (NETWORK, true)] {
            let barriers = self.config.barriers().iter();
            let times = barriers.filter_map(|name| {
                let summary = self.of(0, at, name)?;
                let per = if is_a_wait { summary.episodes } else { 1 };
                let times = summary.totals.iter().map(|total| total / per as f64);
                // Without a network the thesis's barrier goes through memory too.
                (summary.broadcasts() == broadcasts).then(|| (name.clone(), times.collect()))
            });
            compared.add(cell, times);
        }
        compared
    }
}

pub(in crate::study) fn sentence(compared: &Compared) -> Sentence {
    let cell = |name| compared.cells.iter().find(|cell| cell.name == name);
    let say = |cell: &ComparedCell, name| cell.median(name).map(|time| compared.unit.say(time));
    let (mut said, mut ratios) = (Vec::new(), Vec::new());
    let fastest = cell(MEMORY).and_then(|cell| Fastest::of(cell, |_| true));
    if let (Some(memory), Some(fastest)) = (cell(MEMORY), &fastest) {
        let time = say(memory, fastest.name).unwrap_or_default();
        said.push(format!("{time} with {}", fastest.told()));
        ratios.extend(fastest.lead.map(|(_, ratio)| (ratio, 1.0)));
    }
    if let Some((network, time)) = cell(NETWORK).and_then(|cell| Some((cell, say(cell, CHANNEL)?)))
    {
        let base = cell(MEMORY).zip(fastest);
        let ratio = base.and_then(|(memory, fastest)| {
            let times = network.times(CHANNEL)?.iter().copied();
            Ratio::of(
                &times
                    .zip(memory.times(fastest.name)?.iter().copied())
                    .collect::<Vec<_>>(),
            )
        });
        let told = ratio.map(|ratio| format!(", {}", difference(ratio)));
        let told = told.unwrap_or_default();
        said.push(format!("{time} over a broadcast network ({CHANNEL}){told}"));
        ratios.extend(ratio.map(|ratio| (ratio, 1.0)));
    }
    Sentence {
        text: format!(
            "{} {}{}",
            compared.place,
            said.join(", and "),
            compared.ground()
        ),
        ratios,
    }
}

/// The fastest barrier of a cell.
pub(in crate::study) struct Fastest<'a> {
    pub(in crate::study) name: &'a str,
    /// The second fastest barrier, and its time divided by the time of the fastest barrier.
    lead: Option<(&'a str, Ratio)>,
}

impl<'a> Fastest<'a> {
    /// The fastest of the cell's barriers that `wanted` accepts.
    pub(in crate::study) fn of(
        cell: &'a ComparedCell,
        wanted: impl Fn(&str) -> bool,
    ) -> Option<Self> {
        let ranked = cell.ranked(wanted);
        let name = *ranked.first()?;
        let next = ranked.get(1);
        Some(Self {
            name,
            lead: next
                .and_then(|&next| Some((next, cell.chosen_ratio(next, name, ranked.len() - 1)?))),
        })
    }

    /// The name of the fastest barrier, as far as the intervals show it.
    pub(in crate::study) fn told(&self) -> String {
        let name = self.name;
        match self.lead {
            Some((next, ratio)) if ratio.side(1.0) != Side::Above => format!(
                "{name}, not shown to differ from {next}, the next through memory ({ratio} times)"
            ),
            _ => format!("{name}, the fastest through memory"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::unit::Unit;

    /// Times under two orders.
    fn compared(times: &[(&str, &str, [f64; 3])]) -> Compared {
        let mut compared = Compared::new("On 64 cores a wait takes".into(), Unit::Cycles, true);
        for cell in [MEMORY, NETWORK] {
            let of = times.iter().filter(|time| time.0 == cell);
            compared.add(
                cell,
                of.map(|(_, name, times)| ((*name).to_owned(), times.to_vec())),
            );
        }
        compared
    }

    #[test]
    fn the_fastest_is_named_if_that_is_shown() {
        let channel = (NETWORK, CHANNEL, [500.0, 501.0, 499.0]);
        let shown = compared(&[
            (MEMORY, "sense", [2000.0, 2010.0, 1990.0]),
            (MEMORY, "flags", [1000.0, 1001.0, 999.0]),
            channel,
        ]);
        let sentence_of = |compared| sentence(compared).text;
        assert_eq!(
            sentence_of(&shown),
            "On 64 cores a wait takes 1,000 cycles with flags, the fastest through memory, and 500 cycles over a \
             broadcast network (channel), 50.0% less (49.9 to 50.1%) (95% intervals of 3 orders)"
        );
        let open = compared(&[
            (MEMORY, "sense", [1000.0, 1020.0, 990.0]),
            (MEMORY, "flags", [1000.0, 1001.0, 999.0]),
        ]);
        let text = sentence_of(&open);
        assert!(
            text.contains("not shown to differ from sense, the next through memory (1.00 (0.9"),
            "{text}"
        );
        assert!(!text.contains("fastest"), "{text}");
        assert!(!sentence(&open).is_decided() && sentence(&shown).is_decided());
    }

    #[test]
    fn one_order_has_no_interval() {
        let mut one = compared(&[]);
        one.cells.clear();
        let times = [("sense", 20.0), ("flags", 10.0)];
        let times = times.map(|(name, time)| (name.to_owned(), vec![time]));
        one.add(MEMORY, times.into_iter());
        assert_eq!(
            sentence(&one).text,
            "On 64 cores a wait takes 10 cycles with flags, the fastest through memory (one order of events)"
        );
    }
}
