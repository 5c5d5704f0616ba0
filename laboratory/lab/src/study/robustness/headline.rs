//! What a reader shall know first.

use super::config::{Contestants, Parameter};
use super::curve::Curve;
use super::tables;
use crate::report::words;
use crate::study::team::Race;

/// The figure's title: how slow the network may be.
pub(super) fn message(race: Race<'_, Contestants<'_>>) -> Option<String> {
    let curve = Curve::of(race, Parameter::Transport)?;
    let others = tables::beside(race).into_iter();
    let best = others.min_by(|a, b| a.total.median.total_cmp(&b.total.median))?;
    let (app, name, level) = (
        race.config.app.place(),
        &best.point.barrier,
        best.total.median,
    );
    let (slowest, last) = curve.points.last()?;
    Some(match curve.reaches(level) {
        Some(value) => format!(
            "In {app} the barrier over the network is faster than {name}, the best through memory, \
             until a message is under way for about {} cycles",
            words::count(value.round() as u64)
        ),
        None if *last <= level => format!(
            "In {app} the barrier over the network is faster than {name}, the best through memory, \
             even if a message is under way for {} cycles",
            words::count(*slowest)
        ),
        None => format!(
            "In {app} the barrier over the network is slower than {name}, the best through memory, \
             however fast its messages are"
        ),
    })
}

/// The section's first sentences.
pub(super) const LEAD: &str = "A barrier is a place in a program where each thread waits until all have come. In a \
     thesis by S. J. Park (MIT, 2013) cores tell each other by light: an optical network takes each \
     message to all cores at once. Here that network is made slower, step by step, to see how fast \
     it must be.";
