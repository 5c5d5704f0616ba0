//! Reports a simulated thread that does not return to the simulator.
//!
//! A simulated thread that waits on an atomic or a lock of `std` waits for ever. Simulated time stands still while the
//! thread runs, and no other simulated thread runs on the host. The simulator cannot see that wait. But it can see that
//! no core's clock moves, since every request of a program moves a clock. So a host thread, the watchdog, checks once a
//! second whether the words of the simulated cores have changed. The watchdog reads the words as a debugger does,
//! through `/proc/self/mem`, so the words need not be atomic. A host without that file has no watchdog.

use crate::engine::{Engine, Thread};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::thread;
use std::time::Duration;

/// The watchdog reports a simulation after this many looks that find no change.
const PATIENCE: u32 = 10;
const PERIOD: Duration = Duration::from_secs(1);

static WATCHED: Mutex<Vec<Weak<Watched>>> = Mutex::new(Vec::new());

/// The simulation is watched until this value is dropped.
pub(super) struct Watch {
    watched: Arc<Watched>,
    /// The length of `watched.names`.
    known: usize,
}

struct Watched {
    /// The addresses and lengths of the words that the watchdog reads.
    words: [(usize, usize); 2],
    /// The thread that was resumed last. Relaxed suffices: the number is only shown, and no other read depends on it.
    thread: AtomicU32,
    names: Mutex<Vec<String>>,
}

impl Watch {
    pub(super) fn new(engine: &Engine) -> Self {
        let ports = &*engine.ports;
        let events = engine.events_at();
        let watched = Arc::new(Watched {
            words: [
                (ports.as_ptr().addr(), size_of_val(ports)),
                (events.addr(), size_of::<u64>()),
            ],
            thread: AtomicU32::new(0),
            names: Mutex::default(),
        });
        let mut all = lock(&WATCHED);
        // The first simulation of the process starts the watchdog, which runs until the process
        // ends.
        if all.is_empty() && File::open("/proc/self/mem").is_ok() {
            let builder = thread::Builder::new().name("watchdog".into());
            // If the host refuses the thread, there is no watchdog.
            let _ = builder.stack_size(128 << 10).spawn(look);
        }
        all.retain(|one| one.strong_count() > 0);
        all.push(Arc::downgrade(&watched));
        Self { watched, known: 0 }
    }

    /// Records that `thread` of `threads` is resumed.
    #[inline]
    pub(super) fn resumes(&mut self, thread: u32, threads: &[Thread]) {
        self.watched.thread.store(thread, Relaxed);
        if threads.len() != self.known {
            let mut names = lock(&self.watched.names);
            names.extend(threads[self.known..].iter().map(|one| one.name.clone()));
            self.known = threads.len();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|error| error.into_inner())
}

/// What the watchdog saw in its last look at a simulation.
struct Seen {
    watched: Weak<Watched>,
    words: Vec<u8>,
    looks: u32,
}

/// Looks at all simulations, for ever.
fn look() {
    let Ok(memory) = File::open("/proc/self/mem") else {
        return;
    };
    let mut all: Vec<Seen> = Vec::new();
    loop {
        thread::sleep(PERIOD);
        for new in lock(&WATCHED).iter() {
            if !all.iter().any(|seen| seen.watched.ptr_eq(new)) {
                all.push(Seen {
                    watched: new.clone(),
                    words: Vec::new(),
                    looks: 0,
                });
            }
        }
        all.retain_mut(|seen| match seen.watched.upgrade() {
            Some(watched) => {
                seen.look(&memory, &watched);
                true
            }
            None => false,
        });
    }
}

impl Seen {
    fn look(&mut self, memory: &File, watched: &Watched) {
        let mut words = Vec::new();
        for (address, length) in watched.words {
            let from = words.len();
            words.resize(from + length, 0);
            // If the engine has been dropped, the read may fail. Then the next look removes the
            // simulation.
            if memory
                .read_exact_at(&mut words[from..], address as u64)
                .is_err()
            {
                return;
            }
        }
        if words != self.words {
            self.words = words;
            self.looks = 0;
            return;
        }
        self.looks += 1;
        if self.looks == PATIENCE {
            let thread = watched.thread.load(Relaxed);
            let names = lock(&watched.names);
            let name = names.get(thread as usize).map_or("", |name| &**name);
            eprintln!(
                "manycore-chip: the simulated thread {thread} ({name}) has asked nothing of the \
                 simulated machine for {PATIENCE} s; simulated time stands still, and no other \
                 thread runs. If it waits for another thread by an atomic or a lock of std, it \
                 waits for ever: use the atomics and the futex of the platform `Simulated`. If it \
                 computes, all is well."
            );
        }
    }
}
