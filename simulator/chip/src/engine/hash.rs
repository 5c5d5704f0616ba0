//! A hash of all events, in order.

/// Folds the events of a run into 64 bits. Equal runs have equal hashes on any host. The hash is
/// not cryptographic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventHash(u64);

impl EventHash {
    pub(crate) fn new() -> Self {
        Self(0x243F_6A88_85A3_08D3) // the first 64 bits of the fraction of pi
    }

    #[inline(always)]
    pub(crate) fn fold(&mut self, time: u64, what: u64) {
        let mixed = (self.0 ^ time).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ what;
        self.0 = mixed.rotate_left(23).wrapping_mul(0xD1B5_4A32_D192_ED03);
    }

    pub(crate) fn value(self) -> u64 {
        self.0 ^ self.0 >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_time_and_kind_matter() {
        let hash = |events: &[(u64, u64)]| {
            let mut hash = EventHash::new();
            events
                .iter()
                .for_each(|&(time, what)| hash.fold(time, what));
            hash.value()
        };
        assert_eq!(hash(&[(1, 2), (3, 4)]), hash(&[(1, 2), (3, 4)]));
        assert_ne!(hash(&[(1, 2), (3, 4)]), hash(&[(3, 4), (1, 2)]));
        assert_ne!(hash(&[(1, 2)]), hash(&[(2, 2)]));
        assert_ne!(hash(&[(1, 2)]), hash(&[(1, 3)]));
    }
}
