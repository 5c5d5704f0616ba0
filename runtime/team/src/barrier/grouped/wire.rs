use super::groups::Groups;
use crate::barrier::opening::Opening;
use crate::barrier::shelf::assert_same_core;
use crate::channel::HardwareChannel;
use manycore_platform::{Atomic, Broadcast, Message, Ordering, Platform};

/// Over a broadcast network: a channel a group, and one for all. Members send on
/// their group's without listening to it, which a port cannot: so this is the
/// hardware's face.
///
/// On both, a message of the next episode may come before a slow one of this, and is
/// counted in its place. On the group's: who sent it has left this episode, so
/// everybody has arrived. On the other: its leader has, and after k episodes a
/// member has taken k messages of each other leader, or one of a leader that has
/// left the k-th.
pub(super) struct GroupedWire<P: Platform> {
    all: HardwareChannel<P>,
    groups: Box<[Group<P>]>,
    opening: Opening<P>,
    /// The core of each rank that has been there, and one more; 0 if none has.
    cores: Box<[P::AtomicUsize]>,
}

struct Group<P: Platform> {
    channel: HardwareChannel<P>,
    size: usize,
}

/// What a member keeps.
pub(super) struct WireMember {
    group: usize,
    leads: bool,
    /// It knows that all ports are open.
    met: bool,
}

impl<P: Platform> GroupedWire<P> {
    /// `None` if there is no such network.
    pub(super) fn new(groups: &Groups) -> Option<Self> {
        let group = |&size| {
            let channel = P::Broadcast::create_channel()?;
            Some(Group { channel, size })
        };
        Some(Self {
            all: P::Broadcast::create_channel()?,
            groups: groups.sizes().iter().map(group).collect::<Option<_>>()?,
            opening: Opening::new(groups.members()),
            cores: (0..groups.members())
                .map(|_| P::AtomicUsize::new(0))
                .collect(),
        })
    }

    /// Subscribes this core, which stays so: what others send while nobody is this member is
    /// there when somebody is it again.
    pub(super) fn open(&self, rank: usize, group: usize, leads: bool) -> WireMember {
        let core = P::core();
        // Relaxed: who was this member before came before.
        match self.cores[rank].swap(core + 1, Ordering::Relaxed) {
            0 => {
                P::Broadcast::open_port(self.all);
                if leads {
                    P::Broadcast::open_port(self.groups[group].channel);
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

    pub(super) fn wait(&self, place: &mut WireMember) {
        if !std::mem::replace(&mut place.met, true) {
            self.opening.wait();
        }
        let &Group { channel, size } = &self.groups[place.group];
        let mut leaders = self.groups.len();
        if place.leads {
            take::<P>(channel, size - 1);
            P::Broadcast::send(self.all, Message::default());
            // Nobody hears itself.
            leaders -= 1;
        } else {
            P::Broadcast::send(channel, Message::default());
        }
        take::<P>(self.all, leaders);
    }
}

fn take<P: Platform>(channel: HardwareChannel<P>, messages: usize) {
    for _ in 0..messages {
        P::Broadcast::wait_and_receive(channel);
    }
}
