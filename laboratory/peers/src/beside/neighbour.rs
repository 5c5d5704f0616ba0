//! A neighbour that computes on one CPU for a share of each 10 ms.

use crate::tasks;
use anyhow::{Context, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const PERIOD: Duration = Duration::from_millis(10);

/// The neighbour stops when this is dropped.
pub struct Neighbour {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Neighbour {
    /// Uses `percent` of the last CPU that this process can use.
    ///
    /// # Errors
    ///
    /// If the system does not list the CPUs, or cannot start a thread.
    pub fn start(percent: u32) -> Result<Self> {
        let all = sched_getaffinity(None)?;
        let last = (0..CpuSet::MAX_CPU).rfind(|&cpu| all.is_set(cpu));
        let mut only = CpuSet::new();
        only.set(last.context("no CPU")?);
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let run = move || {
            // If the thread cannot be bound, it uses a share of any CPU.
            let _ = sched_setaffinity(None, &only);
            let busy = PERIOD * percent / 100;
            let mut next = Instant::now();
            while !told.load(Ordering::Relaxed) {
                let until = next + busy;
                while Instant::now() < until && !told.load(Ordering::Relaxed) {
                    tasks::busy(20_000);
                }
                next = (next + PERIOD).max(Instant::now() - PERIOD);
                thread::sleep(next.saturating_duration_since(Instant::now()));
            }
        };
        let thread =
            (percent > 0).then(|| thread::Builder::new().name("neighbour".into()).spawn(run));
        Ok(Self {
            stop,
            thread: thread.transpose()?,
        })
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
