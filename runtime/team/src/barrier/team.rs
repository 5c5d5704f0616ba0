use super::chosen::{ChosenBarrier, ChosenMember};
use super::placement::Placement;
use manycore_cores::sync::Lock;
use manycore_cores::topology::Topology;
use manycore_platform::{Native, Platform};
use std::fmt;
use std::sync::Arc;

/// A barrier for a team of threads.
///
/// Each thread takes a [`member`](Self::member) and calls [`wait`](TeamMember::wait) on it. The
/// algorithm depends on whether each member can have a core of its own. A member that waits for a
/// long time sleeps, so that the member for which it waits gets a core.
///
/// ```
/// use manycore_team::barrier::TeamBarrier;
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
    shared: Arc<Shared<P>>,
}

struct Shared<P: Platform> {
    barrier: ChosenBarrier<P>,
    places: Lock<P, Places>,
    members: usize,
}

/// The free ranks (the numbers of members).
struct Places {
    /// The lowest rank that was never taken.
    next: usize,
    /// The ranks that were given back.
    back: Vec<usize>,
}

impl Places {
    /// Takes the lowest rank that was given back, or else a new rank.
    fn take(&mut self, members: usize) -> Option<usize> {
        if let Some((place, _)) = self.back.iter().enumerate().min_by_key(|(_, rank)| **rank) {
            return Some(self.back.swap_remove(place));
        }
        let rank = self.next;
        (rank < members).then(|| {
            self.next += 1;
            rank
        })
    }
}

/// A thread's part in a [`TeamBarrier`].
///
/// [`TeamBarrier::member`] can take a dropped member again. Until a thread has taken the member and
/// arrives, the other members wait. So a thread that panics between two episodes (two meetings at
/// the barrier) delays its team and does not break the barrier.
#[doc(alias = "Barrier")]
pub struct TeamMember<P: Platform = Native> {
    /// This is dropped before `place`, which gives back the rank.
    member: ChosenMember,
    place: TakenRank<P>,
}

/// A taken rank, which is given back on drop.
struct TakenRank<P: Platform> {
    shared: Arc<Shared<P>>,
    rank: usize,
}

impl<P: Platform> Drop for TakenRank<P> {
    fn drop(&mut self) {
        let rank = self.rank;
        self.shared.places.with(|places| places.back.push(rank));
    }
}

impl TeamBarrier {
    /// Makes a barrier for `members` threads of this process. The call reads the topology, the CPU
    /// mask and the CPU quota, which takes some 0.1 ms.
    ///
    /// # Panics
    ///
    /// Panics if `members` is 0.
    ///
    /// ```
    /// let mut alone = manycore_team::barrier::TeamBarrier::new(1).member();
    /// assert!(alone.wait());
    /// ```
    #[track_caller]
    pub fn new(members: usize) -> Self {
        assert!(members > 0, "a barrier needs a member");
        Self::on(&placement(&Topology::detect(), members))
    }
}

/// Places members on the usable CPUs in the order of a pool's threads. The system often leaves
/// threads where they are.
fn placement(machine: &Topology, members: usize) -> Placement {
    let cores = machine.default_threads();
    let cpus = machine.compact_order();
    // The groups in the order of filling. A group's index is its new number.
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
        let shared = Shared {
            barrier: ChosenBarrier::new(placement),
            places: Lock::new(Places {
                next: 0,
                back: vec![],
            }),
            members: placement.members(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Takes a member. If members were dropped, this is one of them. Otherwise it is the next
    /// member in the order of the placement's ranks.
    ///
    /// # Panics
    ///
    /// Panics if all members are taken.
    ///
    /// ```
    /// use manycore_team::barrier::TeamBarrier;
    ///
    /// // One team after the other.
    /// let barrier = TeamBarrier::new(2);
    /// for _ in 0..3 {
    ///     let (mut one, mut other) = (barrier.member(), barrier.member());
    ///     std::thread::scope(|scope| {
    ///         scope.spawn(move || one.wait());
    ///         other.wait();
    ///     });
    /// }
    /// ```
    ///
    /// ```should_panic
    /// let barrier = manycore_team::barrier::TeamBarrier::new(1);
    /// let members = (barrier.member(), barrier.member());
    /// ```
    #[doc(alias = "generate_barrier")]
    #[track_caller]
    pub fn member(&self) -> TeamMember<P> {
        let members = self.shared.members;
        // The lock orders the work of the rank's former member before the work of its new member.
        let rank = self.shared.places.with(|places| places.take(members));
        let rank = rank.unwrap_or_else(|| panic!("all {members} members are taken"));
        let place = TakenRank {
            shared: Arc::clone(&self.shared),
            rank,
        };
        TeamMember {
            member: self.shared.barrier.member(rank),
            place,
        }
    }

    /// The number of members that the barrier waits for.
    ///
    /// ```
    /// assert_eq!(manycore_team::barrier::TeamBarrier::new(3).members(), 3);
    /// ```
    pub fn members(&self) -> usize {
        self.shared.members
    }
}

impl<P: Platform> TeamMember<P> {
    /// Waits until all members have called `wait` as often as this member. Returns `true` on one
    /// member, the leader, which can do work that is due once in each episode. The leader is the
    /// same in each episode.
    ///
    /// The members' work before the barrier is visible to all of them after it.
    #[inline]
    pub fn wait(&mut self) -> bool {
        self.place.shared.barrier.wait(&mut self.member);
        self.place.rank == 0
    }
}

impl<P: Platform> fmt::Debug for TeamBarrier<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamBarrier")
            .field("members", &self.members())
            .finish_non_exhaustive()
    }
}

impl<P: Platform> fmt::Debug for TeamMember<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamMember")
            .field("rank", &self.place.rank)
            .finish_non_exhaustive()
    }
}
