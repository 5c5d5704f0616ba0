//! The number of cores that this process may use now.

use super::icv::Icv;
use super::{idle, places, settings};
use crate::system::cpus::{Cpus, with_cpus};
use crate::system::ending::WATCH;
use crate::system::masks::with_signals_blocked;
use manycore_cores::elastic::{Allotment, Watch};
use manycore_cores::topology::Topology;
use manycore_platform::{Native, Platform};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, ptr};

struct Followed {
    /// The process that follows ([`Platform::forks`]). Its children lack the thread.
    generation: u32,
    /// The thread that follows the number of cores. `None` if the system has no room for this thread. The number then
    /// does not change.
    watch: Mutex<Option<Watch>>,
    allotment: Allotment,
}

/// A child process finds its parent's value here until its own first team. Values are never freed.
static FOLLOWED: AtomicPtr<Followed> = AtomicPtr::new(ptr::null_mut());

/// Returns the watch of this process, or `None` before the first team of the process.
#[inline]
fn followed() -> Option<&'static Followed> {
    // SAFETY: null, or a value that is never freed. Acquire makes its contents visible.
    let followed = unsafe { FOLLOWED.load(Acquire).as_ref() };
    followed.filter(|followed| followed.generation == Native::forks())
}

impl Followed {
    fn start(generation: u32) -> Self {
        // The watch must not receive a signal that the program has blocked in all its threads.
        let start = || with_signals_blocked(|| Watch::start().ok());
        let watch = with_cpus(places::unbound(), start);
        if let Some(watch) = &watch {
            watch.cap(places::bound_cpus());
            heed(watch, true);
            watch.rest_when(idle::is_idle);
        }
        let allotment = watch.as_ref().map_or_else(
            || Allotment::new(cores()),
            |watch| watch.allotment().clone(),
        );
        let watch = Mutex::new(watch);
        Self {
            generation,
            watch,
            allotment,
        }
    }

    fn watch(&self) -> MutexGuard<'_, Option<Watch>> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the watch: a thread that follows how many cores the system leaves to this process. If threads are bound, the
/// calling thread may be bound too. Then the watch counts the CPUs that the process had before and that are in a place (a
/// set of CPUs to bind threads to).
///
/// This takes no lock, since a child process of `fork` would wait for a thread that it does not have. If another thread
/// is starting the watch, this returns at once. [`cores`] returns the first number until the watch has started.
pub(crate) fn watch_cores() {
    /// A thread of the process with this number, [`Platform::forks`] plus 1, has started a watch. It is 0 at first.
    static STARTED: AtomicU64 = AtomicU64::new(0);
    let generation = Native::forks();
    let this = u64::from(generation) + 1;
    // Relaxed: the word publishes nothing. The swap gives one thread of the process another value than `this`.
    if STARTED.load(Relaxed) == this || STARTED.swap(this, Relaxed) == this {
        return;
    }
    let new = Box::into_raw(Box::new(Followed::start(generation)));
    // Release publishes the contents.
    FOLLOWED.store(new, Release);
}

/// Whether a team of more than one thread has begun. The first such team starts the watch.
pub(super) fn has_watched() -> bool {
    followed().is_some()
}

/// Ends the watch, since a limit on threads leaves no room. Returns whether a watch was running.
pub(crate) fn give_up_watch() -> bool {
    followed().is_some_and(|followed| followed.watch().take().is_some())
}

/// Wakes the watch if it rests, since a region begins.
#[inline]
pub(crate) fn wake_watch() {
    if idle::end_rest() {
        followed().inspect(|it| _ = it.watch().as_ref().map(Watch::wake));
    }
}

/// Sets whether cores that other processes keep busy count as gone. At first they do.
#[allow(dead_code, reason = "only `carry` calls this")]
pub(crate) fn heed_neighbours(heeds: bool) {
    followed().inspect(|it| _ = it.watch().as_ref().map(|watch| heed(watch, heeds)));
}

fn heed(watch: &Watch, heeds: bool) {
    if settings().heeds {
        watch.heed_neighbours(heeds);
    }
}

/// The number of cores that this process may use now: by mask, cpuset, quota and neighbours.
#[inline]
pub(crate) fn cores() -> usize {
    match followed() {
        Some(followed) => followed.allotment.cores(),
        None => at_first(),
    }
}

impl Icv {
    /// The number of threads of a region. By default this is the number of cores that the process had at first.
    pub(crate) fn threads(self) -> u32 {
        self.threads.unwrap_or_else(|| at_first() as u32)
    }
}

/// The number of cores that this process might use at first: by its mask when the library was loaded, and by its quota
/// at the first call. Most processes that load this library never ask, so the first call reads the system's files. A
/// program may forbid itself these files before that (`seccomp`, `chroot`): then the quota does not count.
///
/// This takes no lock: a child process of `fork` would wait for a thread that it does not have, and a signal handler
/// would wait for the thread that it has interrupted. Several threads may count at the same time.
fn at_first() -> usize {
    static KNOWN: AtomicUsize = AtomicUsize::new(0);
    // Relaxed: the number publishes nothing else.
    match KNOWN.load(Relaxed) {
        0 => {
            let cores = count();
            // All callers get the number that was stored first.
            let stored = KNOWN.compare_exchange(0, cores, Relaxed, Relaxed);
            stored.err().unwrap_or(cores)
        }
        cores => cores,
    }
}

/// Counts the cores for [`at_first`]. There is at least one.
fn count() -> usize {
    let (machine, cpus) = (Topology::detect_limits(), places::at_first());
    if places::mask() == cpus {
        return machine.default_threads();
    }
    // The calling thread was bound after the library was loaded.
    let paid = machine.quota().map_or(usize::MAX, |cpus| cpus as usize);
    cpus.len().min(paid).max(1)
}

/// Sleeps until the kernel thread with the number `worker`, counted from 0, may use one of the [`cores`].
#[allow(dead_code, reason = "only `carry` calls this")]
pub(crate) fn await_core(worker: usize) {
    if let Some(followed) = followed() {
        followed.allotment.await_turn(worker, || false);
    }
}

/// The CPUs of the watch's thread. They are the CPUs of the process, since no thread of the program
/// binds the watch.
#[allow(dead_code, reason = "only `carry` calls this")]
pub(crate) fn of_watch() -> Option<Cpus> {
    let threads = fs::read_dir("/proc/self/task").ok()?;
    let mut numbers = threads.filter_map(|thread| thread.ok()?.file_name().into_string().ok());
    let watch = numbers.find(|number| {
        let name = fs::read_to_string(format!("/proc/self/task/{number}/comm"));
        name.is_ok_and(|name| name.trim_end() == WATCH)
    })?;
    Cpus::of_thread(watch.parse().ok()?)
}
