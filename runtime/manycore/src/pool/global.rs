//! The global pool. Each process has one. The first call that needs it makes it, or [`Builder::build_global`] does.
//!
//! A child of `fork` has a copy of the parent's memory but none of its other threads, so the child needs its own pool.
//! Each process therefore has a [`ProcessState`]. The platform's count of forks distinguishes the child's state from
//! the parent's state. The child does not use the parent's state, since a thread of the parent may have held the lock
//! of that state at the fork. The child leaks that state with its pool, since references to that pool may exist.

use super::BuildError;
use super::Pool;
use super::builder::Builder;
use super::error::MAX_THREADS;
use manycore_platform::{Native, Platform};
use std::env;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The variable that sets the global pool's number of threads.
const VARIABLE: &str = "MANYCORE_NUM_THREADS";

/// One process's global pool.
struct ProcessState {
    /// `Native::forks()` in the process that made this state.
    generation: u32,
    pool: OnceLock<Pool>,
    /// Held while the pool is made.
    making: Mutex<()>,
}

/// The newest state, or null. A state that was stored here is never freed.
static PROCESS_STATE: AtomicPtr<ProcessState> = AtomicPtr::new(std::ptr::null_mut());

impl ProcessState {
    /// The state of this process. Cost: two loads.
    #[inline]
    fn of_this_process() -> &'static Self {
        // Acquire pairs with the release in `begin`: the state's fields are visible.
        let newest = PROCESS_STATE.load(Ordering::Acquire);
        // SAFETY: the pointer is null, or points to a state that is never freed once it is in `PROCESS_STATE`.
        match unsafe { newest.as_ref() } {
            Some(state) if state.generation == Native::forks() => state,
            _ => Self::begin(newest),
        }
    }

    /// Replaces `older` with a state of this process, unless another thread has done so.
    ///
    /// Only threads of this process change this process's `PROCESS_STATE`. So a thread that loses the race finds the
    /// winner's state, which is a state of this process.
    #[cold]
    fn begin(older: *mut Self) -> &'static Self {
        // The platform counts forks from here on. If it cannot, making the pool returns the error.
        let _ = Native::watch_forks();
        let state = Box::into_raw(Box::new(Self {
            generation: Native::forks(),
            pool: OnceLock::new(),
            making: Mutex::new(()),
        }));
        // Release publishes the state's fields. Acquire makes the other thread's state visible.
        match PROCESS_STATE.compare_exchange(older, state, Ordering::Release, Ordering::Acquire) {
            // SAFETY: the state is published, and never freed from now on.
            Ok(_) => unsafe { &*state },
            Err(newer) => {
                // SAFETY: the state was made above, and is not published.
                drop(unsafe { Box::from_raw(state) });
                // SAFETY: as in `of_this_process`. The pointer is not null, since no thread stores null.
                unsafe { &*newer }
            }
        }
    }

    /// The pool, made by `make` if it does not exist, and whether `make` was called.
    #[cold]
    fn make<E>(&self, make: impl FnOnce() -> Result<Pool, E>) -> Result<(&Pool, bool), E> {
        // If a thread has panicked under the lock, the pool is still absent or complete.
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = self.pool.get() {
            return Ok((pool, false));
        }
        let pool = make()?;
        // No other thread sets the pool, since this thread holds the lock.
        Ok((self.pool.get_or_init(|| pool), true))
    }
}

