//! A memory controller: a latency, and a bandwidth that requests queue for.

use crate::config;

/// One controller's queue, served in order of arrival.
pub(crate) struct Controllers {
    free_at: Box<[u64]>,
    latency: u64,
    /// Cycles one line keeps a controller.
    service: u64,
}

impl Controllers {
    pub(crate) fn new(memory: &config::Memory, count: u32, line: u32) -> Self {
        Self {
            free_at: vec![0; count as usize].into(),
            latency: memory.latency,
            service: (f64::from(line) / memory.bytes_per_cycle).ceil() as u64,
        }
    }

    /// A line is read or written at controller `which` from `at`; returns when
    /// its data are there. The latency contains the transfer of one line.
    pub(crate) fn access(&mut self, which: u32, at: u64) -> u64 {
        let free_at = &mut self.free_at[which as usize];
        let start = at.max(*free_at);
        *free_at = start + self.service;
        start + self.latency
    }

    /// Cycles one line keeps a controller.
    pub(crate) fn service(&self) -> u64 {
        self.service
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_queue_for_bandwidth() {
        let memory = config::Memory {
            latency: 100,
            bytes_per_cycle: 5.0,
            nodes_per_controller: 1,
        };
        let mut controllers = Controllers::new(&memory, 2, 64);
        assert_eq!(controllers.access(0, 50), 150);
        assert_eq!(controllers.access(0, 50), 163); // 64 bytes at 5: 13 cycles
        assert_eq!(controllers.access(1, 50), 150);
        assert_eq!(controllers.access(0, 500), 600);
    }
}
