//! A thread that sets an allotment to the number of cores that the system leaves this process.

mod neighbours;
mod pace;
mod sources;
mod state;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod users;
mod window;

use super::Allotment;
use manycore_platform::{Native, Platform};
use neighbours::Neighbours;
use sources::Sources;
use state::WatchState;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::{fmt, io};

/// A thread that sets an [`Allotment`] to the number of cores that this process may use, until the watch is
/// dropped.
///
/// | source | read | when it grows | when it shrinks |
/// |---|---|---|---|
/// | affinity mask of the watch's own thread | at least every 10 ms | at once | at once |
/// | cpuset of the control group, v1 and v2 | every 100 ms; the mask shows it sooner | at once | at once |
/// | CPU quota, v1 and v2, of any level | every 100 ms | at once | if it lasts 50 ms |
/// | [`cap`](Self::cap) | when called | at once | at once |
/// | other processes, if [heeded](Self::heed_neighbours) | every 300 ms | at once | at once |
///
/// If the process is moved to another group, the watch notices within 500 ms. While the watch paces a quota, it
/// reads files five times as often.
///
/// # The mask
///
/// The watch reads the affinity mask of its own thread. This thread inherits the mask from the thread that starts the
/// watch, and never changes the mask. So binding other threads of the process has no effect. Start the watch from a
/// thread that is not bound. A program that confines a process from outside must do so for all threads (`taskset -a
/// -p`): the system offers no other way.
///
/// # Quotas
///
/// If the quota is fewer CPUs than mask and cpuset leave, the watch *paces* the quota: it changes the number of
/// workers. With a quota of 1.5 CPUs, two workers run first. When the rest of the quota just suffices for one worker,
/// one worker runs. The watch plans for 2.5% less than the quota, so the kernel seldom throttles the group. If it does,
/// the watch plans for less, down to 25% below the quota. A fraction below a twentieth of a CPU is not used.
///
/// The watch counts the CPU time of the group (v2, or v1 with `cpuacct` beside `cpu`), or else of this process. With a
/// quota of up to one CPU, one worker remains. The watch does not pace that worker, and the kernel sometimes stops it.
///
/// # In a child after `fork`
///
/// A child of `fork` lacks the watch's thread. So the allotment no longer changes there, and dropping the watch does
/// nothing. Start another watch.
///
/// # Cost
///
/// A thread, `manycore-watch`, that runs for 50 us every 10 ms, or every 3 to 5 ms while it paces a quota of the usual
/// period: 0.5%, or 1 to 2%, of a CPU. The watch may [rest](Self::rest_when) while it is not needed.
///
/// ```
/// use manycore_cores::elastic::Watch;
///
/// let watch = Watch::start()?;
/// // A runtime reads the allotment at its safe points. A pool does so after `manycore::Builder::follow`.
/// assert!(watch.allotment().cores() >= 1);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Watch {
    shared: Arc<Watched>,
    thread: Option<JoinHandle<()>>,
    /// The value of [`Platform::forks`] when the watch was started.
    generation: u32,
}

/// The last observations of a [`Watch`].
///
/// ```
/// let watch = manycore_cores::elastic::Watch::start()?;
/// assert!(watch.limits().cpus >= 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// The number of CPUs that the affinity mask and the cpuset leave.
    pub cpus: usize,
    /// The CPU time that the control groups grant, in CPUs. `None` means no limit.
    pub quota: Option<f64>,
    /// The last argument of [`Watch::cap`].
    pub cap: Option<NonZeroUsize>,
    /// How many of this process's CPUs other processes use. `None` if the watch does not heed other processes.
    pub neighbours: Option<f64>,
}

struct Watched {
    allotment: Allotment,
    state: Mutex<WatchState>,
    /// Notified when the watch must stop, and when its rest is over.
    stops: Condvar,
}

