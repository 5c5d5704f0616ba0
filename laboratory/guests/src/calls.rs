//! The calls of a program, and their times.

use std::time::{Duration, Instant};

/// The number of calls before the steady state.
const FIRST: usize = 10;

/// The time without work before a call of the kind `gap`.
const GAP: Duration = Duration::from_millis(1);

/// The kind of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    First,
    Steady,
    Gap,
}

/// The numbers of calls, and the nanoseconds of each call so far.
#[derive(Clone, Debug)]
pub(crate) struct Calls {
    steady: usize,
    gaps: usize,
    took: Vec<u64>,
}

impl Calls {
    pub(crate) fn new(steady: usize, gaps: usize) -> Self {
        Self {
            steady,
            gaps,
            took: Vec::with_capacity(FIRST + steady + gaps),
        }
    }

    /// Calls `call` with the number of each call, and records each call's time.
    pub(crate) fn make(&mut self, mut call: impl FnMut(u64)) {
        self.make_on(&mut (), |()| (), |(), number| call(number));
    }

    /// As [`make`](Self::make), with a state that `prepare` renews before each call.
    pub(crate) fn make_on<S>(
        &mut self,
        state: &mut S,
        prepare: impl Fn(&mut S),
        mut call: impl FnMut(&mut S, u64),
    ) {
        for number in 0..FIRST + self.steady + self.gaps {
            prepare(state);
            if self.kind(number) == Kind::Gap {
                std::thread::sleep(GAP);
            }
            let begin = Instant::now();
            call(state, number as u64);
            self.took.push(begin.elapsed().as_nanos() as u64);
        }
    }

    /// The number of the last call.
    pub(crate) fn last(&self) -> u64 {
        (FIRST + self.steady + self.gaps - 1) as u64
    }

    /// The mean time of each call over several threads that made the same calls.
    pub(crate) fn mean(all: &[Self]) -> Self {
        let mut mean = all[0].clone();
        for (at, took) in mean.took.iter_mut().enumerate() {
            *took = all.iter().map(|calls| calls.took[at]).sum::<u64>() / all.len() as u64;
        }
        mean
    }

    /// A line for each call.
    pub(crate) fn lines(&self) -> String {
        let line = |(number, ns): (usize, &u64)| {
            let kind = match self.kind(number) {
                Kind::First => "first",
                Kind::Steady => "steady",
                Kind::Gap => "gap",
            };
            format!("{kind},{number},{ns}\n")
        };
        self.took.iter().enumerate().map(line).collect()
    }

    fn kind(&self, number: usize) -> Kind {
        match number {
            _ if number < FIRST => Kind::First,
            _ if number < FIRST + self.steady => Kind::Steady,
            _ => Kind::Gap,
        }
    }
}
