//! The second program of Park's thesis: PARSEC's streamcluster.

use super::program::Spmd;
use manycore_platform::Platform;
use manycore_programs::spmd::{Streamcluster, StreamclusterInput};

impl<P: Platform> Spmd for Streamcluster<P> {
    fn run(&self, rank: usize, wait: &mut dyn FnMut()) {
        self.run(rank, wait);
    }

    fn answer(&self) -> anyhow::Result<Option<String>> {
        let solution = self.solution()?;
        solution.verify()?;
        Ok(Some(format!("{:016x}", solution.hash())))
    }
}

pub(super) fn streamcluster<P: Platform>(
    input: StreamclusterInput,
    ranks: usize,
) -> anyhow::Result<Box<dyn Spmd>> {
    Ok(Box::new(Streamcluster::<P>::new(input, ranks)?))
}
