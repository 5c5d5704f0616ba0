//! The operating system's threads.

use crate::ThreadSpec;
use std::io;
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};

/// A thread of this host.
#[derive(Debug)]
pub struct NativeThread(JoinHandle<()>);

impl NativeThread {
    pub(super) fn join(self) {
        // An error is the thread's panic, whose message the panic hook has
        // already printed.
        let _ = self.0.join();
    }
}

pub(super) fn spawn(spec: ThreadSpec, body: Box<dyn FnOnce() + Send>) -> io::Result<NativeThread> {
    if spec.name.contains('\0') {
        let problem = "a thread's name cannot contain a NUL character";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    let mut builder = Builder::new().name(spec.name);
    if let Some(bytes) = spec.stack_size {
        builder = builder.stack_size(bytes);
    }
    if spec.cpus.is_empty() {
        return builder
            .spawn(move || {
                sharpen_timer();
                body();
            })
            .map(NativeThread);
    }
    // The thread binds itself (the portable way), so whether it could is known
    // only there; the creator waits for the verdict.
    let (verdict, bound) = mpsc::sync_channel(1);
    let thread = builder.spawn(move || {
        let result = bind(&spec.cpus);
        let failed = result.is_err();
        let _ = verdict.send(result);
        if !failed {
            sharpen_timer();
            body();
        }
    })?;
    match bound.recv() {
        Ok(Ok(())) => Ok(NativeThread(thread)),
        Ok(Err(error)) => {
            let _ = thread.join();
            Err(error)
        }
        Err(mpsc::RecvError) => Err(io::Error::other("the thread died before it was bound")),
    }
}

#[cfg(target_os = "linux")]
fn bind(cpus: &[usize]) -> io::Result<()> {
    use rustix::thread::{CpuSet, sched_setaffinity};
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        set.set(cpu);
    }
    Ok(sched_setaffinity(None, &set)?)
}

#[cfg(not(target_os = "linux"))]
fn bind(_cpus: &[usize]) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

/// Linux lets a timer expire 50 us late to batch wake-ups. A worker that sleeps
/// until just before the next loop is expected cannot use that.
fn sharpen_timer() {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    }
}

// Miri has no `sched_getcpu`.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) fn core() -> usize {
    rustix::thread::sched_getcpu()
}

#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) fn core() -> usize {
    0
}

/// Forbids the core and allows it again: the kernel moves the thread at the
/// first call, and leaves it where it is at the second.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) fn leave_core(core: usize) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    if self::core() != core || core >= CpuSet::MAX_CPU {
        return;
    }
    let Ok(allowed) = sched_getaffinity(None) else {
        return;
    };
    let mut elsewhere = allowed;
    elsewhere.unset(core);
    if elsewhere.count() > 0 && sched_setaffinity(None, &elsewhere).is_ok() {
        // Fails only if the mask was narrowed from outside in between, and
        // then what was set above is no wider than what is allowed now.
        let _ = sched_setaffinity(None, &allowed);
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) fn leave_core(_core: usize) {}
