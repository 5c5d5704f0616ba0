//! The sentence of the study: how slow the network may be while the barrier over it is still faster.

use super::config::{Contestants, Parameter};
use super::curve::{self, Curve};
use crate::measure::ratio::{Ratio, Side};
use crate::report::words;
use crate::study::compared::{Compared, Sentence};
use crate::study::team::{CHANNEL, Fastest, Race};

/// Returns a cell for each transport (the time that a message is on its way): the barrier of the thesis (Park 2013)
/// with this transport, and the barriers through memory.
pub(super) fn compared(race: Race<'_, Contestants<'_>>) -> Option<Compared> {
    let config = race.config.config;
    let sweep = config.sweep(Parameter::Transport)?;
    let place = format!("In {}", race.config.app.place());
    let mut compared = Compared::new(place, config.setup.unit(), true);
    let others = curve::others(race).into_iter();
    let others = others.filter(|other| !other.broadcasts());
    let others = others.map(|other| (other.point.barrier.clone(), other.totals.clone()));
    let others: Vec<_> = others.collect();
    for &value in race.config.values(sweep) {
        let point = race.config.swept(Parameter::Transport, value);
        let Some(channel) = race.measured.of(&point) else {
            continue;
        };
        let channel = (CHANNEL.to_owned(), channel.totals.clone());
        compared.add(value.to_string(), others.iter().cloned().chain([channel]));
    }
    Some(compared)
}

/// Says how long the transport of a message may take while the barrier over the network is still faster.
pub(super) fn sentence(compared: &Compared) -> Sentence {
    let found = find(compared);
    let (text, ratios) =
        found.unwrap_or_else(|| ("A barrier on a network that gets slower".into(), Vec::new()));
    Sentence { text, ratios }
}

fn find(compared: &Compared) -> Option<(String, Vec<(Ratio, f64)>)> {
    let (place, ground) = (&compared.place, compared.ground());
    let (first, last) = (compared.cells.first()?, compared.cells.last()?);
    let best = Fastest::of(first, |name| name != CHANNEL)?;
    let (name, told) = (best.name, best.told());
    let ends = [first.ratio(CHANNEL, name)?, last.ratio(CHANNEL, name)?];
    let network = format!("{place} the barrier over the network");
    let cycles = |text: &str| text.parse().map_or_else(|_| text.to_owned(), words::count);
    let said = match (crossing(compared, name), ends.map(|ratio| ratio.side(1.0))) {
        (Some(at), [Side::Below, Side::Above]) => {
            let count = |cycles: f64| words::count(cycles.round() as u64);
            let ends = at.interval.map(|ends| ends.map(count));
            let ends = ends.map(|[low, high]| format!(" ({low} to {high})"));
            format!(
                "{network} is faster than {told}, until a message is under way for about {} cycles{}",
                count(at.mean),
                ends.unwrap_or_default()
            )
        }
        (_, [Side::Below, Side::Below]) => format!(
            "{network} is faster than {told}, even if a message is under way for {} cycles",
            cycles(&last.name)
        ),
        (None, [Side::Below, Side::Above]) => format!(
            "{network} is faster than {told} with fast messages, and slower if a message is under way for {} cycles",
            cycles(&last.name)
        ),
        (_, [Side::Above, _]) => {
            format!("{network} is slower than {told}, however fast its messages are")
        }
        (_, [first, _]) => {
            let faster = match first {
                Side::Below => " with fast messages it is faster, with slow messages",
                _ => "",
            };
            format!("{network}, compared with {told}:{faster} no difference is shown")
        }
    };
    Some((said + &ground, ends.map(|ratio| (ratio, 1.0)).into()))
}

/// The transport with which the thesis's barrier takes as long as `other`. `None` if no transport does so in one of the
/// orders of events.
fn crossing(compared: &Compared, other: &str) -> Option<Ratio> {
    let level = compared.cells.first()?.times(other)?;
    let at = level.iter().enumerate().map(|(order, level)| {
        let point = |cell: &crate::study::compared::ComparedCell| {
            let value = cell.name.parse().ok()?;
            Some((value, *cell.times(CHANNEL)?.get(order)?))
        };
        let points: Option<Vec<(u64, f64)>> = compared.cells.iter().map(point).collect();
        Curve::reached(&points?, *level).map(f64::ln)
    });
    Ratio::of_logs(&at.collect::<Option<Vec<f64>>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::unit::Unit;

    /// The sentence for a barrier that takes 600 cycles more than its transport, and another barrier that takes `other`
    /// cycles, under three orders of events.
    fn text(other: [f64; 3]) -> String {
        let mut compared = Compared::new("In a loop of waits".into(), Unit::Cycles, true);
        for value in [5, 200, 20_000] {
            let channel = [599.0, 600.0, 601.0].map(|time| time + value as f64);
            let times = [(CHANNEL, channel), ("flags", other)];
            let times = times.map(|(name, times)| (name.to_owned(), times.to_vec()));
            compared.add(value.to_string(), times.into_iter());
        }
        sentence(&compared).text
    }

    #[test]
    fn a_difference_is_named_if_it_is_shown() {
        let faster = text([700.0, 700.0, 700.0]);
        assert!(
            faster.contains("faster than flags, the fastest through memory, until")
                && faster.contains("about 100 cycles (98 to 103)"),
            "{faster}"
        );
        let always = text([30_000.0, 30_100.0, 29_900.0]);
        assert!(
            always.contains("even if a message is under way for 20,000 cycles"),
            "{always}"
        );
        let never = text([400.0, 401.0, 399.0]);
        assert!(never.contains("slower than flags"), "{never}");
        // Under one of the orders the network's barrier is never faster, so there is no crossing.
        let mut compared = Compared::new("In a loop of waits".into(), Unit::Cycles, true);
        for (value, channel) in [(5, [600.0, 610.0, 610.0, 704.0]), (20_000, [20_000.0; 4])] {
            let times = [(CHANNEL, channel), ("flags", [700.0, 701.0, 702.0, 703.0])];
            let times = times.map(|(name, times)| (name.to_owned(), times.to_vec()));
            compared.add(value.to_string(), times.into_iter());
        }
        let ends = |compared: &Compared| compared.cells[0].ratio(CHANNEL, "flags").unwrap();
        for _ in 0..4 {
            // More of the same orders make the interval narrow.
            let more = compared.clone();
            compared = Compared::joined([compared, more]).unwrap();
        }
        assert_eq!(ends(&compared).side(1.0), Side::Below);
        let both = sentence(&compared).text;
        assert!(
            both.contains("slower if a message is under way for 20,000"),
            "{both}"
        );
        let open = text([500.0, 700.0, 600.0]);
        assert!(open.contains("no difference is shown"), "{open}");
    }
}
