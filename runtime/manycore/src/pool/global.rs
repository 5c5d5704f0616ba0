//! The global pool: one for each process, made when it is first needed or by
//! [`Builder::build_global`].
//!
//! A child of `fork` has the parent's memory and none of its threads, so it needs a pool of its own. Each
//! process therefore has a [`ProcessState`]. The platform's count of forks distinguishes it from the
//! parent's. No code looks at an older state again: a thread of the parent may have been making the pool,
//! with the lock held. The older state, with its pool, is leaked: its threads may have been anywhere, and
//! references to it may exist.

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
    /// `Native::forks()` of the process that it was made in.
    generation: u32,
    pool: OnceLock<Pool>,
    /// Held while the pool is made.
    making: Mutex<()>,
}

/// The newest state: null, or never freed.
static PROCESS_STATE: AtomicPtr<ProcessState> = AtomicPtr::new(std::ptr::null_mut());

impl ProcessState {
    /// The state of this process. Cost: two loads.
    #[inline]
    fn of_this_process() -> &'static Self {
        // Acquire pairs with the release in `begin`, for what the state holds.
        let newest = PROCESS_STATE.load(Ordering::Acquire);
        // SAFETY: null, or a state that is never freed once it is in `PROCESS_STATE`.
        match unsafe { newest.as_ref() } {
            Some(state) if state.generation == Native::forks() => state,
            _ => Self::begin(newest),
        }
    }

    /// Begins the state of this process in place of `older`, unless another thread has.
    ///
    /// Only a thread of this process changes `PROCESS_STATE` from here on, so a thread that loses
    /// the race finds the state of the winner, which is of this process.
    #[cold]
    fn begin(older: *mut Self) -> &'static Self {
        // From here on forks are counted, or else the pool says so when it is made.
        let _ = Native::watch_forks();
        let state = Box::into_raw(Box::new(Self {
            generation: Native::forks(),
            pool: OnceLock::new(),
            making: Mutex::new(()),
        }));
        // Release publishes what the state holds; acquire: of the other thread's.
        match PROCESS_STATE.compare_exchange(older, state, Ordering::Release, Ordering::Acquire) {
            // SAFETY: never freed from now on.
            Ok(_) => unsafe { &*state },
            Err(newer) => {
                // SAFETY: made above, and not published.
                drop(unsafe { Box::from_raw(state) });
                // SAFETY: as in `of_this_process`; not null, since no thread stores null.
                unsafe { &*newer }
            }
        }
    }

    /// The pool, made by `make` if it does not exist, and whether `make` was called.
    #[cold]
    fn make<E>(&self, make: impl FnOnce() -> Result<Pool, E>) -> Result<(&Pool, bool), E> {
        // A panic under the lock has left nothing half done.
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = self.pool.get() {
            return Ok((pool, false));
        }
        let pool = make()?;
        // No other thread sets it, since this thread holds the lock.
        Ok((self.pool.get_or_init(|| pool), true))
    }
}

impl Pool<Native> {
    /// The pool that the crate's free functions use where the calling thread is in none.
    ///
    /// It is made at the first call, with a thread for each core that this process may
    /// use, unless [`Builder::build_global`] has made it before or the environment
    /// variable `MANYCORE_NUM_THREADS` asks for another number: from 1 to 16,383; if it
    /// is 0, empty or not set, the number of cores decides.
    ///
    /// A child of `fork` has a global pool of its own, made at its first call there.
    ///
    /// # Panics
    ///
    /// If `MANYCORE_NUM_THREADS` is anything else.
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

    /// Ends the threads of the global pool, if there are any: as
    /// [`end_threads`](Self::end_threads). The next call starts them afresh; the pool is as it was
    /// described.
    ///
    /// ```
    /// use manycore::Pool;
    ///
    /// assert!(Pool::end_global()); // there is none
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
        // A process at its thread limit still computes.
        Err(BuildError::Spawn { .. }) => Pool::builder().threads(1).build(),
        made => made,
    }
}

impl Builder<Native> {
    /// Makes the [global pool](Pool::global), instead of the pool that the first call of a free function
    /// would make. To be called early, by the program and by no library.
    ///
    /// Without [`threads`](Self::threads) the environment variable
    /// `MANYCORE_NUM_THREADS` sets their number (see [`Pool::global`]), and without that
    /// the number of cores; an explicit number wins over the variable.
    ///
    /// # Errors
    ///
    /// [`BuildError::GlobalExists`] if there is one already;
    /// [`BuildError::Environment`] if the variable is needed and is not a number from 0
    /// to 16,383; else as [`build`](Self::build). After an error there is as much of a
    /// global pool as before.
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

/// `builder` with the environment's number of threads, unless the builder has a number.
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
