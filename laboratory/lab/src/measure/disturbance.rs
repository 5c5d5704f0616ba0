//! Whether other programs used the CPUs during a measurement.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

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

/// The sums of the ended watches, in ns: the time for which their threads waited for a CPU, and the time of the watches.
/// Relaxed: the sums publish no other data, and the caller reads them after it has joined the threads.
static SEEN: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// A watch over the calling thread, for threads that end before [`waited`] is called.
pub(crate) struct Watch {
    began: Instant,
    waited: Option<u64>,
}

impl Watch {
    pub(crate) fn begin() -> Self {
        Self {
            began: Instant::now(),
            waited: of_this_thread(),
        }
    }

    /// Adds to [`seen`].
    pub(crate) fn end(self) {
        if let (Some(before), Some(now)) = (self.waited, of_this_thread()) {
            SEEN[0].fetch_add(now.saturating_sub(before), Relaxed);
            SEEN[1].fetch_add(self.began.elapsed().as_nanos() as u64, Relaxed);
        }
    }
}

/// The nanoseconds that the calling thread was ready to run but had no CPU.
fn of_this_thread() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

/// The nanoseconds that watched threads waited, and the nanoseconds for which they were watched, in this process.
pub(crate) fn seen() -> [u64; 2] {
    [0, 1].map(|at: usize| SEEN[at].load(Relaxed))
}

/// If other programs used the CPUs for more than this fraction of the time, there is a warning. A hundredth does not
/// change a median.
const DISTURBED: f64 = 0.01;

/// Returns a warning if threads waited for too large a part of their time.
pub(crate) fn warning(part: f64) -> Option<String> {
    (part > DISTURBED).then(|| {
        format!(
            "Disturbed: the threads waited {:.0}% of their time for a CPU, because other programs \
             ran there. Do not trust small differences below; run this again on a quiet machine.",
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
