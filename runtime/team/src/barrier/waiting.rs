//! How the members of a barrier wait, and how they are let go.

use super::placement::Placement;
use manycore_cores::sync::{Asymmetric, Sleepers};
use manycore_platform::{Atomic, Futex, Ordering, Platform};
use std::time::Duration;

/// The longest spin before a yield: the system may have put two members on one core although
/// another is idle, and then the spinner keeps the other member from arriving.
const SPIN_QUANTUM: Duration = Duration::from_micros(10);

/// Looks by exchanges before the clock is asked: about 2 us. A member without patience looks once.
const LOOKS: u32 = 64;

/// Waits first awake, then asleep; and releases by a plain store.
///
/// On cores of their own members spin, as the published barriers do; members that
/// share cores let the others run. Either way only for the placement's patience:
/// the operating system may have taken the core from the member that is waited for, and then
/// a spinner is in the way.
///
/// # No wake-up is lost
///
/// By the argument of [`Sleepers`], with asymmetric fences. What the releaser publishes is the word
/// itself: a sleeper sees the word changed, or the releaser sees a sleeper, and wakes whoever
/// sleeps on the word.
///
/// So a release costs no read-modify-write and, if the kernel grants `membarrier`, no fence:
/// sleeping members pay for sleep.
pub struct Waiting<P: Platform> {
    /// Members of the barrier that sleep or are about to, on whatever word.
    sleepers: Sleepers<P, Asymmetric>,
    /// How long one waits awake, in ticks.
    patience: u64,
    /// How long it spins before it lets others run, in ticks.
    spin_quantum: u64,
    /// Looks by exchanges.
    looks: u32,
    /// Members share cores.
    yields: bool,
}

impl<P: Platform> Waiting<P> {
    /// As the members of `placement` wait.
    pub fn new(placement: &Placement) -> Self {
        // Asked once, that light fences are light from now on.
        P::has_light_fences();
        Self {
            sleepers: Sleepers::new(),
            patience: P::duration_to_ticks(placement.patience()),
            spin_quantum: P::duration_to_ticks(SPIN_QUANTUM),
            looks: if placement.patience().is_zero() {
                1
            } else {
                LOOKS
            },
            yields: placement.is_oversubscribed(),
        }
    }

    /// Writes the word that others wait on.
    #[inline]
    pub fn release(&self, word: &P::Futex, value: u32) {
        // Release: a member that sees the value sees the releaser's work, and the work of others
        // that the releaser has seen.
        word.store(value, Ordering::Release);
        if self.sleepers.after_publishing() > 0 {
            wake::<P>(word);
        }
    }

    /// Waits until the word holds another value, and acquires what its writer did.
    #[inline]
    pub fn wait_while(&self, word: &P::Futex, value: u32) {
        if self.look_while(word, value) == value {
            self.wait_long(word, value);
        }
    }

    /// Looks at the word for a short while, unless members share cores; returns, and has
    /// acquired, what it holds then.
    #[inline]
    fn look_while(&self, word: &P::Futex, value: u32) -> u32 {
        if self.yields {
            word.load(Ordering::Acquire)
        } else {
            // One spin quantum. Its end needs no look at the clock.
            P::spin_while(word, value, 0)
        }
    }

    /// The same, for a word that the caller writes next. A look is an exchange that changes
    /// nothing, so it brings the line for writing: a load would bring it for reading, and the write
    /// would need a second transfer. While no thread writes, the line stays in this core's cache,
    /// and a look costs no transfer.
    #[inline]
    pub fn own_while(&self, word: &P::Futex, value: u32) -> u32 {
        if self.yields {
            return word.load(Ordering::Acquire);
        }
        for _ in 0..self.looks {
            // Acquire: what the writer did is seen.
            let look = word.compare_exchange(value, value, Ordering::Acquire, Ordering::Acquire);
            if let Err(seen) = look {
                return seen;
            }
            P::relax();
        }
        value
    }

    #[cold]
    #[inline(never)]
    fn wait_long(&self, word: &P::Futex, value: u32) {
        if self.stay_awake_while(word, value) == value {
            self.sleep_while(word, value);
        }
    }

    /// Waits awake, until the word holds another value or the patience is at its end; returns,
    /// and has acquired, what it holds then.
    pub fn stay_awake_while(&self, word: &P::Futex, value: u32) -> u32 {
        let until = P::now() + self.patience;
        loop {
            let now = P::now();
            if now >= until {
                return value;
            }
            let seen = if self.yields {
                P::yield_now();
                word.load(Ordering::Acquire)
            } else {
                P::spin_while(word, value, until.min(now + self.spin_quantum))
            };
            if seen != value {
                return seen;
            }
            if !self.yields {
                P::yield_now();
            }
        }
    }

    /// Sleeps at once, if the word holds the value.
    pub fn sleep_while(&self, word: &P::Futex, value: u32) {
        self.sleepers.sleep(|| {
            // Acquire: what the releaser did is seen.
            while word.load(Ordering::Acquire) == value {
                word.wait(value, None);
            }
        });
    }
}

#[cold]
#[inline(never)]
fn wake<P: Platform>(word: &P::Futex) {
    word.wake(u32::MAX);
}
