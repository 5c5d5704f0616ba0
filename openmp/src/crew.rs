//! Threads that wait to be members of teams.
//!
//! A thread that begins regions keeps the team of the last one, and its threads wait for the next:
//! to let them in is one word. If a region has another size, they go back to the pool.

use crate::bell::Bell;
use crate::context::{Context, context};
use crate::ending::Ours;
use crate::lock::Guarded;
use crate::region;
use crate::report::fatal;
use crate::team::Team;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Once};

/// A team with its threads.
pub(crate) struct Hot {
    pub(crate) team: Arc<Team>,
}

/// Where a thread of the pool waits.
struct Dock {
    team: Guarded<Option<(Arc<Team>, u32)>>,
    assigned: AtomicBool,
    bell: Bell,
    is_carried: bool,
}

/// Threads that wait, and ranks that do.
static POOLS: [Guarded<Vec<Arc<Dock>>>; 2] = [Guarded::new(vec![]), Guarded::new(vec![])];
/// Times that threads that wait were to end.
static PAUSES: AtomicU32 = AtomicU32::new(0);
/// Times that this process is a child of another that used this library.
static FORKS: AtomicU32 = AtomicU32::new(0);

impl Hot {
    /// A team of `size`, with `size - 1` threads, or ranks, that wait for its first region.
    pub(crate) fn new(size: u32, is_carried: bool) -> Self {
        let team = Arc::new(Team::new(size, is_carried));
        for id in 1..size {
            let waiting = POOLS[usize::from(is_carried)].with(Vec::pop);
            let dock = waiting.unwrap_or_else(|| start(is_carried));
            dock.team.with(|slot| *slot = Some((Arc::clone(&team), id)));
            dock.assigned.store(true, SeqCst);
            dock.bell.ring();
        }
        Self { team }
    }
}

impl Drop for Hot {
    fn drop(&mut self) {
        self.team.dismissed.store(true, SeqCst);
        self.team.epoch.fetch_add(1, SeqCst);
        self.team.bell.ring_after_rmw();
        if self.team.is_carried {
            crate::carry::release();
        }
    }
}

fn start(is_carried: bool) -> Arc<Dock> {
    let dock = Arc::new(Dock {
        team: Guarded::new(None),
        assigned: AtomicBool::new(false),
        bell: Bell::new(),
        is_carried,
    });
    let mine = Arc::clone(&dock);
    spawn("manycore-omp", stack_size(), move || serve(&mine));
    dock
}

/// Starts a thread; without one the program cannot go on.
pub(crate) fn spawn(name: &str, stack: Option<usize>, body: impl FnOnce() + Send + 'static) {
    let mut thread = std::thread::Builder::new().name(name.into());
    if let Some(bytes) = stack {
        thread = thread.stack_size(bytes);
    }
    let body = || {
        let _ours = Ours::new();
        body();
    };
    if let Err(error) = thread.spawn(body) {
        fatal(format_args!("no thread for a team: {error}"));
    }
}

/// What the user said, else the limit of the process as for other threads.
fn stack_size() -> Option<usize> {
    if let Some(bytes) = crate::environment::settings().stack_size {
        return Some(bytes);
    }
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: writes the limit.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) } == 0;
    (known && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur as usize)
}

/// The life of a thread of the pool.
fn serve(dock: &Arc<Dock>) {
    let context = context();
    let born = PAUSES.load(SeqCst);
    if dock.is_carried {
        crate::carry::become_rank(context);
    }
    loop {
        dock.bell
            .wait_until(context, &|| dock.assigned.load(SeqCst));
        dock.assigned.store(false, SeqCst);
        let Some((team, id)) = dock.team.with(Option::take) else {
            return;
        };
        region::serve(context, &team, id);
        // Threads that it led itself are for others now.
        context.hot.borrow_mut().clear();
        // Looked at with the lock: `dismiss` counts first, and finds what is there then.
        let waits = POOLS[usize::from(dock.is_carried)].with(|pool| {
            let waits = dock.is_carried || PAUSES.load(SeqCst) == born;
            if waits {
                pool.push(Arc::clone(dock));
            }
            waits
        });
        if !waits {
            return;
        }
    }
}

/// The threads that wait for regions end: those of the calling thread's own teams, and of the pool. Ranks wait
/// on: a rank's kernel thread is parked for as long as the process lives.
pub(crate) fn dismiss(context: &Context) {
    PAUSES.fetch_add(1, SeqCst);
    context.hot.borrow_mut().clear();
    for dock in POOLS[usize::from(false)].with(std::mem::take) {
        dock.assigned.store(true, SeqCst);
        dock.bell.ring();
    }
}

/// How often this process was forked off.
pub(crate) fn forks() -> u32 {
    FORKS.load(SeqCst)
}

/// A child after `fork` has none of these threads: it is to start its own.
pub(crate) fn watch_forks() {
    static ONCE: Once = Once::new();
    extern "C" fn child() {
        FORKS.fetch_add(1, SeqCst);
        crate::ending::forget();
        // SAFETY: the child has one thread yet, and whoever had the lock is not there.
        unsafe { POOLS.iter().for_each(|pool| pool.break_open()) };
    }
    ONCE.call_once(|| {
        // SAFETY: the handler touches atomics only.
        unsafe { libc::pthread_atfork(None, None, Some(child)) };
    });
}
