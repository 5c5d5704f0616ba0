use super::Barrier;
use super::opening::Opening;
use super::shelf::assert_same_core;
use manycore_chip::{Broadcast, Message};
use manycore_platform::{Atomic, Ordering};
use manycore_team::barrier::Placement;
use manycore_team::seam;

/// A barrier of two levels: members meet in their core group, and then the groups' leaders meet.
///
/// On a broadcast network the members of a group send to their leader, the only listener on the group's channel. So the
/// leader of a group of g members receives g - 1 messages. Then the leaders broadcast on a channel with all N members
/// as listeners, so each member receives N/g messages. An isolated episode (one use of the barrier) costs about twice
/// `transport + controller * sqrt(N) + check` cycles. One level alone costs `controller * N`. If the placement has one
/// group, or one for each member, consecutive ranks make groups of about sqrt(N).
///
/// Without such hardware this is `manycore-team`'s [`GroupedBarrier`](manycore_team::seam::GroupedBarrier).
///
/// ```
/// use manycore::Native;
/// use manycore_programs::barrier::{Barrier, GroupedBarrier};
/// use manycore_team::barrier::Placement;
///
/// let barrier = GroupedBarrier::<Native>::new(&Placement::grouped(vec![0, 1]));
/// let (mut one, mut other) = (barrier.member(0), barrier.member(1));
/// std::thread::scope(|scope| {
///     scope.spawn(|| barrier.wait(&mut one));
///     barrier.wait(&mut other);
/// });
/// ```
pub struct GroupedBarrier<P: Broadcast> {
    groups: Groups,
    way: GroupedWay<P>,
}

enum GroupedWay<P: Broadcast> {
    Wire(GroupedWire<P>),
    Memory(seam::GroupedBarrier<P>),
}

/// A member of a [`GroupedBarrier`].
pub struct GroupedMember {
    way: GroupedMemberWay,
}

enum GroupedMemberWay {
    Wire(WireMember),
    Memory(seam::GroupedMember),
}

impl<P: Broadcast> Barrier<P> for GroupedBarrier<P> {
    const NAME: &'static str = "grouped";
    type Member = GroupedMember;

    fn new(placement: &Placement) -> Self {
        let groups = Groups::of(placement);
        let way = match GroupedWire::new(&groups) {
            Some(wire) => GroupedWay::Wire(wire),
            None => GroupedWay::Memory(seam::GroupedBarrier::new(placement)),
        };
        Self { groups, way }
    }

    fn member(&self, rank: usize) -> GroupedMember {
        let way = match &self.way {
            GroupedWay::Wire(wire) => GroupedMemberWay::Wire(wire.open(rank, &self.groups)),
            GroupedWay::Memory(barrier) => GroupedMemberWay::Memory(barrier.member(rank)),
        };
        GroupedMember { way }
    }

    #[inline]
    fn wait(&self, member: &mut GroupedMember) {
        match (&self.way, &mut member.way) {
            (GroupedWay::Wire(wire), GroupedMemberWay::Wire(place)) => wire.wait(place),
            (GroupedWay::Memory(barrier), GroupedMemberWay::Memory(member)) => barrier.wait(member),
            _ => panic!("a member of another barrier"),
        }
    }
}

/// The ranks (numbers of members) that meet first.
struct Groups {
    /// The group of each rank.
    group: Vec<usize>,
    size: Vec<usize>,
    /// The first rank of each group.
    leader: Vec<usize>,
}

impl Groups {
    /// Returns the groups of the placement. If there is one group, or one for each member, consecutive ranks make
    /// groups of about sqrt(N).
    fn of(placement: &Placement) -> Self {
        let members = placement.members();
        let is_grouped = (2..members).contains(&placement.groups());
        // There are as many groups as members in a group, or a few more.
        let consecutive = members.isqrt();
        let group = |rank| match is_grouped {
            true => placement.group(rank),
            false => rank / consecutive,
        };
        let group: Vec<_> = (0..members).map(group).collect();
        let groups = 1 + group.iter().copied().max().unwrap_or(0);
        let (mut size, mut leader) = (vec![0; groups], vec![0; groups]);
        for (rank, &group) in group.iter().enumerate().rev() {
            size[group] += 1;
            leader[group] = rank;
        }
        Self {
            group,
            size,
            leader,
        }
    }
}

