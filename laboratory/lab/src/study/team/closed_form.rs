//! The exit latency of an isolated episode (wait of the team) at the barrier of the thesis (Park 2013), computed from
//! the network's delays.

use manycore_chip::config::Optical;

/// All members arrive at once. The messages travel at the same time; each controller moves them one after the other.
pub(in crate::study) fn together(optical: &Optical, cores: usize) -> u64 {
    optical.transport + optical.controller * (cores as u64 - 1) + optical.check
}

/// Each member arrives long after the member before. The others wait for the last member's message. Meanwhile the last
/// member sends for a cycle, and takes all other messages out of its buffer.
pub(in crate::study) fn apart(optical: &Optical, cores: usize) -> u64 {
    together(optical, 2).max(1 + optical.check * (cores as u64 - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_chip::config::Config;

    #[test]
    fn the_thesis_own_figures() {
        let optical = Config::preset("atac-64").unwrap().optical.unwrap();
        assert_eq!(together(&optical, 64), 638);
        assert_eq!(together(&optical, 1024), 10_238);
        assert_eq!(apart(&optical, 2), 18);
        assert_eq!(apart(&optical, 64), 190);
    }
}
