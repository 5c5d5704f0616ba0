//! `manycore figure FILE.csv`: draws speedups by number of threads from the table that the study has written.

use super::peer::{OURS, Peer};
use crate::failure::bad_input;
use crate::measure::statistics::geometric_mean;
use crate::model::{ModelError, Source};
use manycore_figure::{Axis, Figure, Panel, Point, Series};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The columns that the table must have.
const COLUMNS: [&str; 7] = [
    "world",
    "machine",
    "threads",
    "program",
    "peer",
    "gap",
    "ratio_serial",
];

/// The most panels of a figure.
const MOST: usize = 24;

const COUNT: &str = "a whole number from 1 to 4096";
const RATIO: &str = "a number above 0, or nothing if a run failed or the serial time is not known";

/// The column that only this study's table has.
const PEER: &str = "peer";

/// Whether the text begins with the header of this study's table.
pub(crate) fn is_table(text: &str) -> bool {
    let header = text.lines().next().unwrap_or_default();
    header.split(',').any(|name| name.trim() == PEER)
}

/// A machine and a program, with the speedups of each peer (other runtime) by number of threads.
struct Place {
    machine: String,
    program: String,
    peers: BTreeMap<String, BTreeMap<usize, f64>>,
}

/// Returns the figure of a table. Each program and machine has a panel with manycore and the peers that are fastest
/// with the most threads.
///
/// # Errors
///
/// If a row is not a measurement, or if no row has a speedup of manycore.
pub(crate) fn figures(path: &Path) -> anyhow::Result<Vec<Figure>> {
    let wrong = |what: String| bad_input(format!("{}{what}", path.display()));
    let (mut places, worlds) = read(path)?;
    places.retain(|place| place.peers.contains_key(OURS));
    match places.len() {
        0 => {
            return Err(wrong(format!(
                ": no speedup of `{OURS}`; expected one, in a row whose gap is `none`"
            )));
        }
        1..=MOST => {}
        many => {
            return Err(wrong(format!(
                ": {many} machines and programs; expected at most {MOST}"
            )));
        }
    }
    // The panels of a program stand side by side.
    let mut programs: Vec<String> = Vec::new();
    for place in &places {
        if !programs.contains(&place.program) {
            programs.push(place.program.clone());
        }
    }
    places.sort_by_key(|place| programs.iter().position(|name| *name == place.program));
    Ok(vec![Figure {
        part: String::new(),
        message: message(&places),
        note: format!(
            "Speedup over one thread without a runtime, in the steady state, by threads ({})",
            Vec::from_iter(worlds).join(" and ")
        ),
        panels: places.iter().map(Place::panel).collect(),
    }])
}

/// Returns the places of a table, and the worlds of its rows.
fn read(path: &Path) -> anyhow::Result<(Vec<Place>, BTreeSet<String>)> {
    let refused = |error: ModelError| bad_input(error.to_string());
    let source = Source::open(path).map_err(refused)?;
    let sheet = source.sheet(&COLUMNS).map_err(refused)?;
    let mut places: Vec<Place> = Vec::new();
    let mut worlds = BTreeSet::new();
    for row in sheet.rows() {
        let count = |count: &usize| (1..=4096).contains(count);
        let threads = row.parse("threads", COUNT, count).map_err(refused)?;
        let (machine, program) = (row.text("machine"), row.text("program"));
        let peer = row.text(PEER);
        let is_shown = peer == OURS || Peer::is_peer(peer);
        if row.text("gap") != "none" || row.text("ratio_serial").is_empty() || !is_shown {
            continue;
        }
        worlds.insert(row.text("world").to_owned());
        let ratio: f64 = row
            .parse("ratio_serial", RATIO, |ratio: &f64| {
                ratio.is_finite() && *ratio > 0.0 && ratio.recip().is_finite()
            })
            .map_err(refused)?;
        let known = places
            .iter()
            .position(|place| place.machine == machine && place.program == program);
        let at = known.unwrap_or_else(|| {
            places.push(Place {
                machine: machine.to_owned(),
                program: program.to_owned(),
                peers: BTreeMap::new(),
            });
            places.len() - 1
        });
        let peers = &mut places[at].peers;
        let speedups = peers.entry(peer.to_owned()).or_default();
        if speedups.insert(threads, 1.0 / ratio).is_some() {
            let line = row.line();
            return Err(bad_input(format!(
                "{}, line {line}: a second speedup of {peer}, {program}, {machine}, {threads} threads; \
                 expected one speedup",
                path.display()
            )));
        }
    }
    Ok((places, worlds))
}

