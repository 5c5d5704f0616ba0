//! Two jobs that wait for each other. Measures the time until the second job begins.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A meeting of two jobs.
pub struct Meeting {
    called: Instant,
    patience: Duration,
    came: AtomicUsize,
    second: Mutex<Option<Duration>>,
}

impl Meeting {
    /// Starts the clock. The first job stops waiting after `patience`.
    pub fn call(patience: Duration) -> Self {
        Self {
            called: Instant::now(),
            patience,
            came: AtomicUsize::new(0),
            second: Mutex::new(None),
        }
    }

    /// The work of each of the two jobs.
    pub fn attend(&self) {
        // Relaxed, here and below: the count publishes no other memory.
        if self.came.fetch_add(1, Relaxed) == 1 {
            *self.second.lock().expect("no holder panics") = Some(self.called.elapsed());
            return;
        }
        let came = Instant::now();
        while self.came.load(Relaxed) < 2 && came.elapsed() < self.patience {
            std::thread::sleep(Duration::from_micros(20));
        }
    }

    /// The time from the call to the start of the second job. Both jobs must have returned.
    pub fn waited(&self) -> Duration {
        let second = self.second.lock().expect("no holder panics");
        second.expect("both jobs have run")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_ends_the_meeting_and_no_thread_waits_for_ever() {
        let meeting = Meeting::call(Duration::ZERO);
        meeting.attend();
        meeting.attend();
        let alone = meeting.waited();
        assert!(alone <= meeting.called.elapsed());

        let meeting = Meeting::call(Duration::from_secs(3600));
        std::thread::scope(|scope| {
            scope.spawn(|| meeting.attend());
            meeting.attend();
        });
        assert!(meeting.waited() <= meeting.called.elapsed());
    }
}
