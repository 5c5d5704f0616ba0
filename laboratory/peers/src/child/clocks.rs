//! The processor time of this process, and the time that its threads waited for a core, from the
//! operating system.

use crate::protocol::Outcome;
use anyhow::{Context, Result};
use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::time::{Duration, Instant};

/// Runs `work` and measures its processor time. The results of `work` become the latencies.
pub(super) fn watch(work: impl FnOnce() -> Vec<f64>) -> Result<Outcome> {
    let delay = run_delay()?;
    let (start, cpu) = (Instant::now(), cpu_time()?);
    let latencies = work();
    let (cpu, elapsed) = (cpu_time()?.saturating_sub(cpu), start.elapsed());
    Ok(Outcome {
        latencies,
        cores: cpu.as_secs_f64() / elapsed.as_secs_f64(),
        processor_ms: cpu.as_secs_f64() * 1e3,
        unserved: 0,
        disturbed: run_delay()? > delay,
    })
}

/// Processor time of all threads of this process.
pub(crate) fn cpu_time() -> Result<Duration> {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Ok(Duration::new(
        u64::try_from(time.tv_sec)?,
        u32::try_from(time.tv_nsec)?,
    ))
}

/// Nanoseconds that ready threads of this process waited for a core.
#[cfg(target_os = "linux")]
fn run_delay() -> Result<u64> {
    let mut total = 0;
    for thread in fs::read_dir("/proc/self/task").context("cannot list this process's threads")? {
        // A thread can end between the listing and the reading.
        let Ok(line) = fs::read_to_string(thread?.path().join("schedstat")) else {
            continue;
        };
        total += line
            .split(' ')
            .nth(1)
            .and_then(|field| field.parse().ok())
            .unwrap_or(0);
    }
    Ok(total)
}

#[cfg(not(target_os = "linux"))]
fn run_delay() -> Result<u64> {
    Ok(0)
}

/// Makes this process end with its parent. Otherwise a stopped process would outlive a killed
/// parent.
pub(super) fn die_with_parent() -> Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    Ok(())
}
