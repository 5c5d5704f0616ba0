/// A core's hardware filter (Park 2013, section 3.1.2): which arriving
/// messages its lambda queues take.
///
/// The message's signature is masked and combined with the filter's by the operation. The message
/// passes if a bit of the result is set. The thesis names the operations and does not say which
/// result passes. Only the rule "a bit is set" makes `and` and `or` selective too. By it `xor`
/// passes the signatures that differ, so [`Xnor`](MatchOperation::Xnor) is added, which passes
/// equal signatures.
///
/// The default filter passes every message.
///
/// ```
/// use manycore_chip::{Filter, MatchOperation};
///
/// let mine = Filter { mask: 0xff, operation: MatchOperation::Xnor, signature: 7 };
/// assert!(mine.passes(0x107) && !mine.passes(8));
/// assert!(Filter::default().passes(8) && !Filter::NONE.passes(8));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Bits of the message's signature that count.
    pub mask: u32,
    /// How the masked signature meets the filter's.
    pub operation: MatchOperation,
    /// The filter's signature.
    pub signature: u32,
}

/// The operation of a [`Filter`] on two signatures.
///
/// ```
/// use manycore_chip::{Filter, MatchOperation::And};
///
/// let either = Filter { mask: u32::MAX, operation: And, signature: 0b0110 };
/// assert!(either.passes(0b0100) && !either.passes(0b1001));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchOperation {
    /// Passes if a masked bit of the message is set in the filter too.
    And,
    /// Passes if a masked bit of the message is set, or any of the filter.
    Or,
    /// Passes if the masked signature differs from the filter's.
    Xor,
    /// Passes if the masked signature equals the filter's. Not in the thesis.
    Xnor,
}

impl Filter {
    /// Passes every message.
    pub const ALL: Self = Self {
        mask: 0,
        operation: MatchOperation::Or,
        signature: 1,
    };

    /// Passes no message.
    pub const NONE: Self = Self {
        mask: 0,
        operation: MatchOperation::And,
        signature: 0,
    };

    /// Whether a message of this signature passes.
    pub fn passes(self, signature: u32) -> bool {
        let masked = signature & self.mask;
        match self.operation {
            MatchOperation::And => masked & self.signature != 0,
            MatchOperation::Or => masked | self.signature != 0,
            MatchOperation::Xor => masked != self.signature,
            MatchOperation::Xnor => masked == self.signature,
        }
    }
}

impl Default for Filter {
    fn default() -> Self {
        Self::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes() {
        let passes = |mask, operation, signature, message| {
            Filter {
                mask,
                operation,
                signature,
            }
            .passes(message)
        };
        use MatchOperation::{And, Or, Xnor, Xor};
        assert!(passes(0xff, And, 0b0110, 0b0100));
        assert!(!passes(0xff, And, 0b0110, 0b1001));
        assert!(!passes(0b0010, And, 0b0110, 0b0100), "masked away");
        assert!(passes(0xff, Or, 0, 1));
        assert!(!passes(0xff, Or, 0, 0x100));
        assert!(passes(0, Or, 4, 0));
        assert!(passes(0xff, Xor, 7, 8));
        assert!(!passes(0xff, Xor, 7, 0x107));
        assert!(passes(0xff, Xnor, 7, 0x107));
        assert!(!passes(0xff, Xnor, 7, 8));
        for signature in [0, 1, u32::MAX] {
            assert!(Filter::default().passes(signature));
            assert!(!Filter::NONE.passes(signature));
        }
    }
}
