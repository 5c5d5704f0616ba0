use super::placement::Placement;
use manycore_cores::sync::{Asymmetric, Sleepers};
use manycore_platform::{Atomic, CachePadded, Futex, Ordering, Platform};
use std::time::Duration;

/// The longest spin before a yield. The system may have put two members on one core although
/// another core is idle. In that case a member that spins keeps the other member from arriving.
const SPIN_QUANTUM: Duration = Duration::from_micros(10);

/// The number of times that a member looks at a word by an exchange (see `own_while`) before it
/// reads the clock. They take about 2 us. A member without patience looks once.
const LOOKS: u32 = 64;

/// How members wait, first awake and then asleep, and how a plain store releases them.
///
/// Members on cores of their own spin, as in the published barriers. Members that share cores
/// yield. Both fall asleep when the patience (the time awake that the placement grants) ends. The
/// operating system may have taken the core from the member for which all others wait, and then a
/// spinning member takes a core that this member needs.
///
/// # No wake-up is lost
///
/// The proof at [`Sleepers`] holds here, with asymmetric fences. The releaser publishes the
/// word itself. So a sleeper sees that the word has changed, or the releaser sees a sleeper and
/// wakes all members that sleep on the word.
///
/// So a release costs no read-modify-write and, if the kernel grants `membarrier`, no fence.
/// Sleeping members pay for the fence.
pub struct Waiting<P: Platform> {
    /// The number of members that sleep, or are about to sleep, on any word of the barrier.
    sleepers: CachePadded<Sleepers<P, Asymmetric>>,
    /// How long a member waits awake, in ticks.
    patience: u64,
    /// How long a member spins before it yields, in ticks.
    spin_quantum: u64,
    looks: u32,
    /// Whether members share cores.
    yields: bool,
}

impl<P: Platform> Waiting<P> {
    /// Makes the description of how the members of `placement` wait.
    pub fn new(placement: &Placement) -> Self {
        // The first call asks the system for asymmetric fences. Until then light fences are full
        // fences.
        P::has_light_fences();
        Self {
            sleepers: CachePadded::new(Sleepers::new()),
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

    /// Writes `value` to the word on which other members wait, and wakes them if they sleep.
    #[inline]
    pub fn release(&self, word: &P::Futex, value: u32) {
        // Release: a member that sees the value sees the releaser's work, and the work of other
        // members that the releaser has seen.
        word.store(value, Ordering::Release);
        if self.sleepers.after_publishing() > 0 {
            wake::<P>(word);
        }
    }

    /// Waits until the word no longer holds `value`, and acquires the writer's work.
    #[inline]
    pub fn wait_while(&self, word: &P::Futex, value: u32) {
        if self.look_while(word, value) == value {
            self.wait_long(word, value);
        }
    }

    /// Looks at the word for a short while, or once if members share cores. Returns the last value
    /// that it read, and acquires the writer's work.
    #[inline]
    fn look_while(&self, word: &P::Futex, value: u32) -> u32 {
        if self.yields {
            word.load(Ordering::Acquire)
        } else {
            // This spins for one quantum, and its end needs no look at the clock.
            P::spin_while(word, value, 0)
        }
    }

    /// Like `look_while`, for a word that the caller writes next. A look is an exchange that
    /// changes nothing. The exchange fetches the cache line for writing. A load would fetch the
    /// line for reading, and the write would then need a second transfer. While no thread writes,
    /// the line stays in this core's cache and a look costs no transfer.
    #[inline]
    pub fn own_while(&self, word: &P::Futex, value: u32) -> u32 {
        if self.yields {
            return word.load(Ordering::Acquire);
        }
        for _ in 0..self.looks {
            // Acquire: makes the writer's work visible.
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

    /// Waits awake until the word holds another value or the patience ends. Returns the last value
    /// that it read, and acquires the writer's work.
    pub fn stay_awake_while(&self, word: &P::Futex, value: u32) -> u32 {
        let began = P::now();
        let until = began + self.patience;
        loop {
            let now = P::now();
            // A clock that jumps back (see `Platform::now`) ends the patience.
            if now >= until || now < began {
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

    /// Sleeps at once, until the word no longer holds `value`.
    pub fn sleep_while(&self, word: &P::Futex, value: u32) {
        self.sleepers.sleep(|| {
            // Acquire: makes the releaser's work visible.
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
