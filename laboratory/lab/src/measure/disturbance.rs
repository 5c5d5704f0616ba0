//! Whether other programs used the CPUs during a measurement.

use std::fs;
use std::time::Duration;

/// Returns how long all threads of this process together were ready to run but had no CPU. Returns `None` if the system
/// does not report this time.
///
/// The time of ended threads is not included.
pub(crate) fn waited() -> Option<Duration> {
    let mut sum = 0;
    for thread in fs::read_dir("/proc/self/task").ok()? {
        // The file holds the time on a CPU and the time waiting for one, both in ns, and a count.
        let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        sum += text.split_whitespace().nth(1)?.parse::<u64>().ok()?;
    }
    Some(Duration::from_nanos(sum))
}

/// If other programs used the CPUs for more than this fraction of the time, there is a warning. A hundredth does not
/// change a median.
const DISTURBED: f64 = 0.01;

/// Returns a warning if threads waited for too large a part of their time.
pub(crate) fn warning(part: f64) -> Option<String> {
    (part > DISTURBED).then(|| {
        format!(
            "Disturbed: the threads waited {:.0}% of their time for a CPU that other programs \
             held. Do not trust small differences below; run this again on a quiet machine.",
            part * 100.0
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_disturbance_is_worth_a_warning() {
        assert_eq!(warning(0.005), None);
        assert_eq!(warning(f64::NAN), None);
        assert!(warning(0.25).is_some_and(|text| text.contains("25%")));
    }

    #[test]
    fn waiting_never_shrinks() {
        if let Some(before) = waited() {
            assert!(waited() >= Some(before));
        }
    }
}
