//! `manycore study NAME --sweep KEY=A,B` and `--orders N`: one study at every point of a grid, in one table.
//!
//! A point is the study with one value for each swept key. The orders of events (seeds of random delays:
//! `study/order.rs`) are the values of one more key. Measurements go to a journal, a file with a line for each point. A
//! process that is killed loses only the current point, and the same command continues with that point. With
//! `--shard I/N` a process measures only every Nth point. `manycore merge` makes the table from the journals of all
//! shards.

use super::sweep_grid::{Grid, Points, Record};
use super::sweep_points::SweepPoints;
use crate::cli::StudyArgs;
use crate::failure::bad_input;
use crate::measure::journal::{self, Journal, Measurer};
use crate::report::files::OutFolder;
use crate::shard::Shard;
use crate::study::{self, order};
use crate::world::World;

/// Measures the points that are not in the journal yet.
pub(super) fn run(args: &StudyArgs) -> anyhow::Result<()> {
    super::study::refuse_instruments(args)?;
    let mut grid = Grid::new(args)?;
    let until = args.orders.is_some_and(|orders| orders.until);
    if until && args.shard.is_some() {
        return Err(bad_input(
            "--orders until:N: the number of orders depends on the results of all points; \
            expected no --shard",
        ));
    }
    let mut plans = Vec::new();
    let mut is_native = false;
    // All points are checked before the first is measured.
    for values in &grid.points {
        let at = grid.at(args, values)?;
        let home = study::find(&at.name)?.home_with(&at.set);
        if args.orders.is_some() && at.on.as_deref().unwrap_or(home) == "native" {
            return Err(order::refused_here());
        }
        let (study, mut request) = super::study::request(&at)?;
        if let (Some(order), World::Simulated(machine)) = (grid.order(values), &request.world) {
            request.world = World::Simulated(Box::new(order::required(machine, order)?));
        }
        is_native |= matches!(request.world, World::Native);
        plans.push(study.plan(&request)?);
    }
    let questions = plans.iter().map(|plan| plan.question_hash());
    let questions = questions.collect::<anyhow::Result<Vec<_>>>()?;
    grid.refuse_equal(&questions)?;
    grid.questions = journal::hash(&questions)?;
    let measurer = match is_native {
        true => Measurer::native(),
        false => Measurer::simulated(),
    };
    let out = OutFolder::prepare(&args.effort.out)?;
    let file = grid.file()?;
    let name = format!("{file}.journal");
    let (mut journal, records) = Journal::open(out.path(&name), &measurer, args.fresh)?;
    if records.is_empty() {
        journal.append(&Record::Grid(grid.clone()))?;
    }
    let mut points = Points::new();
    for record in records {
        if let Record::Point(point) = record {
            points.insert(point.number, point);
        }
    }
    let measured = SweepPoints {
        grid: &grid,
        plans: &plans,
        shard: args.shard.unwrap_or(Shard { index: 1, all: 1 }),
        is_native,
        until,
        out: &out,
    };
    let end = measured.measure(&mut points, &mut journal)?;
    grid = grid.until(end);
    points.retain(|&number, _| number < end);
    if points.len() < grid.points.len() {
        return super::output::print(&format!(
            "{} of {} points are in {}; `manycore merge` makes a table from the journals of all \
            shards",
            points.len(),
            grid.points.len(),
            journal.path().display()
        ));
    }
    grid.finish(&file, &points, &measurer, &out, args.format)?;
    // `merge` reads the journals of shards.
    match args.shard {
        Some(_) => Ok(()),
        None => journal.remove(),
    }
}
