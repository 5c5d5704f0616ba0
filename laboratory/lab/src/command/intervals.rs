//! The statistics of a sweep over seeds or orders of events (seeds of random delays). A point without its seed gets the
//! mean of every number that the seed changes, and the interval that contains the true mean in 95 of 100 sweeps.

use crate::measure::student::Mean;
use anyhow::ensure;

/// The rows of one point under one seed.
pub(super) struct Rows {
    /// The values of the other keys.
    pub(super) point: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

/// Rows that belong together: one row under each seed of one point.
type Group<'a> = Vec<&'a [String]>;

/// How a column depends on the seed.
enum Column {
    /// The column is the same under all seeds. The table shows the value.
    Fixed,
    /// The column has numbers that differ. The table shows their mean, and the low and high ends of the interval.
    /// A point without numbers shows its text if all its samples have the same text. Otherwise it shows nothing.
    Moved,
    /// The column has words that differ, and no numbers. The table leaves the column out.
    Left,
}

/// Returns the table: `keys`, the number of seeds in the column `count`, and the columns in `header`.
///
/// # Errors
///
/// Fails if a point has more rows under one seed than under another.
pub(super) fn table(
    keys: &[&str],
    count: &str,
    header: &[String],
    runs: &[Rows],
) -> anyhow::Result<String> {
    let mut points: Vec<(&[String], Vec<&Rows>)> = Vec::new();
    for run in runs {
        match points.iter_mut().find(|(point, _)| *point == run.point) {
            Some((_, same)) => same.push(run),
            None => points.push((&run.point, vec![run])),
        }
    }
    let mut groups: Vec<(&[String], Group)> = Vec::new();
    for (point, same) in &points {
        let rows = same[0].rows.len();
        ensure!(
            same.iter().all(|run| run.rows.len() == rows),
            "no intervals: at {} the study has more rows with one seed than with another",
            point.join(", ")
        );
        for row in 0..rows {
            let group = same.iter().map(|run| &run.rows[row][..]).collect();
            groups.push((point, group));
        }
    }
    let columns: Vec<Column> = (0..header.len()).map(|at| column(&groups, at)).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut names: Vec<String> = keys.iter().map(|key| format!("sweep.{key}")).collect();
    names.push(count.into());
    for (name, column) in header.iter().zip(&columns) {
        match column {
            Column::Fixed => names.push(name.clone()),
            Column::Moved => {
                names.extend(["", ".low", ".high"].map(|end| format!("{name}{end}")));
            }
            Column::Left => {}
        }
    }
    writer.write_record(&names)?;
    for (point, group) in &groups {
        let mut row = point.to_vec();
        row.push(group.len().to_string());
        for (at, column) in columns.iter().enumerate() {
            match column {
                Column::Fixed => row.push(group[0][at].clone()),
                Column::Moved if is_number(group, at) => row.extend(interval(&numbers(group, at))),
                Column::Moved if is_fixed(group, at) => {
                    row.extend([&*group[0][at], "", ""].map(str::to_owned));
                }
                Column::Moved => row.extend([(); 3].map(|()| String::new())),
                Column::Left => {}
            }
        }
        writer.write_record(&row)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

fn column(groups: &[(&[String], Group)], at: usize) -> Column {
    if groups.iter().all(|(_, group)| is_fixed(group, at)) {
        Column::Fixed
    } else if groups
        .iter()
        .any(|(_, group)| is_number(group, at) && !is_fixed(group, at))
    {
        Column::Moved
    } else {
        Column::Left
    }
}

fn is_fixed(group: &Group, at: usize) -> bool {
    group.iter().all(|row| row[at] == group[0][at])
}

fn is_number(group: &Group, at: usize) -> bool {
    numbers(group, at).len() == group.len()
}

/// Returns the numbers among a column's cells.
fn numbers(group: &Group, at: usize) -> Vec<f64> {
    let cells = group.iter().map(|row| row[at].parse::<f64>());
    cells
        .filter_map(Result::ok)
        .filter(|number| number.is_finite())
        .collect()
}

/// Returns the mean, low and high, with enough digits to show a difference between them. If there are no numbers,
/// returns empty texts.
fn interval(samples: &[f64]) -> [String; 3] {
    let Some(Mean { mean, half }) = Mean::of(samples) else {
        return Default::default();
    };
    // One sample gives no interval.
    let Some(half) = half else {
        return [mean.to_string(), String::new(), String::new()];
    };
    // Rounding may change the last digits of the mean of equal fractions.
    if samples.iter().all(|&sample| sample == samples[0]) {
        return [(); 3].map(|()| samples[0].to_string());
    }
    let digits = (2.0 - half.log10().floor()).clamp(0.0, 15.0) as usize;
    [mean, mean - half, mean + half].map(|number| format!("{number:.digits$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(point: &str, rows: &[[&str; 3]]) -> Rows {
        Rows {
            point: vec![point.into()],
            rows: rows
                .iter()
                .map(|row| row.map(str::to_owned).into())
                .collect(),
        }
    }

    fn of(runs: &[Rows]) -> anyhow::Result<String> {
        table(
            &["episodes"],
            "seeds",
            &["name", "time", "word"].map(String::from),
            runs,
        )
    }

    #[test]
    fn what_the_seed_moves_has_an_interval() {
        let runs = [
            run("5", &[["a", "10", "x"], ["b", "1", "x"]]),
            run("5", &[["a", "12", "y"], ["b", "1", "x"]]),
            run("7", &[["a", "3", "x"], ["b", "0.1", "x"]]),
            run("7", &[["a", "3", "x"], ["b", "0.1", "x"]]),
            run("7", &[["a", "3", "x"], ["b", "0.1", "x"]]),
        ];
        let text = of(&runs).unwrap();
        // The interval is 11 +- 12.706 * sqrt(2) / sqrt(2).
        let expected = "sweep.episodes,seeds,name,time,time.low,time.high\n\
                        5,2,a,11.0,-1.7,23.7\n5,2,b,1,1,1\n7,3,a,3,3,3\n7,3,b,0.1,0.1,0.1\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_point_without_numbers_does_not_change_other_points() {
        let runs = [
            run("5", &[["a", "10", "x"], ["b", "", "x"], ["c", "-", "x"]]),
            run("5", &[["a", "12", "x"], ["b", "3", "x"], ["c", "-", "x"]]),
        ];
        let expected = "sweep.episodes,seeds,name,time,time.low,time.high,word\n\
                        5,2,a,11.0,-1.7,23.7,x\n5,2,b,,,,x\n5,2,c,-,,,x\n";
        assert_eq!(of(&runs).unwrap(), expected);
    }

    #[test]
    fn rows_that_do_not_match_are_refused() {
        let runs = [run("5", &[["a", "1", "x"]]), run("5", &[])];
        let error = of(&runs).unwrap_err().to_string();
        assert!(error.contains("more rows"), "{error}");
    }
}
