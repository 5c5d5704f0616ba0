//! A thread that keeps an allotment at what the system leaves this process.

mod neighbours;
mod pace;
mod phase;
mod sources;
#[cfg(test)]
mod tests;

use super::Allotment;
use crate::topology::Quota;
use manycore_platform::{Native, Platform};
use neighbours::Neighbours;
use pace::{Pace, QuotaPace};
use sources::Sources;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{fmt, io};

/// How often the affinity mask is read: some 50 us of processor time each.
const MASK: Duration = Duration::from_millis(10);
/// How often the files of the control groups are read, and how often the groups themselves are looked up.
const FILES: Duration = Duration::from_millis(100);
const GROUPS: Duration = Duration::from_millis(500);
/// Files and groups are read so much more often while a quota is paced.
const PACED: u32 = 5;
/// The watch rests when it was not needed for so long.
const REST: Duration = Duration::from_secs(1);
/// How long a smaller quota must last before it is obeyed. A larger one is at once, and
/// so is what takes CPUs away.
const HOLD: Duration = Duration::from_millis(50);

/// Follows what this process may use, and keeps an [`Allotment`] there, until dropped.
///
/// | what | read | when it grows | when it shrinks |
/// |---|---|---|---|
/// | affinity mask of the watch's own thread | each 10 ms | at once | at once |
/// | cpuset of the control group, v1 and v2 | each 100 ms; the mask shows it sooner | at once | at once |
/// | CPU quota, v1 and v2, of any level | each 100 ms | at once | if it lasts 50 ms |
/// | [`cap`](Self::cap) | when called | at once | at once |
/// | other processes, if [heeded](Self::heed_neighbours) | each 300 ms | at once | at once |
///
/// The process may also be moved to another group, which is noticed within 500 ms. While
/// a quota is paced, files are read five times as often.
///
/// # The mask
///
/// The watch reads the affinity mask of its own thread. The thread inherits the mask from the
/// thread that starts it, and never changes it, so other bound threads of the process have no
/// effect. Start the watch from a thread that is not bound. A program that confines a process from
/// outside must do so for all threads (`taskset -a -p`): the system offers no other way.
///
/// # Quotas
///
/// A quota that is not a whole number of CPUs is paced. Each of the kernel's periods begins with
/// the next larger number of workers. When the rest of the quota just pays for the next smaller
/// number until the period's end, that number follows. The CPU time used so stays 2.5% below the
/// quota, and the kernel never stops the group. The watch counts the time that the group (v2, or v1
/// with `cpuacct` beside `cpu`), or else this process, really used. If the kernel throttles
/// nevertheless, the margin grows, to at most 25%. With a quota of less than one CPU one worker
/// remains, and is sometimes stopped. A quota that exceeds the remaining CPUs has no effect.
///
/// # In a child after `fork`
///
/// A child of `fork` has only the thread that forked. So the allotment of the parent's watch no
/// longer changes there, and dropping the watch does nothing. Start another watch.
///
/// # Cost
///
/// A thread, `manycore-watch`, that runs for some 50 us each 10 ms, or 5 ms while a quota
/// is paced: 0.5% or 1% of a CPU. It may [rest](Self::rest_when) while it is not needed.
///
/// ```
/// use manycore_cores::elastic::Watch;
///
/// let watch = Watch::start()?;
/// // A runtime reads it at its safe points; a pool follows it by `manycore::Builder::follow`.
/// assert!(watch.allotment().cores() >= 1);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Watch {
    shared: Arc<Watched>,
    thread: Option<JoinHandle<()>>,
    /// [`Platform::forks`] when it was started.
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
    /// CPUs that the affinity mask and the cpuset leave.
    pub cpus: usize,
    /// CPU time in CPUs that the control groups grant; `None`: any.
    pub quota: Option<f64>,
    /// The last argument of [`Watch::cap`].
    pub cap: Option<NonZeroUsize>,
    /// How many of this process's CPUs other processes use; `None` if they are not heeded.
    pub neighbours: Option<f64>,
}

