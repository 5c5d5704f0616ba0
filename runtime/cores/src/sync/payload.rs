//! Dropping the user's values where nothing may unwind.
//!
//! A panic's payload is any value, so its destructor may panic too. The runtime drops such payloads in places that
//! must not unwind, because other threads still use the caller's stack: at a second panic of a loop, at a second panic
//! among the ranks of a team, or when a handler panics. All these places use [`let_go`].

use std::any::Any;
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The value that a panic throws.
pub type Payload = Box<dyn Any + Send>;

/// Drops the value. Never unwinds.
///
/// If the destructor panics, the panic ends here. The panic hook has printed the panic's message. The panic's payload
/// is forgotten and not dropped, since a chain of such drops could panic without end. The cost is the memory of that
/// one payload.
///
/// If a second destructor panics while the first panic unwinds (as in a value with two such fields), the process is
/// aborted. Rust does that before the runtime could catch the panic.
#[cold]
pub fn let_go<T>(value: T) {
    // Unwind safety: the value is gone in either case, and the closure touches nothing else.
    forget(catch_unwind(AssertUnwindSafe(|| drop(value))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::panic::{panic_any, resume_unwind};
    use std::rc::Rc;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    /// Counts its drops. Each drop throws another chain with one step less, until no step is left.
    struct ThrowingChain {
        steps: u32,
        drops: Arc<AtomicU32>,
    }

    impl Drop for ThrowingChain {
        fn drop(&mut self) {
            self.drops.fetch_add(1, Relaxed);
            if let Some(steps) = self.steps.checked_sub(1) {
                let drops = Arc::clone(&self.drops);
                // This bypasses the panic hook: the hook's messages would hide messages of real failures.
                resume_unwind(Box::new(ThrowingChain { steps, drops }));
            }
        }
    }

    #[test]
    fn what_a_destructor_throws_is_not_dropped() {
        for steps in 0..4 {
            let drops = Arc::new(AtomicU32::new(0));
            let payload: Payload = Box::new(ThrowingChain {
                steps,
                drops: Arc::clone(&drops),
            });
            let_go(payload);
            assert_eq!(drops.load(Relaxed), 1, "{steps} steps");
            assert!(!std::thread::panicking());
        }
    }

    #[test]
    fn all_other_parts_are_dropped() {
        struct Counts(Rc<Cell<u32>>);
        impl Drop for Counts {
            fn drop(&mut self) {
                self.0.set(self.0.get() + 1);
            }
        }
        let (parts, drops) = (Rc::new(Cell::new(0)), Arc::default());
        let chain = ThrowingChain {
            steps: 1,
            drops: Arc::clone(&drops),
        };
        let_go((Counts(Rc::clone(&parts)), chain, Counts(Rc::clone(&parts))));
        assert_eq!((parts.get(), drops.load(Relaxed)), (2, 1));
    }

    #[test]
    fn let_go_works_during_a_panic() {
        struct LetsGo(Option<ThrowingChain>);
        impl Drop for LetsGo {
            fn drop(&mut self) {
                assert!(std::thread::panicking());
                let_go(self.0.take());
            }
        }
        let drops = Arc::default();
        let chain = ThrowingChain {
            steps: 1,
            drops: Arc::clone(&drops),
        };
        let thrown = catch_unwind(AssertUnwindSafe(|| {
            let _lets_go = LetsGo(Some(chain));
            panic_any(7);
        }));
        assert_eq!(thrown.unwrap_err().downcast_ref(), Some(&7));
        assert_eq!(drops.load(Relaxed), 1);
    }
}
