//! Whether other programs held the CPUs while something was measured.

use std::fs;
use std::time::Duration;

/// How long the threads of this process have been ready to run without a CPU
/// to run on, all together; `None` where the system does not say.
///
/// A thread that ends takes its part with it.
pub(crate) fn waited() -> Option<Duration> {
    let mut sum = 0;
    for thread in fs::read_dir("/proc/self/task").ok()? {
        // Time on a CPU, time waiting for one, both in ns, and a count.
        let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        sum += text.split_whitespace().nth(1)?.parse::<u64>().ok()?;
    }
    Some(Duration::from_nanos(sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_never_shrinks() {
        if let Some(before) = waited() {
            assert!(waited() >= Some(before));
        }
    }
}
