//! The ways to run a program for many threads on fewer cores.

manycore_programs::by_name! {
    /// How threads are put on cores.
    pub(super) enum Mode: "unknown mode", "expected some of" {
        /// Thread reduction: the program starts with as many threads as cores, each bound to its own core.
        Tr = "tr",
        /// Thread packing: all threads are under a mask of the cores, and the system balances them.
        Tp = "tp",
        /// Thread packing in which each thread is bound to a core. Thread i is bound to core i modulo the cores.
        TpPinned = "tp-pinned",
        /// Parallel loops on a pool that follows its cores.
        Elastic = "elastic",
        /// Ranks (the program's threads) are switched at user level, on workers that follow the program's cores.
        Wrap = "wrap",
    }
}

impl Mode {
    pub(super) fn ranks(self, threads: usize, cores: usize) -> usize {
        match self {
            Self::Tr => threads.min(cores),
            Self::Tp | Self::TpPinned | Self::Elastic | Self::Wrap => threads,
        }
    }

    /// The CPUs of a rank's thread while the program has `cores`.
    pub(super) fn cpus(self, rank: usize, cores: &[usize]) -> &[usize] {
        match self {
            Self::Tp | Self::Elastic | Self::Wrap => cores,
            Self::Tr | Self::TpPinned => std::slice::from_ref(&cores[rank % cores.len()]),
        }
    }

    /// Whether the program's cores can change while it runs.
    pub(super) fn follows(self) -> bool {
        self != Self::Tr
    }
}
