//! Reads from CSV: measured latencies, and configurations for which a model predicts a block.

use super::configuration::{Configuration, ITERATIONS};
use super::error::ModelError;
use crate::input;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::str::FromStr;

/// The columns that a configuration needs. A column `n` is optional.
const CONFIGURATION: [&str; 6] = [
    "machine",
    "core_groups",
    "threads",
    "unit_read",
    "unit_write",
    "unit_comp",
];
/// The further columns of a measurement.
const MEASUREMENT: [&str; 2] = ["block_size", "latency_clocks"];

/// The most measurements and machines of a fit. Its time grows with the number of measurements and with the square of
/// the number of machines.
const MOST_ROWS: usize = 10_000;
const MOST_MACHINES: usize = 32;

const COUNT: &str = "a whole number, at least 1";
const AMOUNT: &str = "a whole number, at least 0";
const LATENCY: &str = "a number above 0";

/// One configuration, measured with several block sizes.
#[derive(Clone, Debug)]
pub(crate) struct PublishedCell {
    pub(crate) at: Configuration,
    /// Block sizes and latencies, in order of block size. There is at least one pair.
    pub(crate) measured: Vec<(usize, f64)>,
}

impl PublishedCell {
    pub(crate) fn best(&self) -> f64 {
        let latencies = self.measured.iter().map(|&(_, latency)| latency);
        latencies.fold(f64::INFINITY, f64::min)
    }

    /// Returns the share by which this block takes longer than the best block. If this block was not measured, uses the
    /// measured block that is nearest by ratio. If two blocks are equally near, uses the smaller block.
    pub(crate) fn regret(&self, block: f64) -> f64 {
        let distance = |measured: usize| (measured as f64 / block).ln().abs();
        let nearest = self
            .measured
            .iter()
            .min_by(|a, b| distance(a.0).total_cmp(&distance(b.0)));
        nearest.map_or(f64::NAN, |&(_, latency)| latency / self.best() - 1.0)
    }
}

/// A CSV file in memory, and its name in errors.
pub(crate) struct Source {
    name: String,
    text: String,
}

impl Source {
    pub(crate) fn open(path: &Path) -> Result<Self, ModelError> {
        let text = input::read(path).map_err(|source| ModelError::Read {
            path: path.to_owned(),
            source,
            expected: "a CSV file with a header",
        })?;
        Ok(Self {
            name: path.display().to_string(),
            text,
        })
    }

