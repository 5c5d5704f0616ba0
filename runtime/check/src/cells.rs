//! What the checkers share: the platform's traits for their copies of the standard library.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

/// A checker's atomic type, wrapped since it and the traits are foreign to this crate.
pub struct Cell<A>(pub(crate) A);

/// Implements the platform's traits for the types of the module `atomic` at the place of use, a copy of
/// `std::sync::atomic`.
macro_rules! impl_cells {
    () => {
        $crate::cells::impl_cells!(u32: AtomicU32, u64: AtomicU64, usize: AtomicUsize);
        ::manycore_platform::impl_atomic!(
            Cell<atomic::AtomicBool>, bool, |value| Cell(atomic::AtomicBool::new(value)), 0
        );
        ::manycore_platform::impl_atomic!(
            Cell<atomic::AtomicPtr<T>>, *mut T, |value| Cell(atomic::AtomicPtr::new(value)), 0; T
        );
    };
    ($($value:ty: $atomic:ident),*) => {
        $(::manycore_platform::impl_atomic_integer!(
            Cell<atomic::$atomic>, $value, |value| Cell(atomic::$atomic::new(value)), 0
        );)*
    };
}

/// A number for a new thread of a model. The standard library's atomic: numbering is no step of the model.
pub(crate) fn next_id() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    // Relaxed: each addition returns another number, whatever the order.
    LAST.fetch_add(1, Ordering::Relaxed)
}

/// The methods that both checkers' `impl Platform` share. They use the modules `atomic` and `thread` at the place of
/// use, copies of the standard library's, and the thread-locals `SLOT` and `ID`.
macro_rules! common_platform {
    ($futex:ident, $thread:ident) => {
        type AtomicU32 = Cell<atomic::AtomicU32>;
        type AtomicU64 = Cell<atomic::AtomicU64>;
        type AtomicUsize = Cell<atomic::AtomicUsize>;
        type AtomicBool = Cell<atomic::AtomicBool>;
        type AtomicPtr<T> = Cell<atomic::AtomicPtr<T>>;
        type Futex = $futex;
        type Thread = $thread;
        type Stack = <Native as Platform>::Stack;

        fn fence(order: Ordering) {
            atomic::fence(order);
        }

        fn light_fence() {
            Self::fence(Ordering::SeqCst);
        }

        /// Returns `true`, so that the protocol with light fences is checked. [`Fenced`](crate::Fenced) returns
        /// `false`.
        fn has_light_fences() -> bool {
            true
        }

        fn untested_light_fence() {
            Self::fence(Ordering::SeqCst);
        }

        fn heavy_fence() {
            Self::fence(Ordering::SeqCst);
        }

        fn fence_after_rmw() {
            // The contract on every machine. The model cannot express that x86-64 needs no instruction for this fence.
            atomic::fence(Ordering::SeqCst);
        }

        fn relax() {
            thread::yield_now();
        }

        fn spin_while(word: &$futex, value: u32, until: u64) -> u32 {
            loop {
                let seen = word.word.load(Ordering::Acquire);
                if seen != value || Self::now() >= until {
                    return seen;
                }
                thread::yield_now();
            }
        }

        fn yield_now() {
            thread::yield_now();
        }

        fn ticks_per_ns() -> f64 {
            1.0
        }

        fn join(thread: $thread) {
            let _ = thread.0.join();
        }

        fn core() -> usize {
            0
        }

        fn leave_core(_core: usize) {}

        fn wake_elsewhere(_thread: u64, _is_taken: &dyn Fn(usize) -> bool, wake: &mut dyn FnMut()) {
            wake();
        }

        fn preemptions() -> u64 {
            0
        }

        fn prefetch(_address: *const ()) {}

        fn prefetch_write(_address: *const ()) {}

        fn thread_id() -> u64 {
            ID.with(|id| *id)
        }

        fn slot() -> *const () {
            SLOT.with(std::cell::Cell::get)
        }

        unsafe fn set_slot(value: *const ()) {
            SLOT.with(|slot| slot.set(value));
        }

        fn stack(bytes: usize) -> io::Result<Self::Stack> {
            Native::stack(bytes)
        }
    };
}

pub(crate) use {common_platform, impl_cells};

/// The tickets of the threads that sleep on a word, in order of falling asleep.
#[derive(Default)]
pub(crate) struct Sleepers {
    pub(crate) queue: VecDeque<u32>,
    next_ticket: u32,
}

impl Sleepers {
    /// Adds a sleeper. Returns its ticket.
    pub(crate) fn enter(&mut self) -> u32 {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.queue.push_back(ticket);
        ticket
    }

    /// Removes a sleeper that has woken by itself.
    pub(crate) fn leave(&mut self, ticket: u32) {
        self.queue.retain(|&other| other != ticket);
    }
}
