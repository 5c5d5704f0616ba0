//! Writes rows to a CSV file, and to standard output as tables or JSON.

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
    /// Only one list of all rows.
    Json,
}

/// The results of one contest. The CSV file is flushed after every row.
pub struct Output {
    format: Format,
    path: PathBuf,
    csv: csv::Writer<File>,
    /// Whether `cells` has written the header.
    headed: bool,
    /// All rows, for JSON.
    rows: Vec<Value>,
}

impl Output {
    /// Makes the folder and the file `name`.csv in it.
    ///
    /// # Errors
    ///
    /// If either cannot be made.
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

    /// Prints a line or a table for people.
    pub fn say(&self, text: &str) {
        if self.format == Format::Text {
            println!("{text}");
        }
    }

    /// Writes a row.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn row(&mut self, row: &impl Serialize) -> Result<()> {
        self.csv.serialize(row)?;
        self.csv.flush()?;
        if self.format == Format::Json {
            self.rows.push(serde_json::to_value(row)?);
        }
        Ok(())
    }

    /// Writes a row of columns with names.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn cells(&mut self, row: &[(impl AsRef<str>, Value)]) -> Result<()> {
        if !self.headed {
            self.csv
                .write_record(row.iter().map(|(name, _)| name.as_ref()))?;
            self.headed = true;
        }
        self.csv
            .write_record(row.iter().map(|(_, value)| match value {
                Value::String(text) => text.clone(),
                // A NaN, such as a quantile of no values.
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

    /// Prints the rest of the output.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn end(self) -> Result<()> {
        match self.format {
            Format::Text => println!("\nwritten: {}", self.path.display()),
            Format::Json => println!("{}", serde_json::to_string_pretty(&self.rows)?),
        }
        Ok(())
    }
}