struct Watched {
    allotment: Allotment,
    state: Mutex<WatchState>,
    /// Notified when the watch is to stop, and when its rest is over.
    stops: Condvar,
}

struct WatchState {
    sources: Sources,
    cap: Option<NonZeroUsize>,
    /// The use by other processes, while they are heeded.
    neighbours: Option<Neighbours>,
    /// The quota that is obeyed.
    quota: Option<Quota>,
    /// Since when there has been a smaller one.
    smaller_since: Option<Instant>,
    pace: QuotaPace,
    /// The last decision of the pace; `None`: no quota counts.
    paced: Option<Pace>,
    /// When files and groups are to be read, on the clock of the sources.
    files_at: Duration,
    groups_at: Duration,
    /// Asks the watch's user whether the watch is not needed.
    is_idle: Option<IsIdle>,
    /// Since when that was so at each look.
    idle_since: Option<Duration>,
    /// The thread sleeps until it is woken.
    rests: bool,
    stop: bool,
}

/// Returns whether the watch is not needed; with `true` as argument, the watch rests if it is not.
type IsIdle = fn(bool) -> bool;

impl Watch {
    /// Starts to watch this process.
    ///
    /// # Errors
    ///
    /// If the system refuses a thread, or has none.
    ///
    /// ```
    /// let watch = manycore_cores::elastic::Watch::start()?;
    /// assert!(watch.allotment().cores() >= 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn start() -> io::Result<Self> {
        if cfg!(target_family = "wasm") {
            // Nor a clock, which the sources would ask for.
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

    /// The allotment that follows the system, for `manycore::Builder::follow`. It keeps its value
    /// when the watch is dropped.
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

    /// Limits the allotment to `cores` from now on; `None` removes the limit.
    ///
    /// # Panics
    ///
    /// In a child after `fork`.
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
        self.shared.publish(&state);
    }

