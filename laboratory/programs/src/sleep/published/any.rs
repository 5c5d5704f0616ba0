//! Any published policy behind one type, so that a pool, with all that runs on it, is
//! compiled once for all of them and not once for each.
//!
//! The price is an indirect call a `posted`, the same for all.

use super::discipline::Discipline;
use super::protocol::{Looking, Published};
use super::variants::Variant;
use manycore::World;
use manycore::sleep::parts::{Latch, Scan, Setup};
use manycore::sleep::{Sleep, Tally};
use manycore_platform::Platform;

/// A published policy whose variant and mode are forgotten. Its words are where they would be
/// without that: on lines of their own.
///
/// ```
/// use manycore::{Native, Pool};
/// use manycore_programs::sleep::published::{AnyPublished, Sound, Split};
///
/// let builder = Pool::builder().threads(2);
/// let pool = builder.in_world::<AnyPublished<Native>>(AnyPublished::of::<Split, Sound>).build()?;
/// assert_eq!(pool.join(|| 1, || 2), (1, 2));
/// # Ok::<(), manycore::BuildError>(())
/// ```
pub struct AnyPublished<P: Platform>(Box<dyn Object<P>>);

impl<P: Platform> AnyPublished<P> {
    /// The policy of this variant and mode.
    pub fn of<V: Variant, M: Discipline>(setup: &Setup<'_, P>) -> Self {
        Self(Box::new(Published::<P, V, M>::new(setup)))
    }
}

impl<P: Platform> World for AnyPublished<P> {
    type Platform = P;
    type Sleep = Self;
}

impl<P: Platform> std::fmt::Debug for AnyPublished<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnyPublished").finish_non_exhaustive()
    }
}

/// What a pool asks of a published policy.
trait Object<P: Platform>: Send + Sync {
    fn name(&self);
    fn posted(&self, poster: usize, was_empty: bool) -> bool;
    fn injected(&self, near: usize, jobs: u32, was_empty: bool) -> bool;
    fn notify(&self, worker: usize);
    fn sleepers(&self) -> u32;
    fn wake_any(&self, near: usize, count: u32);
    fn start_looking(&self, worker: usize) -> Looking;
    fn work_found(&self, worker: usize, looking: Looking) -> bool;
    fn no_work_found(
        &self,
        worker: usize,
        looking: &mut Looking,
        latch: &Latch<P>,
        scan: &dyn Scan,
    ) -> bool;
    fn tally(&self) -> Tally;
}

/// The methods of both traits below: each calls that of the trait `$as`, on `self` or on its `$field`.
macro_rules! forward {
    ($as:ident, $($field:tt)?) => {
        fn name(&self) {
            $as::name(&*self$(.$field)?);
        }

        #[inline]
        fn posted(&self, poster: usize, was_empty: bool) -> bool {
            $as::posted(&*self$(.$field)?, poster, was_empty)
        }

        fn injected(&self, near: usize, jobs: u32, was_empty: bool) -> bool {
            $as::injected(&*self$(.$field)?, near, jobs, was_empty)
        }

        fn notify(&self, worker: usize) {
            $as::notify(&*self$(.$field)?, worker);
        }

        fn sleepers(&self) -> u32 {
            $as::sleepers(&*self$(.$field)?)
        }

        fn wake_any(&self, near: usize, count: u32) {
            $as::wake_any(&*self$(.$field)?, near, count);
        }

        fn start_looking(&self, worker: usize) -> Looking {
            $as::start_looking(&*self$(.$field)?, worker)
        }

        fn work_found(&self, worker: usize, looking: Looking) -> bool {
            $as::work_found(&*self$(.$field)?, worker, looking)
        }

        fn no_work_found(
            &self,
            worker: usize,
            looking: &mut Looking,
            latch: &Latch<P>,
            scan: &dyn Scan,
        ) -> bool {
            $as::no_work_found(&*self$(.$field)?, worker, looking, latch, scan)
        }

        fn tally(&self) -> Tally {
            $as::tally(&*self$(.$field)?)
        }
    };
}

impl<P: Platform, V: Variant, M: Discipline> Object<P> for Published<P, V, M> {
    forward!(Sleep,);
}

impl<P: Platform> Sleep<P> for AnyPublished<P> {
    type Idle = Looking;

    forward!(Object, 0);
}