impl Place {
    /// The largest number of threads for which manycore has a speedup.
    fn most(&self) -> usize {
        let ours = self.peers.get(OURS);
        let most = ours.and_then(|speedups| speedups.last_key_value());
        most.map_or(1, |(threads, _)| *threads)
    }

    /// The fastest peers with the most threads. A runtime counts once, with its fastest variant.
    fn best(&self) -> Vec<(&str, f64)> {
        let peers = self.peers.iter().filter(|(peer, _)| *peer != OURS);
        let speedups =
            peers.filter_map(|(peer, by_threads)| Some((&**peer, *by_threads.get(&self.most())?)));
        let mut speedups: Vec<(&str, f64)> = speedups.collect();
        speedups.sort_by(|a, b| b.1.total_cmp(&a.1));
        Peer::shown(speedups)
    }

    /// With the most threads, the speedup of manycore divided by that of the best peer.
    fn over_best(&self) -> Option<f64> {
        let ours = self.peers.get(OURS)?.get(&self.most())?;
        Some(ours / self.best().first()?.1)
    }

    fn panel(&self) -> Panel {
        let shown = std::iter::once(OURS).chain(self.best().into_iter().map(|(peer, _)| peer));
        let series = shown.map(|peer| {
            let points = self.peers[peer].iter();
            let points = points.map(|(&threads, &speedup)| Point::exact(threads as f64, speedup));
            Series::measured(peer, points.collect())
        });
        Panel::lines(
            format!("{}, {}", self.program, self.machine),
            Axis::logarithmic("threads", ""),
            Axis::logarithmic("speedup", ""),
            series,
        )
    }
}

fn message(places: &[Place]) -> String {
    let ratios: Vec<f64> = places.iter().filter_map(Place::over_best).collect();
    match ratios.len() {
        0 => "No peer has a result to compare with".into(),
        panels => format!(
            "With the most threads manycore is {:.2} times as fast as the best peer (geometric mean of \
             {panels} panels)",
            geometric_mean(ratios)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(rows: &str) -> anyhow::Result<Vec<Figure>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("peers.csv");
        let text = format!("world,machine,threads,program,peer,gap,ratio_serial\n{rows}");
        assert!(is_table(&text));
        std::fs::write(&path, text).unwrap();
        figures(&path)
    }

    #[test]
    fn ours_and_the_three_fastest_runtimes_are_shown() {
        let rows = "simulated,a,1,mid,manycore,none,1.0\n\
                    simulated,a,4,mid,manycore,none,0.25\n\
                    simulated,a,4,mid,manycore,1 ms,9\n\
                    simulated,a,4,mid,manycore-rayon,none,0.1\n\
                    simulated,a,4,mid,gomp-static,none,0.5\n\
                    simulated,a,4,mid,gomp-active,none,0.4\n\
                    simulated,a,4,mid,rayon,none,0.8\n\
                    simulated,a,4,mid,chili,none,\n\
                    simulated,a,4,mid,orx,none,2\n\
                    simulated,a,4,mid,forte,none,1\n";
        let figures = figure(rows).unwrap();
        let [figure] = &figures[..] else { panic!() };
        assert!(figure.message.contains("1.60 times"), "{}", figure.message);
        let [panel] = &figure.panels[..] else {
            panic!()
        };
        let manycore_figure::Content::Lines { series, .. } = &panel.content else {
            panic!()
        };
        let names: Vec<&str> = series.iter().map(|series| &*series.name).collect();
        assert_eq!(names, ["manycore", "gomp-active", "rayon", "forte"]);
    }

    #[test]
    fn a_table_without_manycore_is_refused() {
        let told = |rows: &str| figure(rows).unwrap_err().to_string();
        assert!(told("simulated,a,4,mid,rayon,none,1\n").contains("no speedup of `manycore`"));
        assert!(told("simulated,a,0,mid,rayon,none,1\n").contains("threads"));
        let twice = "simulated,a,4,mid,manycore,none,1\n";
        assert!(told(&twice.repeat(2)).contains("line 3: a second speedup"));
    }
}
