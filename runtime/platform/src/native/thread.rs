//! The operating system's threads.

use super::system::{bind, core, leave_core, sharpen_timer};
use crate::thread_spec::ThreadSpec;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, yield_now};
use std::time::{Duration, Instant};

/// The longest time that a creator yields to a new thread: some four times the time of a start on an idle machine.
const START: Duration = Duration::from_micros(200);

/// A thread of this host.
#[derive(Debug)]
pub struct NativeThread(JoinHandle<()>);

impl NativeThread {
    pub(super) fn join(self) {
        // An error is a panic of the thread. The panic hook has already printed the panic's message.
        if let Err(payload) = self.0.join() {
            // The payload is the user's value, and its destructor may panic. The payload of that second panic is
            // leaked, since its destructor may panic again.
            let dropped = catch_unwind(AssertUnwindSafe(|| drop(payload)));
            std::mem::forget(dropped);
        }
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
        // A system may put a new thread behind its creator on the creator's core. There the new thread waits 4 ms for
        // a time slice to end, although another core is idle. So the creator yields until the thread has moved. The
        // creator does not sleep, since the system might wake the creator on the new thread's core.
        let moved = Arc::new(AtomicBool::new(false));
        let has_moved = Arc::clone(&moved);
        let creators = core();
        let thread = builder.spawn(move || {
            leave_core(creators);
            // Relaxed: this is a hint.
            moved.store(true, Ordering::Relaxed);
            drop(moved);
            sharpen_timer();
            body();
        })?;
        let began = Instant::now();
        while !has_moved.load(Ordering::Relaxed) && began.elapsed() < START {
            yield_now();
        }
        return Ok(NativeThread(thread));
    }
    // The thread binds itself, which works on every system, so the creator waits for its verdict.
    let verdict = Arc::new(Verdict::default());
    let given = Arc::clone(&verdict);
    let thread = builder.spawn(move || {
        // The creator gets a verdict even if binding panics.
        let result = catch_unwind(|| bind(&spec.cpus))
            .unwrap_or_else(|_| Err(io::Error::other("the thread died before it was bound")));
        let failed = result.is_err();
        given.give(result);
        drop(given);
        if !failed {
            sharpen_timer();
            body();
        }
    })?;
    match verdict.wait() {
        Ok(()) => Ok(NativeThread(thread)),
        Err(error) => {
            NativeThread(thread).join();
            Err(error)
        }
    }
}

/// Whether a thread could be bound. This is not a channel, since the channel of the standard library takes longer to
/// compile than the rest of this crate.
#[derive(Default)]
struct Verdict {
    result: Mutex<Option<io::Result<()>>>,
    is_given: Condvar,
}

impl Verdict {
    fn give(&self, result: io::Result<()>) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        self.is_given.notify_one();
    }

    fn wait(&self) -> io::Result<()> {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match result.take() {
                Some(result) => return result,
                None => {
                    let woken = self.is_given.wait(result);
                    result = woken.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}