/// The state over a broadcast network: a channel for each group, and a channel for all. Members send on their group's
/// channel without listening to it. A port cannot do that, so this uses the hardware directly.
///
/// On both channels, a message of the next episode may come before a slow message of this episode, and is counted in
/// its place. The sender of the early message has left this episode, so every member has arrived. After k episodes a
/// member has taken k messages from each other leader, or, instead of a slow leader's last message, one more message
/// from a leader that has left episode k.
struct GroupedWire<P: Broadcast> {
    all: P::Channel,
    groups: Box<[Group<P>]>,
    opening: Opening<P>,
    /// For each rank, one plus the core of its former or present member, or 0 if there was none.
    cores: Box<[P::AtomicUsize]>,
}

struct Group<P: Broadcast> {
    channel: P::Channel,
    size: usize,
}

struct WireMember {
    group: usize,
    leads: bool,
    /// Whether the member knows that all ports are open.
    met: bool,
}

impl<P: Broadcast> GroupedWire<P> {
    /// Returns `None` if there is no broadcast network.
    fn new(groups: &Groups) -> Option<Self> {
        let group = |&size| {
            let channel = P::create_channel()?;
            Some(Group { channel, size })
        };
        let ranks = groups.group.len();
        Some(Self {
            all: P::create_channel()?,
            groups: groups.size.iter().map(group).collect::<Option<_>>()?,
            opening: Opening::new(ranks),
            cores: (0..ranks).map(|_| P::AtomicUsize::new(0)).collect(),
        })
    }

    /// Opens ports on this core. They stay open, so messages that arrive while the rank has no member wait for its next
    /// member.
    fn open(&self, rank: usize, groups: &Groups) -> WireMember {
        let ranks = groups.group.len();
        assert!(rank < ranks, "rank {rank} of {ranks}");
        let group = groups.group[rank];
        let leads = groups.leader[group] == rank;
        let core = P::core();
        // Relaxed: the former member's work happened before.
        match self.cores[rank].swap(core + 1, Ordering::Relaxed) {
            0 => {
                P::open_port(self.all);
                if leads {
                    P::open_port(self.groups[group].channel);
                }
                self.opening.opened();
            }
            before => assert_same_core(rank, before - 1, core),
        }
        WireMember {
            group,
            leads,
            met: false,
        }
    }

    fn wait(&self, place: &mut WireMember) {
        if !std::mem::replace(&mut place.met, true) {
            self.opening.wait();
        }
        let &Group { channel, size } = &self.groups[place.group];
        let mut leaders = self.groups.len();
        if place.leads {
            take::<P>(channel, size - 1);
            P::send(self.all, Message::default());
            // A leader does not receive its own message.
            leaders -= 1;
        } else {
            P::send(channel, Message::default());
        }
        take::<P>(self.all, leaders);
    }
}

fn take<P: Broadcast>(channel: P::Channel, messages: usize) {
    for _ in 0..messages {
        P::wait_and_receive(channel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_placed() {
        let groups = Groups::of(&Placement::grouped(vec![1, 0, 1, 2, 1]));
        assert_eq!(groups.size, [1, 3, 1]);
        assert_eq!(groups.leader, [1, 0, 3]);
    }

    #[test]
    fn by_the_square_root() {
        let sizes = |placement| Groups::of(&placement).size;
        assert_eq!(sizes(Placement::flat(1)), [1]);
        assert_eq!(sizes(Placement::flat(2)), [1, 1]);
        assert_eq!(sizes(Placement::flat(8)), [2, 2, 2, 2]);
        assert_eq!(sizes(Placement::flat(11)), [3, 3, 3, 2]);
        assert_eq!(sizes(Placement::flat(1024)), [32; 32]);
        assert_eq!(sizes(Placement::grouped((0..64).collect())), [8; 8]);
    }
}
