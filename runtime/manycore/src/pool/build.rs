//! How a pool is made from its [`Builder`].

use super::error::MAX_THREADS;
use super::registry::{Plan, Registry};
use super::shared::Cores;
use super::thread_set::ThreadSet;
use super::threads::{Making, ThreadPlan};
use super::{BuildError, Builder, Context, Pool};
use crate::clusters::Clusters;
use manycore_cores::topology::{self, Affinity, Topology};
use manycore_platform::{Native, Platform, ThreadSpec};
use std::sync::Arc;

impl Builder {
    /// Makes the pool and starts its workers.
    ///
    /// # Errors
    ///
    /// If the number of threads is zero or above the limit, if the affinity names CPUs that this process cannot
    /// use, or if the operating system refuses a thread or memory; see [`BuildError`].
    ///
    /// ```
    /// use manycore::{Affinity, Pool};
    ///
    /// let error =
    ///     Pool::builder().threads(2).affinity(Affinity::List(vec![9_999])).build().unwrap_err();
    /// assert!(error.to_string().contains("9999"));
    /// ```
    pub fn build(&self) -> Result<Pool, BuildError> {
        self.build_on_this_host(Making::default())
    }

    /// As [`build`](Self::build). `making` says how the threads are named and made.
    #[inline(never)]
    pub(crate) fn build_on_this_host(&self, making: Making<'_, '_>) -> Result<Pool, BuildError> {
        if making.maker.is_some()
            && !(self.settings.dedicated && self.settings.affinity == Affinity::None)
        {
            let builder = self.clone().dedicated(true).affinity(Affinity::None);
            return builder.build_on_this_host(making);
        }
        let machine = topology::recent();
        // An allotment may grow to all cores of the machine.
        let default = || match self.allotment {
            Some(_) => machine.cpus().len(),
            None => machine.default_threads(),
        };
        let threads = check(self.settings.threads.unwrap_or_else(default))?;
        let cpus = self.settings.affinity.assign(&machine, threads)?;
        let cores = machine.default_threads();
        let mut is_usable = vec![false; machine.core_groups().len()];
        for cpu in machine.usable() {
            is_usable[cpu.group] = true;
        }
        let groups = is_usable.iter().filter(|&&usable| usable).count();
        let near = match self.settings.affinity {
            Affinity::None if groups > 1 => near(&machine, threads),
            _ => Vec::new(),
        };
        // Threads that may run on any core count as one group.
        let group_of = |cpus: &Vec<usize>| {
            let first = cpus.first()?;
            let cpu = machine.usable().iter().find(|cpu| cpu.id == *first)?;
            Some(cpu.group as u32)
        };
        let of_threads = if near.is_empty() { &cpus } else { &near };
        let of_threads = of_threads.iter().map(group_of);
        let of_threads = of_threads.map(Option::unwrap_or_default).collect();
        self.start(Cores { cores, groups }, of_threads, (cpus, near), making)
    }
}

/// For each unbound thread, the CPUs of the core group in which it begins, on a machine with several groups. The group
/// of this thread, which makes the pool, is first, then the next groups. Each group gets a thread for each core, and
/// SMT siblings come last. So the pool knows which threads share a cache, unless the system moves them. The result is
/// empty if all threads are near each other (one cluster).
fn near(machine: &Topology, threads: usize) -> Vec<Vec<usize>> {
    if Clusters::new(&vec![0; threads]).count() == 1 {
        return Vec::new();
    }
    let (cpus, groups) = (machine.usable(), machine.core_groups());
    let own = Native::core();
    let own = cpus.iter().find(|cpu| cpu.id == own);
    let (package, group) = own.map_or((0, 0), |own| (own.package, own.group));
    let after = || (0..groups.len()).map(|distance| (group + distance) % groups.len());
    let of_package = |of_package: bool| {
        after().filter(move |&group| (groups[group].package == package) == of_package)
    };
    // With one thread for each CPU, the group in which each of these threads begins.
    let mut begins_in = Vec::with_capacity(cpus.len());
    let most = cpus.iter().map(|cpu| cpu.smt).max().unwrap_or(0);
    for smt in 0..=most {
        for group in of_package(true).chain(of_package(false)) {
            let same = cpus
                .iter()
                .filter(|cpu| (cpu.smt, cpu.group) == (smt, group));
            begins_in.extend(same.map(|_| group));
        }
    }
    let begins_on = |thread: usize| {
        let group = begins_in[thread % begins_in.len()];
        let members = cpus.iter().filter(|cpu| cpu.group == group);
        members.map(|cpu| cpu.id).collect()
    };
    (0..threads).map(begins_on).collect()
}

fn check(threads: usize) -> Result<usize, BuildError> {
    match threads {
        0 => Err(BuildError::ZeroThreads),
        1..=MAX_THREADS => Ok(threads),
        asked => Err(BuildError::TooManyThreads { asked }),
    }
}

