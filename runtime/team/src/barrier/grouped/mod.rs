mod groups;
mod memory;
mod wire;

use super::{Barrier, Placement};
use groups::Groups;
use manycore_platform::Platform;
use memory::GroupedMemory;
use wire::{GroupedWire, WireMember};

/// Two levels: members meet in their core group, and the groups meet for them.
///
/// *On a broadcast network* the members of a group tell their leader, the only one
/// that listens to the group's channel, so that it is shown g - 1 messages; then
/// the leaders broadcast on a channel to which all listen, N/g messages for
/// everybody. An isolated episode costs about twice transport + controller * sqrt(N) +
/// check cycles, where one level costs N of those.
///
/// *In memory* the members of a group count themselves off on one line, which their
/// shared cache keeps near; the last one goes on to an exchange between the groups, in
/// ceil(log2 groups) rounds, and then lets its own group go with one more line.
/// Members of one core group all exchange with each other, without a count; with two
/// of them that makes one store and one load an episode. Core groups of more than 16
/// are taken in parts.
///
/// On a network whose placement has one group, or one for each member, consecutive
/// ranks make groups of about sqrt(N).
///
/// ```
/// use manycore_platform::Native;
/// use manycore_team::barrier::{Barrier, GroupedBarrier, Placement};
///
/// let barrier = GroupedBarrier::<Native>::new(&Placement::grouped(vec![0, 1]));
/// let (mut one, mut other) = (barrier.member(0), barrier.member(1));
/// std::thread::scope(|scope| {
///     scope.spawn(|| barrier.wait(&mut one));
///     barrier.wait(&mut other);
/// });
/// ```
pub struct GroupedBarrier<P: Platform> {
    groups: Groups,
    way: GroupedWay<P>,
}

enum GroupedWay<P: Platform> {
    Wire(GroupedWire<P>),
    Memory(GroupedMemory<P>),
}

/// A member of a [`GroupedBarrier`].
pub struct GroupedMember {
    way: GroupedMemberWay,
}

enum GroupedMemberWay {
    Wire(WireMember),
    Memory { group: usize, episode: u32 },
}

impl<P: Platform> Barrier<P> for GroupedBarrier<P> {
    const NAME: &'static str = "grouped";
    type Member = GroupedMember;

    fn new(placement: &Placement) -> Self {
        let groups = Groups::on_network(placement);
        if let Some(wire) = GroupedWire::new(&groups) {
            let way = GroupedWay::Wire(wire);
            return Self { groups, way };
        }
        let groups = Groups::in_memory(placement);
        let way = GroupedWay::Memory(GroupedMemory::new(placement, &groups));
        Self { groups, way }
    }

    fn member(&self, rank: usize) -> GroupedMember {
        let members = self.groups.members();
        assert!(rank < members, "rank {rank} of {members}");
        let group = self.groups.group(rank);
        let way = match &self.way {
            GroupedWay::Wire(wire) => {
                GroupedMemberWay::Wire(wire.open(rank, group, self.groups.leads(rank)))
            }
            GroupedWay::Memory(memory) => GroupedMemberWay::Memory {
                group,
                episode: memory.episode(group),
            },
        };
        GroupedMember { way }
    }

    #[inline]
    fn wait(&self, member: &mut GroupedMember) {
        match (&self.way, &mut member.way) {
            (GroupedWay::Wire(wire), GroupedMemberWay::Wire(place)) => wire.wait(place),
            (GroupedWay::Memory(memory), GroupedMemberWay::Memory { group, episode }) => {
                *episode = episode.wrapping_add(1);
                memory.wait(*group, *episode);
            }
            _ => panic!("a member of another barrier"),
        }
    }
}
