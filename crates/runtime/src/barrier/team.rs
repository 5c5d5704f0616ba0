use super::{Barrier, ChosenBarrier, ChosenMember, Placement};
use crate::topology::Topology;
use manycore_platform::{Atomic, AtomicInteger, Native, Ordering, Platform};
use std::fmt;
use std::sync::Arc;

/// A barrier for a team of threads.
///
/// Each thread takes a [`member`](Self::member) of it and waits by that. Which barrier
/// it is depends on whether each member can have a core of its own; either way a
/// member that waits long sleeps, so that whoever is waited for gets a core.
///
/// ```
/// use manycore::barrier::TeamBarrier;
/// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
///
/// let (barrier, done) = (TeamBarrier::new(3), AtomicU32::new(0));
/// std::thread::scope(|scope| {
///     for _ in 0..3 {
///         let (mut member, done) = (barrier.member(), &done);
///         scope.spawn(move || {
///             for round in 1..=10 {
///                 done.fetch_add(1, Relaxed);
///                 member.wait();
///                 assert_eq!(done.load(Relaxed), 3 * round);
///                 member.wait();
///             }
///         });
///     }
/// });
/// ```
#[doc(alias = "BarrierMaster")]
pub struct TeamBarrier<P: Platform = Native> {
    shared: Arc<ChosenBarrier<P>>,
    /// Members taken.
    taken: P::AtomicUsize,
    members: usize,
}

/// A thread's part in a [`TeamBarrier`]. One that is dropped leaves the others
/// waiting for ever.
#[doc(alias = "Barrier")]
pub struct TeamMember<P: Platform = Native> {
    shared: Arc<ChosenBarrier<P>>,
    member: ChosenMember<P>,
    leads: bool,
}

impl TeamBarrier {
    /// A barrier for so many threads of this process. Looks at the topology and at
    /// what mask and quota leave of it, some 0.1 ms.
    ///
    /// # Panics
    ///
    /// If there are none.
    ///
    /// ```
    /// let mut alone = manycore::barrier::TeamBarrier::new(1).member();
    /// assert!(alone.wait());
    /// ```
    pub fn new(members: usize) -> Self {
        assert!(members > 0, "a barrier needs a member");
        Self::on(&placement(&Topology::detect(), members))
    }
}

/// Members on the usable CPUs, in the order in which a pool fills them: the system
/// is likely to keep together what it finds together.
fn placement(machine: &Topology, members: usize) -> Placement {
    let cores = machine.default_threads();
    let cpus = machine.compact_order();
    // Numbered anew, in the order in which they are filled.
    let mut filled: Vec<usize> = vec![];
    let group = |rank: usize| {
        let cpu = machine.cpu(cpus[rank % cpus.len()]);
        let group = cpu.map_or(0, |cpu| cpu.group);
        let known = filled.iter().position(|&it| it == group);
        known.unwrap_or_else(|| {
            filled.push(group);
            filled.len() - 1
        })
    };
    Placement::grouped((0..members).map(group).collect()).on_cores(cores)
}

impl<P: Platform> TeamBarrier<P> {
    /// A barrier for the ranks of `placement`, on the platform `P`.
    pub fn on(placement: &Placement) -> Self {
        Self {
            shared: Arc::new(ChosenBarrier::new(placement)),
            taken: P::AtomicUsize::new(0),
            members: placement.members(),
        }
    }

    /// The next member: the first one taken is rank 0 of the placement. On a platform
    /// that broadcasts, for the core on which the caller runs.
    ///
    /// # Panics
    ///
    /// If all have been taken.
    ///
    /// ```should_panic
    /// let barrier = manycore::barrier::TeamBarrier::new(1);
    /// let members = (barrier.member(), barrier.member());
    /// ```
    #[doc(alias = "generate_barrier")]
    pub fn member(&self) -> TeamMember<P> {
        // Relaxed: a number for each, nothing else.
        let rank = self.taken.fetch_add(1, Ordering::Relaxed);
        assert!(
            rank < self.members,
            "all {} members are taken",
            self.members
        );
        TeamMember {
            shared: Arc::clone(&self.shared),
            member: self.shared.member(rank),
            leads: rank == 0,
        }
    }

    /// How many members it waits for.
    ///
    /// ```
    /// assert_eq!(manycore::barrier::TeamBarrier::new(3).members(), 3);
    /// ```
    pub fn members(&self) -> usize {
        self.members
    }
}

impl<P: Platform> TeamMember<P> {
    /// Waits until all members have called this as often. `true` for one of them,
    /// always the same, as for who does something for all.
    ///
    /// What the members did before is visible to all of them.
    #[inline]
    pub fn wait(&mut self) -> bool {
        self.shared.wait(&mut self.member);
        self.leads
    }
}

impl<P: Platform> fmt::Debug for TeamBarrier<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamBarrier")
            .field("members", &self.members)
            .finish_non_exhaustive()
    }
}

impl<P: Platform> fmt::Debug for TeamMember<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamMember")
            .field("leads", &self.leads)
            .finish_non_exhaustive()
    }
}
