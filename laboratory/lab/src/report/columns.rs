//! The unit of each column of the CSV files. A name has the same meaning in every file.

use anyhow::{Context, bail};
use serde_json::{Map, Value};

/// Each unit, with the columns that have it.
///
/// For latencies whose unit depends on the machine, the row's column `unit` names it.
const UNITS: [(&str, &str); 14] = [
    (
        "text",
        "algorithm app arrivals barrier benchmark cell class discipline distribution finding further_inputs gap hash input line \
         machine mode model name otherwise output_hash parameter partitioner peer policy program reason settings steady \
         task unit verified world",
    ),
    (
        "count",
        "attempts barriers block_size core_groups counted_barriers edge_factor episodes found group_cores lines messages \
         messages_an_episode n orders predicted_block \
         reads_missed received recovered right runs seeds skipped sleeps steals tasks tasks_run threads transfers \
         wakeups writes",
    ),
    ("count, or counts one after the other", "cores"),
    (
        "ratio",
        "over_ours over_ours_high over_ours_low over_tr over_tr_high over_tr_low ratio ratio_ours ratio_ours_high ratio_ours_low ratio_packed ratio_packed_high ratio_packed_low ratio_serial ratio_tr regret speedup \
         speedup_high speedup_low speedup_own",
    ),
    (
        "column unit",
        "answers_every counted_idle counted_io counted_system counted_time counted_time_p10 counted_time_p90 \
         counted_user cpu_time episode_median episode_p10 episode_p90 \
         exit_latency_median exit_latency_p10 exit_latency_p90 ideal idle interval \
         io latency_median latency_p10 latency_p90 makespan makespan_p10 makespan_p90 over prelude \
         program_time skipped_time system \
         task_cycles time time_median time_p10 time_p90 total_cycles total_p10 total_p90 user",
    ),
    ("a seed of the machine's perturbation", "order"),
    (
        "us",
        "first_ten_us interval_us steady_us mean_us longest_us work_us",
    ),
    ("cycles", "value"),
    ("percent", "margin"),
    ("GHz", "ghz"),
    (
        "ns",
        "crossing_ns latency_ns latency_p10_ns latency_p90_ns llc_ns memory_ns snoop_ns",
    ),
    ("binary logarithm of a count", "scale"),
    ("bytes an iteration", "unit_read unit_write"),
    ("additions an iteration", "unit_comp"),
];

/// Whether a column has a unit. The macro `columns!` asks at compile time, so that no study fails after its
/// measurements.
pub(crate) const fn has_unit(column: &str) -> bool {
    let mut at = 0;
    while at < UNITS.len() {
        if is_among(column.as_bytes(), UNITS[at].1.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

/// Whether the list `names`, separated by spaces, contains `name`.
const fn is_among(name: &[u8], names: &[u8]) -> bool {
    let (mut start, mut end) = (0, 0);
    while end <= names.len() {
        if end == names.len() || names[end] == b' ' {
            if is_at(start, end, name, names) {
                return true;
            }
            start = end + 1;
        }
        end += 1;
    }
    false
}

/// Whether `names[start..end]` is `name`.
const fn is_at(start: usize, end: usize, name: &[u8], names: &[u8]) -> bool {
    let mut at = 0;
    while at < name.len() && start + at < end && name[at] == names[start + at] {
        at += 1;
    }
    at == name.len() && start + at == end
}

/// The unit of a column. A sweep's table also has columns for its keys and for the ends of its intervals.
fn unit(column: &str) -> Option<&'static str> {
    if column.starts_with("sweep.") {
        return Some("as --sweep takes it");
    }
    let ends = [".low", ".high"].into_iter();
    let name = ends.fold(column, |name, end| name.strip_suffix(end).unwrap_or(name));
    let known = UNITS.iter();
    let mut found = known.filter(|(_, names)| names.split(' ').any(|other| other == name));
    Some(found.next()?.0)
}

/// The unit of each column of a CSV file.
pub(crate) fn units(csv: &str) -> anyhow::Result<Map<String, Value>> {
    let header = csv.lines().next().context("a CSV file without a header")?;
    let mut units = Map::new();
    for column in header.split(',') {
        let Some(unit) = unit(column) else {
            bail!("the column `{column}` has no unit; expected it in report/columns.rs");
        };
        units.insert(column.into(), unit.into());
    }
    match units.values().any(|unit| unit == "column unit") && !units.contains_key("unit") {
        true => bail!(
            "some columns are in the unit that the column `unit` names, but there is no column `unit`"
        ),
        false => Ok(units),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_one_unit() {
        let names = UNITS.iter().flat_map(|(_, names)| names.split(' '));
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn only_whole_names_have_units() {
        for (column, has) in [("threads", true), ("thread", false), ("threadss", false)] {
            assert_eq!(has_unit(column), has);
            assert_eq!(unit(column).is_some(), has);
        }
    }

    #[test]
    fn a_column_without_a_unit_is_refused() {
        let found = units("threads,time,unit\n1,2,ms\n").unwrap();
        assert_eq!(found["threads"], "count");
        assert_eq!(found["time"], "column unit");
        let error = units("threads,miles\n").unwrap_err().to_string();
        assert!(error.contains("`miles`"), "{error}");
        assert!(units("threads,time\n").is_err());
    }

    #[test]
    fn a_sweep_has_units_too() {
        let found = units("sweep.llc.snoop,seeds,time,time.low,time.high,unit\n").unwrap();
        assert_eq!(found["sweep.llc.snoop"], "as --sweep takes it");
        assert_eq!(found["seeds"], "count");
        for end in ["time", "time.low", "time.high"] {
            assert_eq!(found[end], "column unit");
        }
        assert!(units("miles.low\n").is_err());
    }
}