    /// A file that is part of the program.
    pub(super) fn shipped(name: &str, text: &str) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
        }
    }

    /// Reads latencies. Gathers them by configuration, in order of first appearance.
    pub(crate) fn cells(&self) -> Result<Vec<PublishedCell>, ModelError> {
        let mut cells: Vec<PublishedCell> = Vec::new();
        let mut index = BTreeMap::new();
        let mut seen = BTreeMap::new();
        let sheet = self.with_configurations(&MEASUREMENT)?;
        for row in sheet.rows() {
            let at = row.configuration()?;
            let block: usize = row.parse("block_size", COUNT, |&block| block > 0)?;
            let latency: f64 = row.parse("latency_clocks", LATENCY, |&l: &f64| {
                l.is_finite() && l > 0.0
            })?;
            if let Some(&first) = seen.get(&(at.clone(), block)) {
                return Err(ModelError::RepeatedCell {
                    file: self.name.clone(),
                    line: row.line(),
                    first,
                    block,
                });
            }
            seen.insert((at.clone(), block), row.line());
            let cell = *index.entry(at.clone()).or_insert_with(|| {
                cells.push(PublishedCell {
                    at,
                    measured: Vec::new(),
                });
                cells.len() - 1
            });
            cells[cell].measured.push((block, latency));
        }
        let machines: BTreeSet<&str> = cells.iter().map(|cell| &*cell.at.machine).collect();
        self.at_most(seen.len(), "measurements", MOST_ROWS)?;
        self.at_most(machines.len(), "machines", MOST_MACHINES)?;
        for cell in &mut cells {
            cell.measured.sort_unstable_by_key(|&(block, _)| block);
        }
        Ok(cells)
    }

    /// Reads configurations, each once, in order of first appearance.
    pub(crate) fn configurations(&self) -> Result<Vec<Configuration>, ModelError> {
        let mut configurations = Vec::new();
        let mut seen = BTreeSet::new();
        let sheet = self.with_configurations(&[])?;
        for row in sheet.rows() {
            let at = row.configuration()?;
            if seen.insert(at.clone()) {
                configurations.push(at);
            }
        }
        Ok(configurations)
    }

    /// A sheet with the columns of a configuration and the `further` columns.
    fn with_configurations(&self, further: &[&'static str]) -> Result<Sheet<'_>, ModelError> {
        let needed = CONFIGURATION.iter().chain(further).copied();
        self.sheet(&needed.collect::<Vec<_>>())
    }

    /// All rows of the file. It must have these columns and at least one row.
    pub(crate) fn sheet(&self, needed: &[&'static str]) -> Result<Sheet<'_>, ModelError> {
        // Some programs write a byte order mark.
        let text = self.text.trim_start_matches('\u{feff}');
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| self.malformed(&error))?;
        let mut columns = BTreeMap::new();
        for (place, name) in header.iter().enumerate() {
            if columns.insert(name.to_owned(), place).is_some() {
                return Err(ModelError::RepeatedColumn {
                    file: self.name.clone(),
                    column: name.into(),
                });
            }
        }
        if columns.is_empty() {
            return Err(self.empty());
        }
        if let Some(column) = needed.iter().find(|name| !columns.contains_key(**name)) {
            return Err(ModelError::MissingColumn {
                file: self.name.clone(),
                column,
                expected: needed.join(", "),
            });
        }
        let records = reader.into_records().collect::<Result<Vec<_>, _>>();
        let records = records.map_err(|error| self.malformed(&error))?;
        if records.is_empty() {
            return Err(self.empty());
        }
        Ok(Sheet {
            file: &self.name,
            columns,
            records,
        })
    }

    fn at_most(&self, found: usize, what: &'static str, most: usize) -> Result<(), ModelError> {
        match found <= most {
            true => Ok(()),
            false => Err(ModelError::TooMany {
                file: self.name.clone(),
                found,
                what,
                most,
            }),
        }
    }

    fn empty(&self) -> ModelError {
        ModelError::Empty {
            file: self.name.clone(),
        }
    }

    fn malformed(&self, error: &csv::Error) -> ModelError {
        let line = error.position().map_or(0, csv::Position::line);
        match *error.kind() {
            csv::ErrorKind::UnequalLengths {
                expected_len, len, ..
            } => ModelError::Length {
                file: self.name.clone(),
                line,
                found: len,
                expected: expected_len,
            },
            _ => ModelError::Malformed {
                file: self.name.clone(),
                line,
                problem: error.to_string(),
            },
        }
    }
}

/// The rows of a [`Source`].
pub(crate) struct Sheet<'a> {
    file: &'a str,
    columns: BTreeMap<String, usize>,
    records: Vec<csv::StringRecord>,
}

impl Sheet<'_> {
    pub(crate) fn rows(&self) -> impl Iterator<Item = SheetRow<'_>> {
        self.records.iter().map(|record| SheetRow {
            sheet: self,
            record,
        })
    }
}

/// One line of a [`Sheet`].
pub(crate) struct SheetRow<'a> {
    sheet: &'a Sheet<'a>,
    record: &'a csv::StringRecord,
}

