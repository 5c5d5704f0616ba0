//! The report of a run.

use std::fmt;

use serde::Serialize;

use super::{Activity, Breakdown, Cycles, Lines};

/// The cycles of a run by activity, and its most contended cache lines and words.
///
/// ```
/// use manycore_chip::{Activity, Breakdown, Report};
///
/// let mut core = Breakdown::default();
/// core[Activity::Compute] = 75;
/// core[Activity::Idle] = 25;
/// let report = Report { end: 100, total: core, cores: vec![core], ..Report::default() };
/// assert!(report.to_string().contains("75.0%"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The length of the run in cycles. The cycles of each core's activities add up to this length.
    pub end: u64,
    /// The sum of all cores.
    pub total: Breakdown,
    /// The cycles of each core by activity.
    pub cores: Vec<Breakdown>,
    /// The most contended cache lines.
    pub lines: Vec<HotLine>,
    /// Cycles spun on named objects, sorted by descending cycles. The last entry is for words
    /// without a name.
    pub spins: Vec<NamedSpin>,
}

/// The order of cache lines in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By the number of changes of owner.
    Transfers,
    /// By the cycles that requests waited at the line's home (the place that serialises the line's
    /// requests).
    Waiting,
}

/// The counts of one cache line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HotLine {
    /// The simulated address of the line's first byte.
    pub address: u64,
    /// The named objects in the line, by address. Several objects in one line may mean false
    /// sharing.
    pub names: Vec<String>,
    /// Changes of the line's owner.
    pub transfers: u64,
    /// Copies that were dropped because another core wrote.
    pub invalidations: u64,
    /// Misses that the requester's core group served.
    pub group: u64,
    /// Misses that another core group served.
    pub remote: u64,
    /// Misses that main memory served.
    pub memory: u64,
    /// Reads that missed the reader's own caches.
    pub reads: u64,
    /// Writes. For a line without named objects, only the writes that missed the writer's own
    /// caches.
    pub writes: u64,
    /// Cycles spun on the line's words.
    pub spun: u64,
    /// Cycles that requests waited while the line's home served other requests.
    pub waited: u64,
    /// Pairs of a core and the number of times that it took the line from another core.
    pub takers: Vec<(u32, u64)>,
}

/// Cycles spun on the objects of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NamedSpin {
    /// The name. `None` for all words without a name.
    pub name: Option<String>,
    /// Cycles of all cores.
    pub cycles: u64,
}

impl Report {
    /// The report of a run that ended at `end`, with at most `lines` lines.
    pub(crate) fn new(
        end: Cycles,
        cores: Vec<Breakdown>,
        accounts: &Lines,
        lines: usize,
        order: Order,
    ) -> Self {
        let mut total = Breakdown::default();
        for core in &cores {
            total.add(core);
        }
        Self {
            end,
            total,
            cores,
            lines: accounts.hottest(lines, order),
            spins: accounts.spins(),
        }
    }
}

/// Prints three tables: the activities of cores that worked, the most contended lines, and the
/// spinning.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let occurred: Vec<Activity> = self
            .total
            .iter()
            .filter(|(_, cycles)| *cycles > 0)
            .map(|(what, _)| what)
            .collect();
        let worked = |core: &Breakdown| core[Activity::Idle] < self.end;
        write!(f, "{:<6}", "core")?;
        for activity in &occurred {
            write!(f, " {activity:>14}")?;
        }
        writeln!(f)?;
        let cores = self.cores.iter().enumerate();
        for (core, breakdown) in cores.filter(|(_, core)| worked(core)) {
            write!(f, "{core:<6}")?;
            for activity in &occurred {
                write!(f, " {:>14}", breakdown[*activity])?;
            }
            writeln!(f)?;
        }
        let idle = self.cores.iter().filter(|core| !worked(core)).count();
        if idle > 0 {
            writeln!(f, "{idle} more cores idle all the time")?;
        }
        write!(f, "{:<6}", "all")?;
        for activity in &occurred {
            let share = 100.0 * self.total[*activity] as f64 / self.total.sum() as f64;
            write!(f, " {:>14}", format!("{share:.1}%"))?;
        }
        writeln!(f)?;
        if !self.lines.is_empty() {
            writeln!(f, "\n{HEAD}")?;
        }
        for line in &self.lines {
            writeln!(f, "{line}")?;
        }
        if !self.spins.is_empty() {
            writeln!(f, "\n{:>14}  spun on", "cycles")?;
        }
        for spin in &self.spins {
            writeln!(
                f,
                "{:>14}  {}",
                spin.cycles,
                spin.name.as_deref().unwrap_or("(no name)")
            )?;
        }
        Ok(())
    }
}

const HEAD: &str = "line             transfers   invalidated    waited      spun   cores  names";

impl fmt::Display for HotLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<#14x} {:>11} {:>13} {:>9} {:>9} {:>7}  {}",
            self.address,
            self.transfers,
            self.invalidations,
            self.waited,
            self.spun,
            self.takers.len(),
            self.names.join(", "),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{Source, Taken};

    #[test]
    fn the_report_prints_tables() {
        let mut cores = vec![Breakdown::default(); 2];
        cores[0][Activity::Compute] = 300;
        cores[0][Activity::Spin] = 100;
        cores[1][Activity::Compute] = 400;
        let mut lines = Lines::new(64);
        lines.name(128..136, "lock");
        lines.served(128, Source::Group, 0, Taken { by: 1, copies: 1 }, true);
        lines.spin(128, 90);
        lines.spin(512, 10);
        let report = Report::new(400, cores, &lines, 10, Order::Transfers);

        let text = report.to_string();
        let rows: Vec<Vec<_>> = text
            .lines()
            .map(|row| row.split_whitespace().collect())
            .collect();
        assert_eq!(rows[0], ["core", "compute", "spin"]);
        assert_eq!(rows[1], ["0", "300", "100"]);
        assert_eq!(rows[2], ["1", "400", "0"]);
        assert_eq!(rows[3], ["all", "87.5%", "12.5%"]);
        assert_eq!(rows[6], ["0x80", "1", "1", "0", "90", "1", "lock"]);
        assert_eq!(rows[9], ["90", "lock"]);
        assert_eq!(rows[10], ["10", "(no", "name)"]);

        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["total"]["compute"], 700);
        assert_eq!(
            json["cores"][0].as_object().unwrap().len(),
            Activity::ALL.len()
        );
        assert_eq!(json["lines"][0]["takers"], serde_json::json!([[1, 1]]));
    }
}
