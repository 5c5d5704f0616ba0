//! The tables: the loop, single episodes (waits of the whole team), and the gain of the thesis (Park 2013) on other
//! machines.

use super::config::{BarrierConfig, FREE_SWITCH, SLEEPING};
use crate::report::table::{Cell, Table};
use crate::study::team::{Arrivals, BASELINES, CHANNEL, Contest, PointSummary, Race, closed_form};
use manycore_chip::config::Optical;

pub(super) fn episodes(race: Race<'_, BarrierConfig>) -> Table {
    let config = race.config;
    let unit = config.setup.unit().name();
    let mut waits = Vec::new();
    let mut last = 0;
    for &cores in &config.cores {
        let count = config.episodes(cores);
        if count != last {
            waits.push(match last {
                0 => format!("{count} waits"),
                _ => format!("{count} from {cores} cores on"),
            });
            last = count;
        }
    }
    race.table(
        format!(
            "One wait in a loop of {}, by cores: {unit}, the whole time divided by the number of \
             waits",
            waits.join(", ")
        ),
        None,
        |cores, name| Some(race.of(0, cores, name)?.an_episode()),
    )
}

pub(super) fn exits(race: Race<'_, BarrierConfig>) -> Table {
    let unit = race.config.setup.unit().name();
    race.table(
        format!(
            "Exit latency in the loop, from the last arrival to the last departure: median, {unit}"
        ),
        None,
        |cores, name| Some(race.of(0, cores, name)?.exit.median),
    )
}

/// Single episodes, which only simulated machines have.
pub(super) fn single(race: Race<'_, BarrierConfig>) -> Vec<Table> {
    type Form = fn(&Optical, usize) -> u64;
    if race.config.setup.machines.is_host() {
        return Vec::new();
    }
    let table = |arrivals, how, form: Form| {
        let optical = race.optical();
        let form = |cores| optical.map_or(0, |optical| form(optical, cores));
        race.table(
            format!("Exit latency of a single wait, {how}: median, cycles"),
            optical.map(|_| ("closed form of channel", &form as _)),
            |cores, name| {
                let single = race
                    .measured
                    .of(&race.config.single(cores, name, arrivals))?;
                Some(single.exit.median)
            },
        )
    };
    vec![
        table(
            Arrivals::Together,
            "if all members arrive in the same cycle",
            closed_form::together,
        ),
        table(
            Arrivals::Apart,
            "if each member arrives long after the one before",
            closed_form::apart,
        ),
    ]
}

pub(super) fn remains(race: Race<'_, BarrierConfig>) -> Option<Table> {
    let machines = &race.config.setup.machines;
    if machines.0.len() < 2 {
        return None;
    }
    let mut header = vec!["machine".to_owned(), "cores".into()];
    header.extend(BASELINES.map(str::to_owned));
    header.extend([
        "best through\nmemory".to_owned(),
        String::new(),
        CHANNEL.into(),
    ]);
    header.extend(BASELINES.map(|name| format!("gain over\n{name}")));
    header.extend(
        [
            "gain over best\nthrough memory",
            "best through\nthe network",
            "",
        ]
        .map(str::to_owned),
    );
    let row = |machine| {
        let cores = race.config.cores_of(machine);
        let of = |name: &str| race.of(machine, cores, name);
        let show = |summary: Option<&PointSummary>| {
            let unit = race.config.setup.unit();
            Cell::or_dash(summary.map(|summary| unit.show(summary.an_episode())))
        };
        let name = |summary: Option<&PointSummary>| {
            Cell::new(summary.map_or("-", |summary| &summary.point.barrier))
        };
        let (channel, software) = (of(CHANNEL), race.software(machine, cores));
        let gain = |over: Option<&PointSummary>| {
            let gain = over.zip(channel);
            let gain = gain.map(|(over, channel)| over.total.median / channel.total.median);
            Cell::or_dash(gain.map(|gain| format!("{gain:.2}")))
        };
        let beyond = race.beyond(machine, cores);
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
        caption:
            "How much of the thesis's gain remains on each machine: cycles of one wait in a loop"
                .into(),
        header,
        rows: (0..machines.0.len()).map(row).collect(),
    })
}

/// The sense-reversing barrier, with its two words on two cache lines and on one.
const SENSE: [&str; 2] = ["sense", "sense-on-a-line"];

/// Barriers that the thesis may have compared with. Those with sleep appear also with [`FREE_SWITCH`].
pub(super) fn as_it_may_have_been(race: Race<'_, BarrierConfig>) -> Option<Table> {
    let config = race.config;
    let unit = config.setup.unit();
    let mut rows = Vec::new();
    let mut row = |name: String, of: &dyn Fn(usize) -> Option<f64>| {
        let values: Vec<Option<f64>> = config.cores().iter().map(|&cores| of(cores)).collect();
        if values.iter().any(Option::is_some) {
            let text = |value: Option<f64>| value.map_or("-".into(), |value| unit.show(value));
            let cells = values.into_iter().map(|value| Cell::new(text(value)));
            rows.push(std::iter::once(Cell::new(name)).chain(cells).collect());
        }
    };
    for name in SENSE.into_iter().chain(SLEEPING) {
        row(name.into(), &|cores| {
            Some(race.of(0, cores, name)?.an_episode())
        });
    }
    for name in SLEEPING {
        let free = |cores| Some(race.measured.of(&config.free(cores, name)?)?.an_episode());
        row(format!("{name}, {FREE_SWITCH}"), &free);
    }
    let mut header = vec!["barrier".to_owned()];
    header.extend(config.cores().iter().map(usize::to_string));
    (rows.len() > 2).then(|| Table {
        caption: format!(
            "Barriers that the thesis may have compared with: one wait of the loop, {}",
            unit.name()
        ),
        header,
        rows,
    })
}