impl Pool<Native> {
    /// The pool that the crate's free functions use if the calling thread is part of no pool.
    ///
    /// The first call makes the pool, unless [`Builder::build_global`] has made it before. The environment variable
    /// `MANYCORE_NUM_THREADS` sets its number of threads, from 1 to 16,383. If the variable is 0, empty or not set,
    /// the pool has a thread for each core that this process may use.
    ///
    /// A child of `fork` has its own global pool, which its first call makes.
    ///
    /// # Panics
    ///
    /// If `MANYCORE_NUM_THREADS` has another value than those above, or the pool cannot be made.
    ///
    /// ```
    /// assert!(manycore::Pool::global().threads() >= 1);
    /// ```
    pub fn global() -> &'static Self {
        match Self::global_or_made(by_default) {
            Ok((pool, _)) => pool,
            Err(error) => panic!("the global pool: {error}"),
        }
    }

    /// Ends the threads of the global pool, as [`end_threads`](Self::end_threads) does. Returns `true` if there is no
    /// global pool. The next call to the pool starts its threads again, with the same settings.
    ///
    /// ```
    /// use manycore::Pool;
    ///
    /// assert!(Pool::end_global()); // there is no pool yet
    /// assert_eq!(manycore::join(|| 1, || 2), (1, 2));
    /// assert!(Pool::end_global());
    /// assert_eq!(manycore::join(|| 3, || 4), (3, 4));
    /// ```
    #[must_use = "the threads may be there still"]
    pub fn end_global() -> bool {
        let pool = ProcessState::of_this_process().pool.get();
        pool.is_none_or(Self::end_threads)
    }

    /// The global pool, made by `make` if it does not exist, and whether `make` was called.
    #[inline]
    pub(crate) fn global_or_made<E>(
        make: impl FnOnce() -> Result<Self, E>,
    ) -> Result<(&'static Self, bool), E> {
        let state = ProcessState::of_this_process();
        match state.pool.get() {
            Some(pool) => Ok((pool, false)),
            None => state.make(make),
        }
    }
}

fn by_default() -> Result<Pool, BuildError> {
    match with_environment(Pool::builder().name("manycore-global"))?.build() {
        // A process at its thread limit gets a pool of one thread.
        Err(BuildError::Spawn { .. }) => Pool::builder().threads(1).build(),
        made => made,
    }
}

impl Builder<Native> {
    /// Makes the [global pool](Pool::global), instead of the pool that the first call of a free function
    /// would make. Programs should call this early, and libraries should not call it.
    ///
    /// If the builder has no number of [`threads`](Self::threads), the environment variable `MANYCORE_NUM_THREADS` or
    /// the number of cores sets the number of threads (see [`Pool::global`]).
    ///
    /// # Errors
    ///
    /// [`BuildError::GlobalExists`] if there is a global pool already. [`BuildError::Environment`] if the variable is
    /// needed and is not a number from 0 to 16,383. Otherwise the errors of [`build`](Self::build). In case of an
    /// error, the global pool is neither made nor changed.
    ///
    /// ```
    /// use manycore::{BuildError, Pool};
    ///
    /// Pool::builder().threads(2).name("solver").build_global()?;
    /// assert_eq!(manycore::current_num_threads(), 2);
    /// let again = Pool::builder().build_global();
    /// assert!(matches!(again, Err(BuildError::GlobalExists)));
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn build_global(&self) -> Result<(), BuildError> {
        let make = || with_environment(self.clone())?.build();
        match ProcessState::of_this_process().make(make)? {
            (_, true) => Ok(()),
            (_, false) => Err(BuildError::GlobalExists),
        }
    }
}

/// Returns `builder`, with the number of threads from the environment if the builder has none.
fn with_environment(builder: Builder<Native>) -> Result<Builder<Native>, BuildError> {
    if builder.knows_threads() {
        return Ok(builder);
    }
    let Some(value) = env::var_os(VARIABLE) else {
        return Ok(builder);
    };
    let asked = match value.to_str().map(str::trim) {
        Some("") => Some(0),
        Some(text) => text.parse().ok(),
        None => None,
    };
    match asked {
        Some(0) => Ok(builder),
        Some(threads @ 1..=MAX_THREADS) => Ok(builder.threads(threads)),
        _ => Err(BuildError::Environment {
            variable: VARIABLE,
            value: value.to_string_lossy().into_owned(),
        }),
    }
}
