//! `manycore presets` and `manycore studies`.

use crate::failure::bad_input;
use crate::machine::simulated::{self, PresetErrors, Row};
use crate::measure::progress::Spinner;
use crate::report::grid::Grid;
use crate::report::words::signed;
use crate::study::STUDIES;
use manycore_chip::config::{Config, ConfigError, preset_names};
use serde::Serialize;
use std::fmt;

/// The simulated machines that `--on` takes by their names.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct Presets(Vec<Preset>);

#[derive(Serialize)]
struct Preset {
    name: String,
    cores: u32,
    threads_per_core: u32,
    core_groups: u32,
    ghz: f64,
    title: String,
}

impl Presets {
    pub(super) fn all() -> Result<Self, ConfigError> {
        let preset = |name| {
            let config = Config::preset(name)?;
            Ok(Preset {
                cores: config.cores,
                threads_per_core: config.threads_per_core,
                core_groups: config.groups(),
                ghz: config.ghz,
                name: config.name,
                title: config.title,
            })
        };
        preset_names()
            .map(preset)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

/// The TOML of a preset.
pub(super) fn preset_toml(name: &str) -> anyhow::Result<&'static str> {
    Config::preset_toml(name).map_err(|error| bad_input(format!("--toml: {error}")))
}

impl fmt::Display for Presets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Grid::with_numbers(&["preset", "cores", "groups", "GHz", "machine"], 1..4);
        for preset in &self.0 {
            let cores = match preset.threads_per_core {
                1 => preset.cores.to_string(),
                threads => format!("{} x {threads}", preset.cores / threads),
            };
            table.add_row([
                preset.name.clone(),
                cores,
                preset.core_groups.to_string(),
                preset.ghz.to_string(),
                preset.title.clone(),
            ]);
        }
        writeln!(f, "{table}")?;
        write!(
            f,
            "`manycore machine --on PRESET` shows the costs of a preset's operations. `manycore \
             presets --errors` compares them with the real machines."
        )
    }
}

/// The errors of presets against published measurements of their machines.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct Errors {
    presets: Vec<PresetErrors>,
    /// Whether all rows are listed, and not only the rows that are far off.
    #[serde(skip)]
    whole: bool,
}

/// A row with a larger error is listed.
const FAR_OFF: f64 = 0.2;

impl Errors {
    /// Measures the presets of these names, or all.
    pub(super) fn of(names: &[String]) -> anyhow::Result<Self> {
        let configs = match names {
            [] => preset_names()
                .map(Config::preset)
                .collect::<Result<Vec<_>, _>>()?,
            names => {
                let known = || preset_names().collect::<Vec<_>>().join(", ");
                let unknown = |name: &str| {
                    bad_input(format!(
                        "presets --errors {name}: expected some of {}",
                        known()
                    ))
                };
                let preset = |name: &String| Config::preset(name).map_err(|_| unknown(name));
                names.iter().map(preset).collect::<anyhow::Result<_>>()?
            }
        };
        let spinner = Spinner::new("presets");
        Ok(Self {
            presets: PresetErrors::measure(&configs, &mut |what| spinner.show(what))?,
            whole: !names.is_empty(),
        })
    }

    fn sums(&self) -> Grid {
        let header = [
            "preset",
            "fitted",
            "median",
            "worst",
            "not seen",
            "median",
            "worst",
            "the worst number",
            "hash",
        ];
        let mut table = Grid::with_numbers(&header, 1..7);
        let cells = |errors: &Option<simulated::Errors>| match errors {
            None => ["0", "-", "-"].map(str::to_owned),
            Some(errors) => [
                errors.compared.to_string(),
                format!("{:.1}%", 100.0 * errors.median),
                format!("{:.1}%", 100.0 * errors.worst),
            ],
        };
        for preset in &self.presets {
            let worst = preset.worst.as_ref();
            let worst =
                worst.map_or_else(String::new, |row| format!("{} ({})", row.what, off(row)));
            let mut row = vec![preset.preset.clone()];
            row.extend(cells(&preset.fitted));
            row.extend(cells(&preset.unseen));
            row.extend([worst, preset.hash.clone()]);
            table.add_row(row);
        }
        if self.presets.len() > 1 {
            let mut row = vec!["all".to_owned()];
            for is_unseen in [false, true] {
                let rows = self.presets.iter().flat_map(|preset| &preset.rows);
                let numbers = rows.map(|row| &row.compared);
                let numbers = numbers.filter(|number| number.is_unseen() == is_unseen);
                row.extend(cells(&simulated::Errors::of(numbers)));
            }
            row.extend([String::new(), String::new()]);
            table.add_row(row);
        }
        table
    }

    /// The rows that are listed one by one.
    fn rows(&self) -> Grid {
        let header = [
            "preset",
            "row",
            "unit",
            "simulated",
            "published",
            "error",
            "fit",
        ];
        let mut table = Grid::with_numbers(&header, 3..6);
        for preset in &self.presets {
            let listed = |row: &&Row| self.whole || row.size() > FAR_OFF;
            for row in preset.rows.iter().filter(listed) {
                let number = |value: f64| format!("{value:.1}");
                let fit = match row.compared.is_unseen() {
                    true => "not seen",
                    false => "fitted",
                };
                table.add_row([
                    preset.preset.clone(),
                    row.what.clone(),
                    row.unit.to_owned(),
                    number(row.compared.simulated),
                    row.compared.published.map_or_else(String::new, number),
                    off(row),
                    fit.to_owned(),
                ]);
            }
        }
        table
    }
}

fn off(row: &Row) -> String {
    let error = row.compared.error.unwrap_or(0.0);
    format!("{}%", signed(100.0 * error, 1))
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.sums())?;
        writeln!(
            f,
            "Errors of simulated numbers against published numbers. \"fitted\" counts the \
             published numbers to which a value of the preset was fitted. \"not seen\" counts the \
             others.\n"
        )?;
        let which = match self.whole {
            true => "All numbers",
            false => "Numbers with an error of more than a fifth",
        };
        write!(f, "{which}:\n{}", self.rows())
    }
}

/// The studies that `manycore study` takes by their names.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct Studies(Vec<StudyLine>);

#[derive(Serialize)]
struct StudyLine {
    name: &'static str,
    question: &'static str,
    home: &'static str,
}

impl Studies {
    pub(super) fn all() -> Self {
        let line = |study: &dyn crate::study::Study| StudyLine {
            name: study.name(),
            question: study.question(),
            home: study.home(),
        };
        Self(STUDIES.into_iter().map(line).collect())
    }
}

impl fmt::Display for Studies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Grid::with_numbers(&["study", "runs on", "question"], 0..0);
        for study in &self.0 {
            table.add_row([study.name, study.home, study.question]);
        }
        writeln!(f, "{table}")?;
        write!(
            f,
            "`manycore study --help` lists the settings of each study."
        )
    }
}
