use super::Cycles;

const PERIOD: u32 = 64;

/// The recent load of a queue: the last 64 to 128 messages. Older messages are dropped, since a
/// mean over the whole run would not describe the program's current phase.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    previous: Period,
    current: Period,
}

#[derive(Clone, Copy, Debug, Default)]
struct Period {
    messages: u32,
    first: Cycles,
    last: Cycles,
    service: u64,
    service_squared: u64,
}

impl Load {
    pub(super) fn record(&mut self, arrival: Cycles, service: Cycles) {
        if self.current.messages == PERIOD {
            self.previous = std::mem::take(&mut self.current);
        }
        let period = &mut self.current;
        if period.messages == 0 {
            (period.first, period.last) = (arrival, arrival);
        }
        period.messages += 1;
        period.first = period.first.min(arrival);
        period.last = period.last.max(arrival);
        period.service += service;
        period.service_squared += service * service;
    }

    /// The mean wait in an M/G/1 queue with this load, by Pollaczek and Khinchine: λE\[S²\] / 2(1 - ρ), with ρ at most
    /// 0.999. Over a span T, this is ΣS² / 2(T - ΣS). The sums are whole numbers, so the result is the same on every
    /// host.
    pub(super) fn mean_wait(&self) -> Cycles {
        let (old, new) = (&self.previous, &self.current);
        let service = old.service + new.service;
        if service == 0 {
            return 0;
        }
        let squares = old.service_squared + new.service_squared;
        let first = if old.messages == 0 {
            new.first
        } else {
            old.first.min(new.first)
        };
        let span = old.last.max(new.last) - first;
        let busiest = 999 * squares / (2 * service);
        match span.saturating_sub(service) {
            0 => busiest,
            idle => busiest.min(squares / (2 * idle)),
        }
    }
}
