//! The parts of a mixture's program.

/// One call of a runtime, or a pause between two.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The caller sleeps.
    Sleep { us: u32 },
    /// The caller computes.
    Compute { us: u32 },
    /// A loop, each iteration a leaf.
    Loop(Leaves),
    /// A loop of steps.
    LoopOf(Vec<Step>),
    /// A balanced tree of joins down to single leaves.
    Tree(Leaves),
    /// Nested joins, each of one leaf and the rest.
    Chain(Leaves),
    /// A join of two steps.
    Join(Box<[Step; 2]>),
    /// A scope, each job a leaf.
    Scope(Leaves),
    /// A scope with steps as jobs.
    ScopeOf(Vec<Step>),
    /// Detached jobs, each a leaf. The caller waits for all on a channel.
    Spawn(Leaves),
    /// A leaf on every thread.
    Broadcast(Leaves),
    /// Steps one after the other, inside the pool.
    Install(Vec<Step>),
    /// Two jobs that wait for each other.
    Meet(Through),
}

/// The call through which two jobs meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    Join,
    Scope,
    Spawn,
}

/// Pieces of work. Each run of a piece is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaves {
    /// The number of the first leaf in the program.
    pub first: usize,
    pub n: usize,
    /// The mean number of dependent multiplications of a leaf, about 1 ns each.
    pub mean: u32,
    pub skew: Skew,
}

/// The distribution of work over the leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skew {
    Even,
    /// Proportional to the index.
    Rising,
    /// Every sixteenth leaf, from the first on, has an equal share of all work.
    Few,
    /// The last leaf has all work.
    Last,
}

impl Leaves {
    /// The work of leaf `i`, below `n`.
    pub fn work(&self, i: usize) -> u32 {
        let (mean, n) = (u64::from(self.mean), self.n as u64);
        let work = match self.skew {
            Skew::Even => mean,
            Skew::Rising => 2 * mean * i as u64 / n,
            Skew::Few if i.is_multiple_of(16) => mean * n / n.div_ceil(16),
            Skew::Last if i + 1 == self.n => mean * n,
            Skew::Few | Skew::Last => 0,
        };
        u32::try_from(work).unwrap_or(u32::MAX)
    }
}

impl Step {
    /// Whether the step is a pause, not a call.
    pub fn is_gap(&self) -> bool {
        matches!(self, Step::Sleep { .. } | Step::Compute { .. })
    }

    /// The name of the kind of call.
    pub fn name(&self) -> &'static str {
        match self {
            Step::Sleep { .. } | Step::Compute { .. } => "gap",
            Step::Loop(_) | Step::LoopOf(_) => "loop",
            Step::Tree(_) | Step::Chain(_) | Step::Join(_) => "join",
            Step::Scope(_) | Step::ScopeOf(_) => "scope",
            Step::Spawn(_) => "spawn",
            Step::Broadcast(_) => "broadcast",
            Step::Install(_) => "install",
            Step::Meet(_) => "meet",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skewed_work_comes_to_about_the_mean() {
        for skew in [Skew::Even, Skew::Rising, Skew::Few, Skew::Last] {
            let leaves = Leaves {
                first: 0,
                n: 4096,
                mean: 100,
                skew,
            };
            let sum: u64 = (0..4096).map(|i| u64::from(leaves.work(i))).sum();
            let mean = sum as f64 / 4096.0;
            assert!((95.0..105.0).contains(&mean), "{skew:?}: {mean}");
        }
    }
}