impl Watch {
    /// Starts to watch this process.
    ///
    /// # Errors
    ///
    /// An error if the system refuses a thread, or has no threads.
    ///
    /// ```
    /// let watch = manycore_cores::elastic::Watch::start()?;
    /// assert!(watch.allotment().cores() >= 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn start() -> io::Result<Self> {
        if cfg!(target_family = "wasm") {
            // Besides threads, this target lacks the clock that the sources need.
            return Err(io::ErrorKind::Unsupported.into());
        }
        Native::watch_forks()?;
        let mut state = WatchState::new(Sources::of_this_process());
        let cores = state.cores();
        let shared = Arc::new(Watched {
            allotment: Allotment::new(cores),
            state: Mutex::new(state),
            stops: Condvar::new(),
        });
        let thread = std::thread::Builder::new().name("manycore-watch".into());
        let watched = Arc::clone(&shared);
        let thread = thread.spawn(move || watched.watch())?;
        Ok(Self {
            shared,
            thread: Some(thread),
            generation: Native::forks(),
        })
    }

    /// The watch's allotment, for `manycore::Builder::follow`. The allotment keeps its value when the watch is
    /// dropped.
    ///
    /// ```
    /// let watch = manycore_cores::elastic::Watch::start()?;
    /// let allotment = watch.allotment().clone();
    /// drop(watch);
    /// assert!(allotment.allows(0));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn allotment(&self) -> &Allotment {
        &self.shared.allotment
    }

    /// Limits the allotment to `cores` from now on. `None` removes the limit.
    ///
    /// # Panics
    ///
    /// Panics in a child after `fork`.
    ///
    /// ```
    /// use std::num::NonZeroUsize;
    ///
    /// let watch = manycore_cores::elastic::Watch::start()?;
    /// watch.cap(NonZeroUsize::new(1));
    /// assert_eq!(watch.allotment().cores(), 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn cap(&self, cores: Option<NonZeroUsize>) {
        self.expect_here();
        let mut state = self.shared.lock();
        state.cap = cores;
        self.shared.publish(state);
    }

    /// Sets whether the allotment leaves out CPUs that other processes keep busy. At first it includes them.
    ///
    /// This is for teams that meet at barriers more often than every 10 ms: beside a busy process, two workers on 1.5
    /// CPUs make less progress than one worker on a whole CPU. Independent jobs gain by the half CPU. The watch
    /// measures the use by other processes over 300 ms, and rounds it to whole CPUs. Less than 0.3 of a CPU does not
    /// count, and one CPU always remains. Without `/proc/stat` this setting has no effect.
    ///
    /// If several processes heed each other, nothing makes their shares even.
    ///
    /// # Panics
    ///
    /// Panics in a child after `fork`.
    ///
    /// ```
    /// let watch = manycore_cores::elastic::Watch::start()?;
    /// watch.heed_neighbours(true);
    /// assert!(watch.allotment().cores() >= 1);
    /// assert!(watch.limits().neighbours.is_some());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn heed_neighbours(&self, heed: bool) {
        self.expect_here();
        let mut state = self.shared.lock();
        if heed != state.neighbours.is_some() {
            state.neighbours = heed.then(Neighbours::default);
            self.shared.publish(state);
        }
    }

    /// Lets the watch rest while it is not needed, so that an idle process does not wake up.
    ///
    /// `is_idle` returns whether the watch is not needed. Each look calls `is_idle(false)`. When these calls have
    /// returned `true` for a second, the watch calls `is_idle(true)`. If this call returns `true` too, the watch rests
    /// until [`wake`](Self::wake), and the allotment does not change. A caller that needs the watch first makes
    /// `is_idle` return `false`, and then calls `wake`, unless it knows that `is_idle` was not called with `true`
    /// before.
    ///
    /// # Panics
    ///
    /// Panics in a child after `fork`.
    ///
    /// ```
    /// let watch = manycore_cores::elastic::Watch::start()?;
    /// watch.rest_when(|_rests| true);
    /// watch.wake();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn rest_when(&self, is_idle: fn(bool) -> bool) {
        self.expect_here();
        self.shared.lock().is_idle = Some(is_idle);
    }

    /// Ends the watch's rest, if the watch rests. The watch then looks at its sources at once. Does nothing in a child
    /// after `fork`.
    ///
    /// ```
    /// let watch = manycore_cores::elastic::Watch::start()?;
    /// watch.wake();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn wake(&self) {
        if self.is_here() {
            let mut state = self.shared.lock();
            if std::mem::take(&mut state.rests) {
                self.shared.stops.notify_one();
            }
        }
    }

    /// The watch's last observations.
    ///
    /// # Panics
    ///
    /// Panics in a child after `fork`.
    #[must_use]
    #[track_caller]
    pub fn limits(&self) -> Limits {
        self.expect_here();
        let state = self.shared.lock();
        Limits {
            cpus: state.sources.cpus(),
            quota: state.quota.map(|quota| quota.cpus),
            cap: state.cap,
            neighbours: state.neighbours.as_ref().map(Neighbours::used),
        }
    }

    /// Whether the watch's thread is a thread of this process.
    fn is_here(&self) -> bool {
        Native::forks() == self.generation
    }

    /// Panics in a child after `fork`. There, the lock may be held by a thread that the child does not have.
    #[track_caller]
    fn expect_here(&self) {
        assert!(
            self.is_here(),
            "this Watch is the parent's, and a child of fork lacks its thread: start another Watch"
        );
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.is_here() {
            // The lock may never be released, and the thread may never end.
            std::mem::forget(self.thread.take());
            return;
        }
        self.shared.lock().stop = true;
        self.shared.stops.notify_one();
        if let Some(thread) = self.thread.take() {
            // The watch's own thread may drop the watch: it calls followers, and a follower may hold the last
            // reference. In that case the thread ends after this drop.
            if thread.thread().id() != std::thread::current().id() {
                // An error is a panic, which the panic hook has reported.
                let _ = thread.join();
            }
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("allotment", self.allotment())
            .field("limits", &self.is_here().then(|| self.limits()))
            .finish_non_exhaustive()
    }
}

