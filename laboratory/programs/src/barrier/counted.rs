use super::Barrier;
use super::opening::Opening;
use super::shelf::{Kept, Shelf, assert_same_core};
use crate::channel::{Wire, WirePort};
use manycore_chip::{Broadcast, Message};
use manycore_team::barrier::Placement;
use manycore_team::seam::{SenseBarrier, SenseMember};
use std::num::NonZeroU32;
use std::sync::Arc;

/// A barrier whose arrivals the network interfaces count. Each member broadcasts its arrival, as in the thesis's
/// barrier. But a core does not receive N - 1 messages: its network interface counts them, in a tree of adders over the
/// wavelengths, and delivers only the last.
///
/// On hardware an isolated episode (use of the barrier) costs `transport + adder * log2(cores) + controller + check`
/// cycles, at any number of members. [`ChannelBarrier`](super::ChannelBarrier) argues why a message of the next episode
/// may count in this episode.
///
/// Without such hardware this is the sense-reversing barrier, which also counts arrivals in one place.
///
/// ```
/// use manycore::Native;
/// use manycore_programs::barrier::{Barrier, CountedBarrier};
/// use manycore_team::barrier::Placement;
///
/// let barrier = CountedBarrier::<Native>::new(&Placement::flat(2));
/// let (mut one, mut other) = (barrier.member(0), barrier.member(1));
/// std::thread::scope(|scope| {
///     scope.spawn(|| barrier.wait(&mut one));
///     barrier.wait(&mut other);
/// });
/// ```
pub struct CountedBarrier<P: Broadcast> {
    way: CountedWay<P>,
}

enum CountedWay<P: Broadcast> {
    Wire(CountingWire<P>),
    Memory(SenseBarrier<P>),
}

struct CountingWire<P: Broadcast> {
    channel: Wire<P>,
    opening: Opening<P>,
    shelf: Arc<Shelf<P, WirePort<P>>>,
    others: NonZeroU32,
}

/// A member of a [`CountedBarrier`].
pub struct CountedMember<P: Broadcast> {
    way: CountedMemberWay<P>,
}

enum CountedMemberWay<P: Broadcast> {
    Wire {
        port: Kept<P, WirePort<P>>,
        /// Whether the member knows that all ports are open.
        met: bool,
    },
    Memory(SenseMember),
}

impl<P: Broadcast> CountedBarrier<P> {
    /// Returns `None` if there is no broadcast network, or no other member.
    pub(super) fn on_network(placement: &Placement) -> Option<Self> {
        let others = NonZeroU32::new(u32::try_from(placement.members() - 1).ok()?)?;
        let channel = Wire::new()?;
        Some(Self {
            way: CountedWay::Wire(CountingWire {
                channel,
                opening: Opening::new(placement.members()),
                shelf: Shelf::new(),
                others,
            }),
        })
    }
}

impl<P: Broadcast> Barrier<P> for CountedBarrier<P> {
    const NAME: &'static str = "counted";
    type Member = CountedMember<P>;

    fn new(placement: &Placement) -> Self {
        Self::on_network(placement).unwrap_or_else(|| Self {
            way: CountedWay::Memory(SenseBarrier::new(placement)),
        })
    }

    fn member(&self, rank: usize) -> CountedMember<P> {
        let way = match &self.way {
            CountedWay::Wire(wire) => {
                let members = wire.others.get() as usize + 1;
                assert!(rank < members, "rank {rank} of {members}");
                let port = match wire.shelf.take(rank) {
                    Some(port) => {
                        assert_same_core(rank, port.core(), P::core());
                        port
                    }
                    None => {
                        let port = wire.channel.open(Some(wire.others));
                        wire.opening.opened();
                        port
                    }
                };
                let port = Kept::new(rank, port, &wire.shelf);
                CountedMemberWay::Wire { port, met: false }
            }
            CountedWay::Memory(barrier) => CountedMemberWay::Memory(barrier.member(rank)),
        };
        CountedMember { way }
    }

    #[inline]
    fn wait(&self, member: &mut CountedMember<P>) {
        match (&self.way, &mut member.way) {
            (CountedWay::Wire(wire), CountedMemberWay::Wire { port, met }) => {
                if !std::mem::replace(met, true) {
                    wire.opening.wait();
                }
                let port = port.port();
                port.send(Message::default());
                port.receive().expect("the barrier has the channel");
            }
            (CountedWay::Memory(barrier), CountedMemberWay::Memory(member)) => barrier.wait(member),
            _ => panic!("a member of another barrier"),
        }
    }
}
