use manycore_platform::Platform;

/// After this many looks, a waiting worker also yields between looks.
const LOOKS: u32 = 64;

/// A worker's wait between two looks for work. The worker spins, each time twice as long up to a limit. Later it also
/// yields, so that the owner of tasks can run on the same core.
pub(super) struct Patience {
    looks: u32,
    /// The longest pause is 2 to the power of `longest` turns of a spin loop.
    longest: u32,
}

impl Patience {
    pub(super) fn new(longest: u32) -> Self {
        Self { looks: 0, longest }
    }

    pub(super) fn pause<P: Platform>(&mut self) {
        if self.looks >= LOOKS {
            P::yield_now();
        }
        for _ in 0..1 << self.looks.min(self.longest) {
            P::relax();
        }
        self.looks = (self.looks + 1).min(LOOKS);
    }
}
