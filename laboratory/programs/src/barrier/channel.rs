use super::Barrier;
use super::opening::Opening;
use super::shelf::{Kept, Shelf, assert_same_core};
use crate::channel::{Channel, Port, Settings, Slow};
use manycore_chip::Broadcast;
use manycore_team::barrier::Placement;
use std::sync::Arc;

/// The barrier of Park's thesis (2013, section 5.1). Each member broadcasts its arrival, and waits for one message from
/// each other member.
///
/// A fast member's next message may come before a slow member's message of this episode (use of the barrier). The
/// receiver counts the early message in place of the slow one. This is safe: the fast member has left this episode, so
/// every member has arrived. After k episodes a member has taken k messages from each other member or, instead of a
/// slow member's last message, one more message from a member that has left episode k.
///
/// On hardware an isolated episode costs `transport + controller * (N - 1) + check` cycles, linear in the number N of
/// members.
pub struct ChannelBarrier<P: Broadcast> {
    channel: Channel<P>,
    opening: Opening<P>,
    shelf: Arc<Shelf<P, Port<P>>>,
    others: usize,
}

/// If the channel goes through memory, a member's ring has this many bytes for each of the N members. The ring holds
/// messages of 16 bytes. Another member may not have read up to 2N - 2 of them, and may have read as many without
/// publishing its position. A member whose ring is full waits in `send`.
const RING: usize = 128;

/// A member of a [`ChannelBarrier`].
pub struct ChannelMember<P: Broadcast> {
    port: Kept<P, Port<P>>,
    /// Whether the member knows that all ports are open.
    met: bool,
}

impl<P: Broadcast> Barrier<P> for ChannelBarrier<P> {
    const NAME: &'static str = "channel";
    type Member = ChannelMember<P>;

    fn new(placement: &Placement) -> Self {
        Self {
            channel: Channel::over_with(Settings {
                capacity: RING * placement.members(),
                slow: Slow::Wait,
            }),
            opening: Opening::new(placement.members()),
            shelf: Shelf::new(),
            others: placement.members() - 1,
        }
    }

    fn member(&self, rank: usize) -> ChannelMember<P> {
        assert!(rank <= self.others, "rank {rank} of {}", self.others + 1);
        let port = match self.shelf.take(rank) {
            Some(port) => {
                if self.channel.is_hardware() {
                    assert_same_core(rank, port.number(), P::core());
                }
                port
            }
            None => {
                let port = self.channel.open();
                self.opening.opened();
                port
            }
        };
        ChannelMember {
            port: Kept::new(rank, port, &self.shelf),
            met: false,
        }
    }

    fn wait(&self, member: &mut ChannelMember<P>) {
        if !member.met {
            self.opening.wait();
            member.met = true;
        }
        let port = member.port.port();
        port.send(0);
        for _ in 0..self.others {
            port.receive().expect("the barrier has the channel");
        }
    }
}
