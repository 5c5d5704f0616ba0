//! Moves a thread of a team away from a core that it shares with another thread of the team.
//!
//! The kernel may wake a thread of a team on the core of the team's leader. It moves one of the two when a core is
//! idle. But other threads of the program may wait on the other cores by yielding, such as the threads of OpenBLAS.
//! Then no core is idle, and the two threads stay on one core. A thread that is alone with such a yielding thread has
//! nearly the whole core.
//!
//! So if a waiting thread has yielded its core and another thread has run there, the waiting thread asks the kernel
//! where the other threads of this library and the leader run. If one of them runs on the same core, the waiting thread
//! moves to a core that none of them has. The leader stays. Of two other threads, the one that began first stays.
//!
//! Only the last leader is known. Threads that are bound to one core do not move. If another thread binds the waiting
//! thread during the few microseconds of the move, that binding is lost.

use super::clock::has_passed;
use super::cpus::Cpus;
use super::small_file::read;
use super::{next, threads};
use manycore_platform::{Native, Platform};
use std::cell::Cell;
use std::ffi::CStr;
use std::io::Write;
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The number of the thread that has last made a team. Relaxed: it only chooses which threads to ask about.
static LEADER: AtomicI32 = AtomicI32::new(0);

/// A look at the other threads takes some 5 us for each. The next look comes after this many times as long, and after
/// each look that finds nothing, that time doubles up to [`LONGEST`].
const REST: u64 = 64;
const LONGEST: Duration = Duration::from_millis(100);

thread_local! {
    /// The time of the last look, and how long the thread does not look again.
    static LAST: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// The calling thread leads a team.
pub(crate) fn note_leader() {
    LEADER.store(threads::number(), Relaxed);
}

/// Called when another thread has run on the calling thread's core, or when the calling thread has slept. Returns
/// whether the calling thread has moved to another core.
pub(crate) fn leave() -> bool {
    let begin = Native::now();
    let (last, rest) = LAST.get();
    if !has_passed(rest, last, begin) {
        return false;
    }
    let has_moved = try_to_leave().is_some();
    let end = Native::now();
    let least = REST * end.saturating_sub(begin);
    let rest = if has_moved {
        least
    } else {
        least.max(2 * rest)
    };
    LAST.set((end, rest.min(Native::duration_to_ticks(LONGEST))));
    has_moved
}

fn try_to_leave() -> Option<()> {
    let (leader, me) = (LEADER.load(Relaxed), threads::number());
    let all = Cpus::of_thread(0).filter(|all| all.count() > 1 && leader != me)?;
    let (here, mut free, mut is_shared) = (core()?, all, false);
    for other in threads::numbers().chain([leader]).filter(|&it| it != me) {
        if let Some(core) = core_of(other) {
            is_shared |= core == here && (other == leader || other < me);
            free.remove(core);
        }
    }
    if !is_shared || free.count() == 0 || !free.put_on(0) {
        return None;
    }
    // The kernel moves the thread at the next call, or at the next interrupt of its core, whichever is first.
    all.put_on(0);
    Some(())
}

/// The core on which the calling thread runs.
fn core() -> Option<usize> {
    let mut core = 0_u32;
    let arguments = [&raw mut core as usize, 0, 0, 0, 0, 0];
    // SAFETY: the kernel writes a number.
    let result = unsafe { next::syscall(libc::SYS_getcpu, arguments) };
    (result == 0).then_some(core as usize)
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
        let here = core().expect("the caller runs");
        assert!(Cpus::of(&[here]).put_on(0));
        assert_eq!(
            (core(), core_of(threads::number())),
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
                try_to_leave().is_some() && core() != Some(one.numbers()[0])
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
