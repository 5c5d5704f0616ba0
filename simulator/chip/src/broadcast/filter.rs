/// A core's hardware filter (Park 2013, section 3.1.2). It selects the arriving messages for the core's lambda queues
/// (one queue for each sender's wavelength).
///
/// The filter masks the message's signature, and combines the result with the filter's own signature by the operation.
/// The message passes if a bit of the result is set. Park's thesis names the operations but does not define which
/// result passes. This rule makes `and` and `or` selective. But with it, `xor` passes signatures that differ. So we add
/// [`Xnor`](MatchOperation::Xnor), which passes equal signatures.
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
    /// The bits of the message's signature that are compared.
    pub mask: u32,
    /// The operation on the masked signature and the filter's signature.
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
    /// Passes if a bit is set in both the masked signature and the filter.
    And,
    /// Passes if a bit is set in the masked signature or in the filter.
    Or,
    /// Passes if the masked signature differs from the filter's signature.
    Xor,
    /// Passes if the masked signature equals the filter's signature. The thesis does not have this operation.
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
    fn messages_that_pass() {
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