    /// Whether CPUs count as gone that other processes keep busy. They do not at first.
    ///
    /// This is for teams that meet at barriers more often than each 10 ms: beside a busy process,
    /// two workers on one CPU and a half make less progress than one worker on a whole CPU.
    /// Independent jobs gain by the half. The use by other processes is counted for 300 ms, in
    /// whole CPUs; less than 0.3 of a CPU does not count, and one CPU always remains. Does nothing
    /// if the kernel has no `/proc/stat`.
    ///
    /// Processes that heed each other share the CPUs as they come to: nothing makes the shares even.
    ///
    /// # Panics
    ///
    /// In a child after `fork`.
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
            self.shared.publish(&state);
        }
    }

    /// Lets the watch rest while it is not needed, so that an idle process does not wake up.
    ///
    /// `is_idle` returns whether the watch is not needed. It is called with `false` at each look. When it has been true for a
    /// second, it is called with `true`, and if it is true again the watch rests until
    /// [`wake`](Self::wake) is called: the allotment stays as it is. A caller that needs the watch says so first, for `is_idle`
    /// to see, and then calls `wake`, unless it knows that `is_idle` was not called with `true` before.
    ///
    /// # Panics
    ///
    /// In a child after `fork`.
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

    /// A watch that rests looks at once, and goes on. Does nothing in a child after `fork`.
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

    /// Its last observations.
    ///
    /// # Panics
    ///
    /// In a child after `fork`.
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

    /// In a child, the lock might be held by a thread that is not there.
    #[track_caller]
    fn expect_here(&self) {
        assert!(
            self.is_here(),
            "this Watch is the parent's, whose thread a child of fork does not have: start one here"
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
            // An error is a panic there, which was reported.
            let _ = thread.join();
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
        // A panic leaves the state valid.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The life of the watch's thread.
    fn watch(&self) {
        let mut state = self.lock();
        while !state.stop {
            let now = state.sources.now();
            let next = state.look(now);
            self.publish(&state);
            if state.may_rest(now) {
                state.rests = true;
                while state.rests && !state.stop {
                    let woken = self.stops.wait(state);
                    state = woken.unwrap_or_else(PoisonError::into_inner);
                }
                state.has_rested();
                continue;
            }
            let pause = next.saturating_sub(state.sources.now());
            let waited = self.stops.wait_timeout(state, pause);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Under the lock, so that the later state is published last.
    fn publish(&self, state: &WatchState) {
        let cores = state.capped();
        if self.allotment.cores() != cores {
            self.allotment.set(cores);
        }
    }
}

impl WatchState {
    fn new(sources: Sources) -> Self {
        let quota = sources.quota();
        Self {
            sources,
            cap: None,
            neighbours: None,
            quota,
            smaller_since: None,
            pace: QuotaPace::new(),
            paced: None,
            files_at: FILES,
            groups_at: GROUPS,
            is_idle: None,
            idle_since: None,
            rests: false,
            stop: false,
        }
    }

    /// Reads what is due, and sets the pace. Returns when to look again.
    fn look(&mut self, now: Duration) -> Duration {
        self.sources.read_mask();
        let often = if self.paced.is_some() { PACED } else { 1 };
        if now >= self.groups_at {
            self.sources.find();
            self.groups_at = now + GROUPS / often;
        }
        if now >= self.files_at {
            self.sources.read_files();
            self.follow_quota(Instant::now());
            self.files_at = now + FILES / often;
        }
        self.keep_pace(now);
        self.count_neighbours(now);
        self.paced.map_or(now + MASK, |pace| pace.next)
    }

    /// Whether the watch was not needed for [`REST`].
    fn may_rest(&mut self, now: Duration) -> bool {
        let Some(is_idle) = self.is_idle.filter(|is_idle| is_idle(false)) else {
            self.idle_since = None;
            return false;
        };
        let since = *self.idle_since.get_or_insert(now);
        now.saturating_sub(since) >= REST && is_idle(true)
    }

    /// Forgets the counts from before a rest, and has all sources read at once.
    fn has_rested(&mut self) {
        self.idle_since = None;
        (self.files_at, self.groups_at) = (Duration::ZERO, Duration::ZERO);
        if let Some(neighbours) = &mut self.neighbours {
            *neighbours = Neighbours::default();
        }
    }

    fn count_neighbours(&mut self, now: Duration) {
        let due = self.neighbours.as_mut().filter(|it| it.is_due(now));
        if let Some((neighbours, load)) = due.zip(self.sources.load(now)) {
            neighbours.learn(load);
        }
    }

    /// Obeys a larger quota at once, and a smaller one when it has lasted.
    fn follow_quota(&mut self, now: Instant) {
        let (old, new) = (self.quota, self.sources.quota());
        let cpus = |quota: Option<Quota>| quota.map_or(f64::INFINITY, |quota| quota.cpus);
        let mut lasted = || now.duration_since(*self.smaller_since.get_or_insert(now));
        if cpus(new) >= cpus(old) || lasted() >= HOLD {
            (self.quota, self.smaller_since) = (new, None);
        }
    }

    fn keep_pace(&mut self, now: Duration) {
        match self.quota {
            Some(quota) if quota.cpus < self.sources.cpus() as f64 => {
                let usage = self.sources.usage(&quota, now);
                self.paced = Some(self.pace.look(quota.cpus, quota.period, usage));
            }
            _ if self.paced.is_some() => (self.pace, self.paced) = (QuotaPace::new(), None),
            _ => {}
        }
    }

    /// The cores there are, from what was read and paced last.
    fn capped(&self) -> usize {
        let cap = self.cap.map_or(usize::MAX, NonZeroUsize::get);
        let paced = self.paced.map_or(usize::MAX, |pace| pace.workers);
        let cpus = self.sources.cpus();
        let left = (self.neighbours.as_ref()).map_or(cpus, |neighbours| neighbours.leave(cpus));
        // The largest allotment there is.
        left.min(cap).min(paced).min(65_535)
    }

    /// The cores there are at first.
    fn cores(&mut self) -> usize {
        self.keep_pace(self.sources.now());
        self.capped()
    }
}