impl<P: Platform> Builder<P> {
    /// Makes a pool of one thread for each entry of `cpus`. The thread is bound to the CPUs in its entry; if the entry
    /// is empty, the thread is not bound. The machine has `cores` cores in `groups` core groups. This method ignores
    /// [`threads`](Self::threads) and [`affinity`](Self::affinity), which describe threads on this host.
    ///
    /// # Errors
    ///
    /// If `cpus` has no entry or too many entries, or the platform refuses a thread or memory.
    pub fn build_on(
        &self,
        cores: usize,
        groups: usize,
        cpus: Vec<Vec<usize>>,
    ) -> Result<Pool<P>, BuildError> {
        // Cores are numbered group by group.
        let size = cores.div_ceil(groups.max(1)).max(1);
        let group = |cpus: &Vec<usize>| cpus.first().map_or(0, |&cpu| (cpu / size) as u32);
        let of_threads = cpus.iter().map(group).collect();
        let making = Making::default();
        self.start(
            Cores { cores, groups },
            of_threads,
            (cpus, Vec::new()),
            making,
        )
    }

    /// Whether a thread of the pool keeps the caller slot (the right to be worker 0), so that callers from outside
    /// never enter it.
    fn keeps_caller_slot(&self) -> bool {
        !self.settings.adopts && (self.settings.dedicated || self.settings.stack_size.is_some())
    }

    /// Starts the workers. `cpus` has the set of CPUs of each thread, and `of_threads` its core group. Unbound
    /// workers begin on the CPUs in `near`, unless `near` is empty.
    #[inline(never)]
    pub(crate) fn start(
        &self,
        cores: Cores,
        of_threads: Vec<u32>,
        (cpus, near): (Vec<Vec<usize>>, Vec<Vec<usize>>),
        making: Making<'_, '_>,
    ) -> Result<Pool<P>, BuildError> {
        let settings = &self.settings;
        let names = settings
            .names
            .as_deref()
            .map(|names| names as &dyn Fn(usize) -> String);
        let making = Making {
            name_of: making.name_of.or(names),
            maker: making.maker,
        };
        let threads = check(cpus.len())?;
        if settings.adopts && Context::<P>::is_taken() {
            return Err(BuildError::AlreadyInPool);
        }
        let memory = |source| BuildError::Memory { threads, source };
        // This comes before the pool notes its generation (the number of forks so far), so that the pool notices each
        // later fork.
        P::watch_forks().map_err(memory)?;
        // Permit 0 (the first right to run jobs) is for callers, unless a thread of the pool always has it.
        let first = usize::from(!self.keeps_caller_slot());
        let registry = Registry::new(Plan {
            #[cfg(feature = "policies")]
            policy: self.policy,
            groups: of_threads,
            stack_capacity: settings.stack_capacity,
            panic_handler: settings.panic_handler.clone(),
            threads: ThreadPlan {
                spec: ThreadSpec {
                    name: settings.name.clone(),
                    stack_size: settings.stack_size,
                    cpus: Vec::new(),
                },
                on_start: settings.on_start.clone(),
                on_exit: settings.on_exit.clone(),
                reserve: settings.reserve && making.maker.is_none(),
            },
            cpus: cpus.clone(),
            near,
            thread_set: ThreadSet::new(first, making.maker.is_none() && !settings.adopts),
            adopted: settings.adopts,
            keeps_caller_slot: self.keeps_caller_slot(),
            scopes_help_outer: settings.scopes_help_outer,
            cores,
            spin_budget: settings.spin_budget,
            explain: settings.explain,
            allotment: self.allotment.clone(),
        })
        .map_err(memory)?;
        registry.name();
        // An error below drops the pool, which ends the workers made so far.
        let pool = Pool { registry };
        let registry = &*pool.registry;
        if settings.adopts || self.keeps_caller_slot() {
            let entered = registry.shared().caller_slot().take();
            debug_assert!(entered, "no other thread knows of the pool yet");
        }
        if settings.adopts {
            // The adopted thread uses its worker, which the registry owns, until the thread ends.
            std::mem::forget(Arc::clone(&pool.registry));
            Context::of_worker(registry.worker(0)).adopt();
        }
        let lazy = settings.lazy && making.maker.is_none() && registry.tells_of_vacancies();
        if lazy || threads == 1 && first == 1 && !settings.adopts {
            registry.begin_absent();
        }
        match registry.make_threads(lazy, making) {
            Ok(()) => Ok(pool),
            Err((rank, source)) => Err(BuildError::Spawn {
                rank,
                threads,
                cpus: cpus.into_iter().nth(rank).unwrap_or_default(),
                source,
            }),
        }
    }
}