impl SheetRow<'_> {
    pub(crate) fn line(&self) -> u64 {
        self.record.position().map_or(0, csv::Position::line)
    }

    pub(crate) fn text(&self, column: &str) -> &str {
        let place = self.sheet.columns.get(column);
        let field = place.and_then(|&place| self.record.get(place));
        field.unwrap_or_default()
    }

    /// Returns the number in a column, if it is `sound`.
    pub(crate) fn parse<T: FromStr>(
        &self,
        column: &'static str,
        expected: &'static str,
        sound: impl Fn(&T) -> bool,
    ) -> Result<T, ModelError> {
        let found = self.text(column);
        let parsed = found.parse().ok().filter(sound);
        parsed.ok_or_else(|| ModelError::Field {
            file: self.sheet.file.into(),
            line: self.line(),
            column,
            found: found.into(),
            expected,
        })
    }

    fn configuration(&self) -> Result<Configuration, ModelError> {
        Ok(Configuration {
            machine: self.text("machine").into(),
            core_groups: self.parse("core_groups", COUNT, |&groups| groups > 0)?,
            threads: self.parse("threads", COUNT, |&threads| threads > 0)?,
            unit_read: self.parse("unit_read", AMOUNT, |_| true)?,
            unit_write: self.parse("unit_write", AMOUNT, |_| true)?,
            unit_comp: self.parse("unit_comp", AMOUNT, |_| true)?,
            n: match self.sheet.columns.contains_key("n") {
                true => self.parse("n", COUNT, |&n| n > 0)?,
                false => ITERATIONS,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str =
        "machine,core_groups,threads,unit_read,unit_write,unit_comp,block_size,latency_clocks";

    fn cells(text: &str) -> Result<Vec<PublishedCell>, String> {
        let source = Source::shipped("f.csv", text);
        source.cells().map_err(|error| error.to_string())
    }

    fn complaint(text: &str) -> String {
        cells(text).unwrap_err()
    }

    #[test]
    fn rows_are_gathered_by_cell() {
        let text =
            format!("\u{feff}{HEADER}\nm,1,2,8,8,1,4,50\nm,2,2,8,8,1,4,9\n m ,1,2,8,8,1, 1 ,60\n");
        let cells = cells(&text).unwrap();
        assert_eq!(cells.len(), 2);
        assert_eq!(cells[0].measured, [(1, 60.0), (4, 50.0)]);
        assert_eq!(cells[0].at.n, ITERATIONS);
        assert_eq!(cells[0].regret(4.0), 0.0);
        assert!((cells[0].regret(1.9) - 0.2).abs() < 1e-12);
    }

    #[test]
    fn errors_name_the_line_and_the_field() {
        for (row, expected) in [
            (
                "m,1,2,8,8,1,4,zero",
                "f.csv, line 3: `latency_clocks` is `zero`; expected a number above 0",
            ),
            (
                "m,1,2,8,8,1,4,NaN",
                "f.csv, line 3: `latency_clocks` is `NaN`; expected a number above 0",
            ),
            (
                "m,1,2,8,8,1,4,inf",
                "f.csv, line 3: `latency_clocks` is `inf`; expected a number above 0",
            ),
            (
                "m,1,2,8,8,1,4,0",
                "f.csv, line 3: `latency_clocks` is `0`; expected a number above 0",
            ),
            (
                "m,1,2,8,8,1,4,-5",
                "f.csv, line 3: `latency_clocks` is `-5`; expected a number above 0",
            ),
            (
                "m,1,2,8,8,1,0,5",
                "f.csv, line 3: `block_size` is `0`; expected a whole number, at least 1",
            ),
            (
                "m,1,0,8,8,1,4,5",
                "f.csv, line 3: `threads` is `0`; expected a whole number, at least 1",
            ),
            (
                "m,1,2,-8,8,1,4,5",
                "f.csv, line 3: `unit_read` is `-8`; expected a whole number, at least 0",
            ),
            (
                "m,1,2,8,8,1,4",
                "f.csv, line 3: 7 fields; expected 8 as in the header",
            ),
            (
                "m,1,2,8,8,1,1,70",
                "f.csv, line 3: block_size 1 of this cell was given on line 2 already",
            ),
        ] {
            assert_eq!(
                complaint(&format!("{HEADER}\nm,1,2,8,8,1,1,60\n{row}\n")),
                expected
            );
        }
    }

    #[test]
    fn a_file_without_rows_or_columns() {
        let none = "f.csv: no rows of data; expected a header and at least one row";
        assert_eq!(complaint(""), none);
        assert_eq!(complaint("\n\n"), none);
        assert_eq!(complaint(HEADER), none);
        let missing = complaint("machine,threads\nm,2\n");
        assert!(
            missing.starts_with("f.csv: no column `core_groups`; expected"),
            "{missing}"
        );
        let twice = complaint(&format!("{HEADER},threads\nm,1,2,8,8,1,1,60,2\n"));
        assert_eq!(
            twice,
            "f.csv: the column `threads` stands twice in the header"
        );
        let path = Path::new("/nowhere/at all.csv");
        let error = Source::open(path).err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.starts_with("cannot read /nowhere/at all.csv: ")));
    }

    #[test]
    fn too_many_rows_or_machines_are_refused() {
        let row = |at: usize, machine: usize| format!("m{machine},1,2,8,8,{at},4,50\n");
        let file = |rows: usize, machines: usize| {
            let rows: String = (0..rows).map(|at| row(at, at % machines)).collect();
            format!("{HEADER}\n{rows}")
        };
        assert_eq!(cells(&file(10_000, 32)).unwrap().len(), 10_000);
        assert_eq!(
            complaint(&file(10_001, 1)),
            "f.csv: 10001 measurements; expected at most 10000"
        );
        let machines = complaint(&file(33, 33));
        assert_eq!(machines, "f.csv: 33 machines; expected at most 32");
    }

    #[test]
    fn configurations_need_no_latency_and_may_give_n() {
        let text = "n,machine,core_groups,threads,unit_read,unit_write,unit_comp\n9,m,1,2,8,8,1\n9,m,1,2,8,8,1\n";
        let found = Source::shipped("f.csv", text).configurations().unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].n, 9);
    }
}
