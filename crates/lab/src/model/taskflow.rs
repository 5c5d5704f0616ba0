//! Taskflow's guided rule, as far as the document has measured it.
//!
//! A rule that shrinks its blocks is none of the cell's fixed blocks, so it has
//! no regret by table look-up. The document's comparison has Taskflow's latency
//! for some cells of the grid: that over the cell's best, another run though.

use super::data::PublishedCell;
use super::error::ModelError;
use super::shipped;

pub(super) fn regrets(cells: &[PublishedCell]) -> Result<Vec<f64>, ModelError> {
    let source = shipped::taskflow();
    let sheet = source.sheet(&[
        "machine",
        "threads",
        "unit_read",
        "unit_write",
        "unit_comp",
        "taskflow_clocks",
    ])?;
    let mut regrets = Vec::new();
    for cell in cells {
        let numbers = [
            ("threads", cell.at.threads as u64),
            ("unit_read", cell.at.unit_read),
            ("unit_write", cell.at.unit_write),
            ("unit_comp", cell.at.unit_comp),
        ];
        let mut latencies = Vec::new();
        for row in sheet.rows() {
            let mut same = row.text("machine") == cell.at.machine;
            for (column, value) in numbers {
                same &= row.parse(column, "a whole number", |_: &u64| true)? == value;
            }
            if same {
                latencies.push(row.parse("taskflow_clocks", "a number", |l: &f64| *l > 0.0)?);
            }
        }
        if !latencies.is_empty() {
            let mean = latencies.iter().sum::<f64>() / latencies.len() as f64;
            regrets.push(mean / cell.best() - 1.0);
        }
    }
    Ok(regrets)
}
