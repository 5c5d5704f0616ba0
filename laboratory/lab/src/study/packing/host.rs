//! The time of this process by activity, according to the host's kernel.

use super::account::Account;
use std::sync::OnceLock;
use std::time::Instant;

/// The account of `cores` cores since some time in the past. Time in other processes counts as idle.
pub(super) fn account(cores: usize) -> Account {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    let origin = ORIGIN.get_or_init(Instant::now);
    let [user, system] = processor();
    let io = block_io();
    let all = origin.elapsed().as_nanos() as f64 * cores as f64;
    Account {
        user,
        system,
        io,
        idle: all - user - system - io,
    }
}

/// The time of all threads in user mode and in the kernel, in ns. Returns zeros if the system does not provide these
/// times.
#[cfg(unix)]
fn processor() -> [f64; 2] {
    // SAFETY: all-zero bytes are a valid `rusage`, a structure of integers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the call writes a whole `rusage` to a place that holds one.
    let failed = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    if failed != 0 {
        return [0.0; 2];
    }
    [usage.ru_utime, usage.ru_stime]
        .map(|time| time.tv_sec as f64 * 1e9 + time.tv_usec as f64 * 1e3)
}

#[cfg(not(unix))]
fn processor() -> [f64; 2] {
    [0.0; 2]
}

/// The time that threads waited for block devices, in ns: `delayacct_blkio_ticks`, the 42nd field of `/proc/self/stat`.
/// Returns zero if the kernel does not count this time (`kernel.task_delayacct`).
fn block_io() -> f64 {
    /// `USER_HZ`, 100 on all of Linux's architectures today.
    const TICK_NS: f64 = 1e7;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is a name in parentheses, which may contain anything.
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    let field = after_name.split(' ').nth(42 - 3);
    let ticks = field.and_then(|ticks| ticks.parse::<f64>().ok());
    ticks.unwrap_or(0.0) * TICK_NS
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn work_is_user_time_and_the_rest_is_idle() {
        let before = super::account(1000);
        while account(1).user <= before.user {}
        let account = account(1000).since(&before);
        assert!(account.user > 0.0 && account.idle > account.user);
    }
}
