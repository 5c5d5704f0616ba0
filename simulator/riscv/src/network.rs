//! ATAC's broadcast network, as instructions with the custom-0 opcode (Park 2013, section 3.1).
//!
//! `funct7` is the function. Ports and filters belong to the core that runs the thread, so a thread that uses them must
//! stay on one core. `include/manycore.h` has C functions for the instructions.

use crate::linux::Delivered;
use manycore_chip::guest::{Channel, Core, Filter, MatchOperation, Message};
use std::num::NonZeroU32;

/// The message that a thread received last.
#[derive(Default)]
pub(crate) struct Latched {
    payload: u64,
    sender: u32,
}

/// The functions, by `funct7`.
mod function {
    pub(super) const CREATE: u64 = 0;
    pub(super) const OPEN: u64 = 1;
    pub(super) const OPEN_COUNTING: u64 = 2;
    pub(super) const CLOSE: u64 = 3;
    pub(super) const FILTER: u64 = 4;
    pub(super) const SEND: u64 = 5;
    pub(super) const RECEIVE: u64 = 6;
    pub(super) const WAIT: u64 = 7;
    pub(super) const PAYLOAD: u64 = 8;
    pub(super) const SENDER: u64 = 9;
}

/// Executes an instruction with this function and the operands `a` and `b`.
pub(crate) fn execute(
    core: &mut Core<'_>,
    channels: &mut Vec<Channel>,
    latched: &mut Latched,
    [what, a, b]: [u64; 3],
) -> Delivered {
    // The low half of `a` is a channel's number, and the high half is a message's signature.
    let channel = channels.get(a as u32 as usize).copied();
    let signature = (a >> 32) as u32;
    match (what, channel) {
        (function::CREATE, _) => {
            let Some(channel) = core.create_channel() else {
                return Delivered::Nothing;
            };
            channels.push(channel);
            return Delivered::Value(channels.len() as u64 - 1);
        }
        (function::FILTER, _) => {
            let operation = match b {
                0 => MatchOperation::And,
                1 => MatchOperation::Or,
                2 => MatchOperation::Xor,
                3 => MatchOperation::Xnor,
                _ => return Delivered::Nothing,
            };
            core.set_filter(Filter {
                mask: a as u32,
                operation,
                signature,
            });
        }
        (function::PAYLOAD, _) => return Delivered::Value(latched.payload),
        (function::SENDER, _) => return Delivered::Value(latched.sender.into()),
        (_, None) => return Delivered::Nothing,
        (function::OPEN, Some(channel)) => core.open_port(channel, None),
        (function::OPEN_COUNTING, Some(channel)) => match NonZeroU32::new(b as u32) {
            Some(every) => core.open_port(channel, Some(every)),
            None => return Delivered::Nothing,
        },
        (function::CLOSE, Some(channel)) => core.close_port(channel),
        (function::SEND, Some(channel)) => {
            core.send(
                channel,
                Message {
                    payload: b,
                    signature,
                    ..Message::default()
                },
            );
        }
        (function::RECEIVE | function::WAIT, Some(channel)) => {
            let Some(delivery) = core.receive(channel) else {
                if what == function::RECEIVE {
                    return Delivered::Value(0);
                }
                if core.must_wait() {
                    return Delivered::Wait;
                }
                core.listen(channel);
                return Delivered::Wait;
            };
            *latched = Latched {
                payload: delivery.message.payload,
                sender: delivery.sender,
            };
            return Delivered::Value(1);
        }
        _ => return Delivered::Nothing,
    }
    Delivered::Value(0)
}