impl Watched {
    fn lock(&self) -> MutexGuard<'_, WatchState> {
        // The state is valid even after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The main function of the watch's thread. It calls followers and `is_idle` without the lock, since they may use
    /// the watch.
    ///
    /// No wake-up is lost. Both waits test their conditions under the lock, after the last call of users' code. The
    /// thread sets `rests` before it calls `is_idle(true)`. So if a caller needs the watch, it has made `is_idle`
    /// return `false` in time, or its call of [`wake`](Watch::wake) comes later and ends the rest.
    fn watch(&self) {
        let mut state = self.lock();
        while !state.stop {
            let now = state.sources.now();
            let next = state.look(now);
            let is_idle = state.is_idle;
            self.publish(state);
            let is_idle = is_idle.filter(|is_idle| is_idle(false));
            state = self.lock();
            let may_rest = state.may_rest(now, is_idle.is_some());
            if let Some(is_idle) = is_idle.filter(|_| may_rest) {
                state.rests = true;
                drop(state);
                let rests = is_idle(true);
                state = self.lock();
                if rests {
                    let woken = (self.stops).wait_while(state, |state| state.rests && !state.stop);
                    state = woken.unwrap_or_else(PoisonError::into_inner);
                    state.has_rested();
                    continue;
                }
                state.rests = false;
            }
            let pause = next.saturating_sub(state.sources.now());
            let waited = (self.stops).wait_timeout_while(state, pause, |state| !state.stop);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Changes the allotment under the lock, so that the latest state is published last. Then releases the lock, and
    /// calls the followers. The allotment may have shrunk again by then, so a follower reads it.
    fn publish(&self, state: MutexGuard<'_, WatchState>) {
        let cores = state.capped();
        let is_new = self.allotment.cores() != cores;
        let gained = is_new.then(|| self.allotment.change_to(cores));
        drop(state);
        if let Some(gained) = gained {
            self.allotment.notify_followers(gained);
        }
    }
}
