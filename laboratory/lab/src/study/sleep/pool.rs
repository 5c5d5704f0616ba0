//! Pools of any policy behind one type.
//!
//! A kernel is compiled once for each platform, instead of once for each of two dozen policies. It joins through
//! [`Joiner`]. This costs an indirect call, the same for all policies. `laboratory/peers/` measures the cost of a
//! `join` itself.

use super::cell::Policy;
use crate::study::chip::Chip;
use manycore::seam::{self, BuilderExt, Tally};
use manycore::{Builder, Pool};
use manycore_chip::Simulated;
use manycore_platform::Platform;
use manycore_programs::fork::Fork;
use manycore_programs::sleep::policy as by_name;
use std::marker::PhantomData;

/// A closure that is called once.
type Call<'a, 'b> = &'a mut (dyn FnMut(bool) + Send + 'b);

/// A pool with an erased policy type.
pub(super) trait Joiner: Send + Sync {
    fn threads(&self) -> usize;
    fn join(&self, a: Call<'_, '_>, b: Call<'_, '_>);
    /// Runs `body` in the pool.
    fn install(&self, body: &mut (dyn FnMut() + Send));
    fn tally(&self) -> Tally;
}

impl<P: Platform> Joiner for Pool<P> {
    fn threads(&self) -> usize {
        self.threads()
    }

    fn join(&self, a: Call<'_, '_>, b: Call<'_, '_>) {
        self.join_context(
            |context| a(context.migrated()),
            |context| b(context.migrated()),
        );
    }

    fn install(&self, body: &mut (dyn FnMut() + Send)) {
        self.install(body);
    }

    fn tally(&self) -> Tally {
        seam::tally(self)
    }
}

/// The scheduler of kernels on a [`Joiner`].
pub(super) struct Erased<'a, P> {
    pool: &'a dyn Joiner,
    platform: PhantomData<fn() -> P>,
}

impl<'a, P> Erased<'a, P> {
    pub(super) fn new(pool: &'a dyn Joiner) -> Self {
        Self {
            pool,
            platform: PhantomData,
        }
    }
}

impl<P: Platform> Fork for Erased<'_, P> {
    type Platform = P;

    fn threads(&self) -> usize {
        self.pool.threads()
    }

    fn join_context<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(bool) -> RA + Send,
        B: FnOnce(bool) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let (mut a, mut b) = (Some(a), Some(b));
        let (mut of_a, mut of_b) = (None, None);
        self.pool.join(
            &mut |migrated| of_a = a.take().map(|a| a(migrated)),
            &mut |migrated| of_b = b.take().map(|b| b(migrated)),
        );
        match (of_a, of_b) {
            (Some(a), Some(b)) => (a, b),
            _ => unreachable!("a join that returns has called both closures"),
        }
    }
}

/// A pool of this host's threads.
pub(super) fn native(policy: &Policy, threads: usize) -> anyhow::Result<Box<dyn Joiner>> {
    let make = by_name(&policy.name, policy.mode)?;
    let builder = Pool::builder().threads(threads).policy(make);
    Ok(Box::new(builder.build()?))
}

/// A pool of a simulated machine's threads, each bound to a hardware thread. The threads fill one core group after the
/// other with one thread on each core, and then the second hardware threads.
pub(super) fn simulated(
    policy: &Policy,
    chip: &Chip,
    threads: usize,
) -> anyhow::Result<Box<dyn Joiner>> {
    let make = by_name(&policy.name, policy.mode)?;
    let cpus = (0..threads)
        .map(|thread| vec![chip.of_thread(thread)])
        .collect();
    let builder = Builder::<Simulated>::on_platform().policy(make);
    Ok(Box::new(builder.build_on(
        chip.hardware_threads(),
        chip.groups(),
        cpus,
    )?))
}
