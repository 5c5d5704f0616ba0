//! The output of rows: to a CSV file, and to standard output as tables or as JSON.

use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The form of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables for people.
    Text,
    /// One list of all rows, and nothing else.
    Json,
}

/// One contest's results. The CSV file is whole after every row.
pub struct Output {
    format: Format,
    path: PathBuf,
    csv: csv::Writer<File>,
    /// Whether `cells` has written the header.
    headed: bool,
    /// For JSON.
    rows: Vec<Value>,
}

impl Output {
    /// Makes the folder, and `name`.csv in it.
    ///
    /// # Errors
    ///
    /// When that cannot be done.
    pub fn new(folder: &Path, name: &str, format: Format) -> Result<Self> {
        let path = folder.join(format!("{name}.csv"));
        std::fs::create_dir_all(folder)
            .with_context(|| format!("--out: cannot make {}", folder.display()))?;
        let csv = csv::Writer::from_path(&path)
            .with_context(|| format!("--out: cannot write {}", path.display()))?;
        Ok(Self {
            format,
            path,
            csv,
            headed: false,
            rows: Vec::new(),
        })
    }

    /// A line or a table for people.
    pub fn say(&self, text: &str) {
        if self.format == Format::Text {
            println!("{text}");
        }
    }

    /// One result.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn row(&mut self, row: &impl Serialize) -> Result<()> {
        self.csv.serialize(row)?;
        self.csv.flush()?;
        if self.format == Format::Json {
            self.rows.push(serde_json::to_value(row)?);
        }
        Ok(())
    }

    /// One result, by the columns' names.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn cells(&mut self, row: &[(impl AsRef<str>, Value)]) -> Result<()> {
        if !self.headed {
            self.csv
                .write_record(row.iter().map(|(name, _)| name.as_ref()))?;
            self.headed = true;
        }
        self.csv
            .write_record(row.iter().map(|(_, value)| match value {
                Value::String(text) => text.clone(),
                // Not a number, such as a quantile of nothing.
                Value::Null => String::new(),
                value => value.to_string(),
            }))?;
        self.csv.flush()?;
        let row = row
            .iter()
            .map(|(name, value)| (name.as_ref().to_owned(), value.clone()));
        self.rows.push(row.collect());
        Ok(())
    }

    /// All that is still to be said.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn end(self) -> Result<()> {
        match self.format {
            Format::Text => println!("\nwritten: {}", self.path.display()),
            Format::Json => println!("{}", serde_json::to_string_pretty(&self.rows)?),
        }
        Ok(())
    }
}
