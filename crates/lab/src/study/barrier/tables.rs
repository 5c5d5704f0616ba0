//! The tables: an episode by barrier and cores, its exit latency, a single
//! episode beside the closed form, and what remains on other machines.

use super::compare::{BASELINES, CHANNEL, Numbers, closed_form, closed_form_apart};
use crate::report::table::{Cell, Table};
use crate::study::team::{Arrivals, Summary};
use manycore_chip::config::Optical;

/// An episode in a loop.
pub(super) fn episodes(numbers: Numbers<'_>) -> Table {
    let config = numbers.config;
    let unit = config.setup.unit().name();
    let mut counts: Vec<usize> = config.cores.iter().map(|&at| config.episodes(at)).collect();
    counts.dedup();
    let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
    let waits = counts.join(", with more cores ");
    by_cores(
        numbers,
        format!("One wait of a loop of {waits}, by cores: {unit}, end to end over their number"),
        |cores, name| Some(numbers.of(0, cores, name)?.an_episode()),
        None,
    )
}

/// From the last arrival to the last departure, in the loop.
pub(super) fn exits(numbers: Numbers<'_>) -> Table {
    let unit = numbers.config.setup.unit().name();
    by_cores(
        numbers,
        format!(
            "Exit latency in the loop, from the last arrival to the last departure: median, {unit}"
        ),
        |cores, name| Some(numbers.of(0, cores, name)?.exit.median),
        None,
    )
}

/// Single episodes beside what the thesis's own figures say; simulated only.
pub(super) fn single(numbers: Numbers<'_>) -> Vec<Table> {
    if numbers.config.setup.machines.is_host() {
        return Vec::new();
    }
    type Form = fn(&Optical, usize) -> u64;
    let tables = [
        (
            Arrivals::Together,
            "all arriving in the same cycle",
            closed_form as Form,
        ),
        (
            Arrivals::Apart,
            "one arriving long after the other",
            closed_form_apart,
        ),
    ];
    let table = |(arrivals, how, form): (Arrivals, &str, Form)| {
        by_cores(
            numbers,
            format!("Exit latency of a single episode, {how}: median, cycles"),
            |cores, name| Some(numbers.isolated(cores, name, arrivals)?.exit.median),
            numbers.optical().map(|optical| (optical, form)),
        )
    };
    tables.map(table).into()
}

/// A row a barrier, a column a core count, the least of each marked.
fn by_cores(
    numbers: Numbers<'_>,
    caption: String,
    value: impl Fn(usize, &str) -> Option<f64>,
    form: Option<(&Optical, fn(&Optical, usize) -> u64)>,
) -> Table {
    let config = numbers.config;
    let (unit, barriers) = (config.setup.unit(), &config.setup.barriers);
    let mut rows: Vec<Vec<Cell>> = barriers
        .iter()
        .map(|name| vec![Cell::new(&**name)])
        .collect();
    for &cores in &config.cores {
        let values: Vec<_> = barriers.iter().map(|name| value(cores, name)).collect();
        let least = values
            .iter()
            .flatten()
            .copied()
            .fold(f64::INFINITY, f64::min);
        for (row, value) in rows.iter_mut().zip(values) {
            row.push(Cell {
                text: value.map_or("-".into(), |value| unit.show(value)),
                best: value == Some(least),
            });
        }
    }
    if let Some((optical, form)) = form {
        let of = |&cores: &usize| Cell::new(form(optical, cores).to_string());
        let name = std::iter::once(Cell::new("closed form of channel"));
        rows.insert(0, name.chain(config.cores.iter().map(of)).collect());
    }
    let mut header = vec!["barrier".to_owned()];
    header.extend(config.cores.iter().map(usize::to_string));
    Table {
        caption,
        header,
        rows,
    }
}

/// What remains of the thesis's gain on other machines.
pub(super) fn remains(numbers: Numbers<'_>) -> Option<Table> {
    let machines = &numbers.config.setup.machines;
    if machines.0.len() < 2 {
        return None;
    }
    let mut header = vec!["machine".to_owned(), "cores".into()];
    header.extend(BASELINES.map(str::to_owned));
    header.extend(
        [
            "best in\nmemory",
            "",
            CHANNEL,
            "gain over\nsense",
            "over\nfutex",
            "over best\nin memory",
        ]
        .map(str::to_owned),
    );
    header.extend(["best over\nthe network", ""].map(str::to_owned));
    let row = |machine| {
        let cores = numbers.config.cores_of(machine);
        let of = |name: &str| numbers.of(machine, cores, name);
        let show = |summary: Option<&Summary>| {
            let unit = numbers.config.setup.unit();
            Cell::new(summary.map_or("-".into(), |summary| unit.show(summary.an_episode())))
        };
        let name = |summary: Option<&Summary>| {
            Cell::new(summary.map_or("-", |summary| &summary.point.barrier))
        };
        let (channel, software) = (of(CHANNEL), numbers.software(machine, cores));
        let gain = |over: Option<&Summary>| {
            let gain = over.zip(channel);
            let gain = gain.map(|(over, channel)| over.an_episode() / channel.an_episode());
            Cell::new(gain.map_or("-".into(), |gain| format!("{gain:.2}")))
        };
        let beyond = numbers.beyond(machine, cores);
        let mut row = vec![
            Cell::new(machines.name(machine)),
            Cell::new(cores.to_string()),
        ];
        row.extend(BASELINES.map(|name| show(of(name))));
        row.extend([name(software), show(software), show(channel)]);
        row.extend(BASELINES.map(|name| gain(of(name))));
        row.extend([gain(software), name(beyond), show(beyond)]);
        row
    };
    Some(Table {
        caption: "What remains of the thesis's gain: cycles of one wait in a loop, by machine"
            .into(),
        header,
        rows: (0..machines.0.len()).map(row).collect(),
    })
}
