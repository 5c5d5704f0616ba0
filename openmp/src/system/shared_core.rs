//! Whether a thread of a team shares its core with another thread of the team, and how it leaves that core.
//!
//! The kernel may wake a thread of a team on the core of the team's leader. The team then waits for one of the two, and
//! that one waits for the core. The kernel moves one of them when a core is idle. But other threads of the program may
//! wait on the other cores by yielding, such as the threads of OpenBLAS. Then no core is idle, and the two threads stay
//! on one core. A thread that is alone with such a yielding thread has nearly the whole core.
//!
//! So a thread that waits, or has slept, asks the kernel where the leader and some other threads of this library run. If
//! one of them runs on the same core, the thread moves to a core that none of them has. The leader stays. Of two other
//! threads, the one that began first stays. If all cores are taken, the waiting thread yields. It does not yield to
//! other processes: such a yield lasts a time slice of some milliseconds, and the team may wait for this thread.
//!
//! Only the last leader is known. Threads that are bound to one core do not move. If another thread binds the waiting
//! thread during the few microseconds of the move, that binding is lost.

use super::clock::has_passed;
use super::cpus::Cpus;
use super::small_file::read;
use super::threads;
use manycore_platform::{CachePadded, Native, Platform};
use std::cell::Cell;
use std::ffi::CStr;
use std::io::Write;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI32, AtomicUsize};
use std::time::Duration;

/// The number of the thread that has last made a team. Relaxed: it only chooses which threads to ask about.
static LEADER: AtomicI32 = AtomicI32::new(0);
/// The core on which a leader last began a region. Relaxed: it only tells when to look.
static LEADERS_CORE: CachePadded<AtomicUsize> = CachePadded::new(AtomicUsize::new(usize::MAX));

/// The most threads in one look, with the leader. It takes some 5 us for each.
const MOST: usize = 5;
/// The next look comes at least this many times as long after a look as the look took. If the thread is still on the
/// same core then, and no leader is there, that time doubles up to [`LONGEST`] with each look that finds nothing.
const REST: u64 = 64;
const LONGEST: Duration = Duration::from_millis(20);

/// What a thread knows of its core.
#[derive(Clone, Copy)]
struct Known {
    /// The core at the last look. Whether another thread of the team was there too, and stayed.
    core: usize,
    is_shared: bool,
    /// When the last look ended, and the ticks until the next: if the thread is on another core, or on a leader's, and
    /// otherwise.
    looked: u64,
    least: u64,
    rest: u64,
    /// How many threads of the list the looks have passed.
    cursor: usize,
}

thread_local! {
    static KNOWN: Cell<Known> = const { Cell::new(Known::NOTHING) };
}

/// The calling thread leads a team.
pub(crate) fn note_leader() {
    LEADER.store(threads::number(), Relaxed);
}

/// The calling thread begins a region.
#[inline]
pub(crate) fn note_core() {
    let core = Native::core();
    // Regions that follow each other mostly begin on the same core. Then members keep their copies of the line.
    if LEADERS_CORE.load(Relaxed) != core {
        LEADERS_CORE.store(core, Relaxed);
    }
}

/// Whether the calling thread shares its core with another thread of the team. Leaves a shared core if it can. The
/// answer may be that of the last look at the other threads, which is some milliseconds old at most.
pub(crate) fn is_shared() -> bool {
    let mut known = KNOWN.get();
    let begin = Native::now();
    let is_due = |rest| has_passed(rest, known.looked, begin);
    let may_be_new = |core| core != known.core || core == LEADERS_CORE.load(Relaxed);
    if is_due(known.rest) || (is_due(known.least) && may_be_new(Native::core())) {
        let found = known.look();
        known.core = Native::core();
        known.looked = Native::now();
        known.least = REST * known.looked.saturating_sub(begin);
        known.rest = if found { 0 } else { 2 * known.rest };
        let most = Native::duration_to_ticks(LONGEST);
        known.rest = known.rest.clamp(known.least.min(most), most);
        KNOWN.set(known);
    }
    known.is_shared
}

impl Known {
    const NOTHING: Self = Self {
        core: usize::MAX,
        is_shared: false,
        looked: 0,
        least: 0,
        rest: 0,
        cursor: 0,
    };

