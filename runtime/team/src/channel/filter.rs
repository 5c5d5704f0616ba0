/// Which messages a port receives. A message passes if its signature, in the bits that are set in
/// `mask`, equals `signature`.
///
/// The default filter passes every message.
///
/// ```
/// use manycore_team::channel::Filter;
///
/// let mine = Filter { mask: 0xff, signature: 7 };
/// assert!(mine.passes(0x107) && !mine.passes(8));
/// assert!(Filter::default().passes(8) && !Filter::NONE.passes(8));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The bits of a message's signature that are compared.
    pub mask: u32,
    /// The value that these bits must have.
    pub signature: u32,
}

impl Filter {
    /// Passes every message.
    pub const ALL: Self = Self {
        mask: 0,
        signature: 0,
    };

    /// Passes no message.
    pub const NONE: Self = Self {
        mask: 0,
        signature: 1,
    };

    /// Whether a message with this signature passes.
    #[inline]
    pub fn passes(self, signature: u32) -> bool {
        signature & self.mask == self.signature
    }
}

impl Default for Filter {
    fn default() -> Self {
        Self::ALL
    }
}
