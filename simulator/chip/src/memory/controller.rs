//! Memory controllers. Each controller has a latency and a bandwidth, for which requests queue.

use crate::config;
use crate::network::queue::{HistoryList, QueueModel};

pub(crate) struct Controllers {
    latency: u64,
    /// The channels of all controllers.
    channels: Box<[HistoryList]>,
    of_controller: u32,
    /// The time that a channel needs for a line, in parts of a cycle ([`PARTS`]).
    service: u64,
}

/// The number of parts of a cycle. Channels count time in these parts.
const PARTS: u64 = 64;

impl Controllers {
    pub(crate) fn new(memory: &config::Memory, count: u32, line: u32) -> Self {
        let cycles = f64::from(line) / memory.bytes_per_cycle;
        let service = ((cycles * PARTS as f64).round() as u64).max(1);
        Self {
            latency: memory.latency,
            channels: vec![HistoryList::new(service); (count * memory.channels) as usize].into(),
            of_controller: memory.channels,
            service,
        }
    }

    /// Reads or writes `line` at controller `which`, from `at` on. Returns the time when the data arrive. The latency
    /// contains the transfer of one line. Requests are served in the order of their arrival. The calls may come in
    /// another order: when a line leaves a cache, the call for its write comes before the time of the write.
    pub(crate) fn access(&mut self, which: u32, line: u32, at: u64) -> u64 {
        // Spreads parallel streams over the channels, so that they do not always meet on the same
        // channel.
        let channel = (line ^ line >> 6 ^ line >> 12) % self.of_controller;
        let queue = &mut self.channels[(which * self.of_controller + channel) as usize];
        at + queue.delay(at * PARTS, self.service).div_ceil(PARTS) + self.latency
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(bytes_per_cycle: f64, channels: u32) -> Controllers {
        let memory = config::Memory {
            latency: 100,
            bytes_per_cycle,
            nodes_per_controller: 1,
            channels,
        };
        Controllers::new(&memory, 2, 64)
    }

    #[test]
    fn lines_queue_for_bandwidth() {
        let mut controllers = two(5.0, 1);
        assert_eq!(controllers.access(0, 0, 50), 150);
        assert_eq!(controllers.access(0, 1, 50), 163); // 64 bytes at 5: 13 cycles
        assert_eq!(controllers.access(1, 2, 50), 150);
        assert_eq!(controllers.access(0, 3, 500), 600);
    }

    #[test]
    fn channels_deliver_their_bytes_a_cycle() {
        for (bytes, channels) in [(5.0, 1), (13.7, 8), (61.0, 2), (9.6, 12)] {
            let mut controllers = two(bytes, channels);
            let lines = 20_000;
            let last = (0..lines).map(|line| controllers.access(1, line, 0)).max();
            let expected = f64::from(lines) * 64.0 / (bytes * f64::from(channels));
            let found = (last.unwrap() - 100) as f64;
            assert!((found / expected - 1.0).abs() < 0.02, "{found}, {expected}");
        }
    }

    #[test]
    fn a_later_request_does_not_delay_earlier_requests() {
        let mut controllers = two(5.0, 1);
        assert_eq!(controllers.access(0, 0, 900), 1000);
        assert_eq!(controllers.access(0, 1, 50), 150);
    }
}