    /// Looks, and leaves the core if it is shared. Returns whether it was.
    fn look(&mut self) -> bool {
        let all = Cpus::of_thread(0).filter(|all| all.count() > 1);
        let found = all.and_then(|all| Some((all, self.free(all)?)));
        self.is_shared = found.is_some_and(|(all, free)| free.count() == 0 || !go_to(&free, &all));
        found.is_some()
    }

    /// If one of the threads that this look is at stays on the core of the calling thread, returns the CPUs of `all`
    /// that none of them has.
    fn free(&mut self, all: Cpus) -> Option<Cpus> {
        let (leader, me) = (LEADER.load(Relaxed), threads::number());
        let here = Native::core();
        let count = threads::numbers().count().max(1);
        let others = threads::numbers().cycle().skip(self.cursor % count);
        let others = others.take(count.min(MOST - 1));
        self.cursor = (self.cursor + MOST - 1) % count;
        let (mut free, mut is_shared) = (all, false);
        for other in [leader].into_iter().chain(others).filter(|&it| it != me) {
            if let Some(core) = core_of(other) {
                is_shared |= core == here && leader != me && (other == leader || other < me);
                free.remove(core);
            }
        }
        is_shared.then_some(free)
    }
}

/// Moves the calling thread to one of the `free` CPUs, and leaves it bound to `all`. Returns whether it could move.
fn go_to(free: &Cpus, all: &Cpus) -> bool {
    // The kernel moves the thread before the first call returns.
    free.put_on(0) && all.put_on(0)
}

/// The core on which a thread of this process runs, or will run. `None` if the thread sleeps, or does not exist.
fn core_of(thread: libc::pid_t) -> Option<usize> {
    let mut path = [0; 48];
    // The last byte stays 0.
    write!(&mut path[..47], "/proc/self/task/{thread}/stat").ok()?;
    let path = CStr::from_bytes_until_nul(&path).ok()?;
    let mut text = [0; 512];
    running_core(std::str::from_utf8(read(path, &mut text)).ok()?)
}

/// The core in the text of a thread's file `stat`, if the thread runs.
fn running_core(text: &str) -> Option<usize> {
    // The name before the last parenthesis may have spaces and parentheses.
    let mut fields = text.rsplit_once(") ")?.1.split(' ');
    if fields.next()? != "R" {
        return None;
    }
    fields.nth(35)?.parse().ok()
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::SeqCst;

    #[test]
    fn the_core_of_a_thread_that_runs() {
        let rest = "R 1 7 7 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 \
                    0 17 3 0 0";
        assert_eq!(running_core(&format!("7 (a) R (b) {rest}")), Some(3));
        let sleeps = rest.replacen('R', "S", 1);
        assert_eq!(running_core(&format!("7 (a) {sleeps}")), None);
        assert_eq!(running_core(""), None);
        assert_eq!(running_core("7 (a) R 1"), None);
    }

    #[test]
    fn the_kernel_tells_the_core_of_the_caller() {
        let all = Cpus::of_thread(0).expect("a thread has CPUs");
        let here = Native::core();
        assert!(Cpus::of(&[here]).put_on(0));
        assert_eq!(
            (Some(Native::core()), core_of(threads::number())),
            (Some(here), Some(here))
        );
        assert_eq!(core_of(0), None);
        all.put_on(0);
    }

    #[test]
    fn a_thread_leaves_the_core_of_its_leader() {
        let all = Cpus::of_thread(0).expect("a thread has CPUs");
        let one = Cpus::of(&all.numbers()[..1]);
        if all.count() < 2 {
            return;
        }
        let (begun, done) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                one.put_on(0);
                note_leader();
                begun.store(true, SeqCst);
                while !done.load(SeqCst) {
                    std::thread::yield_now();
                }
            });
            while !begun.load(SeqCst) {
                std::thread::yield_now();
            }
            // The kernel may move this thread too.
            let has_left = (0..1_000).any(|_| {
                one.put_on(0);
                all.put_on(0);
                let mut known = KNOWN.get();
                known.look() && Native::core() != one.numbers()[0]
            });
            done.store(true, SeqCst);
            assert!(has_left);
        });
        assert_eq!(
            Cpus::of_thread(0).map(|cpus| cpus.count()),
            Some(all.count())
        );
    }
}
