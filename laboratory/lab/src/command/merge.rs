//! `manycore merge`: one table from the journals (files of measurements) of a sweep's shards (the parts that single
//! processes measure).

use super::sweep_grid::{Points, Record};
use crate::cli::MergeArgs;
use crate::failure::bad_input;
use crate::measure::journal;
use crate::report::files::OutFolder;

pub(super) fn run(args: &MergeArgs) -> anyhow::Result<()> {
    let mut merged = None;
    let mut points = Points::new();
    for path in &args.journals {
        let wrong = |what: String| bad_input(format!("{}: {what}", path.display()));
        let (measurer, records) = journal::read(path)?;
        let mut records = records.into_iter();
        let Some(Record::Grid(grid)) = records.next() else {
            return Err(wrong(
                "this journal is not of a sweep; expected NAME.sweep-HASH.journal".into(),
            ));
        };
        let first = merged.get_or_insert_with(|| (path, measurer.clone(), grid.clone()));
        if first.1 != measurer {
            return Err(wrong(format!(
                "measured by {measurer}, but {} was measured by {}; expected journals of one \
                build and one host",
                first.0.display(),
                first.1
            )));
        }
        if first.2 != grid {
            return Err(wrong(format!(
                "another sweep than in {}; expected the shards of one sweep",
                first.0.display()
            )));
        }
        for record in records {
            let Record::Point(point) = record else {
                return Err(wrong(
                    "this journal has two sweeps; expected a journal with one sweep".into(),
                ));
            };
            match points.get(&point.number) {
                Some(other) if *other != point => {
                    return Err(wrong(format!(
                        "{} has another result here than in a journal before; expected each point \
                         in only one journal, or with the same result",
                        grid.name(point.number)
                    )));
                }
                _ => {
                    points.insert(point.number, point);
                }
            }
        }
    }
    let Some((_, measurer, grid)) = merged else {
        return Err(bad_input("expected at least one journal"));
    };
    if !measurer.is_here() {
        return Err(bad_input(format!(
            "these journals were measured by {measurer}, not on this host; expected `manycore \
            merge` on the host that measured them"
        )));
    }
    grid.finish(
        &grid.file()?,
        &points,
        &measurer,
        &OutFolder::prepare(&args.out)?,
        args.format,
    )
}
