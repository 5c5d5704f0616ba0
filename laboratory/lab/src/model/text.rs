//! Formats the reports for a terminal.

pub(super) fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}
