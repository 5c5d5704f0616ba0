//! The current step and the time left. A terminal shows one line. Elsewhere a line is written every 15 s.

use super::time_left::TimeLeft;
use std::io::{self, IsTerminal, Write, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time between two lines. A command that ends sooner writes none.
const PACE: Duration = Duration::from_secs(15);
/// The time between two updates of a terminal's line.
const TERMINALS_PACE: Duration = Duration::from_millis(100);
/// The most characters of a terminal's line. A line that wraps cannot be cleared.
const WIDTH: usize = 78;

/// The progress through the cells of a measurement, on standard error.
#[derive(Debug)]
pub(crate) struct Progress {
    shown: Spinner,
    left: TimeLeft,
}

impl Progress {
    pub(crate) fn new(name: &str, left: TimeLeft) -> Self {
        Self {
            shown: Spinner::new(name),
            left,
        }
    }

    /// Shows the current measurement, and the part of it that is done.
    pub(crate) fn inside(&self, what: &str, part: f64) {
        let part = part.clamp(0.0, 1.0);
        let percent = self.left.part(part) * 100.0;
        let text = format!("{percent:.0}%  {}{what}", self.left.told(part));
        self.shown.show(&text);
    }

    /// Records that a cell of this weight is finished and took `seconds`.
    pub(crate) fn step(&mut self, weight: f64, seconds: f64) {
        self.left.done(weight, seconds);
    }

    /// Sets the time for the cells that are left.
    pub(crate) fn allot(&mut self, time: Duration) {
        self.left.allot(time);
    }
}

/// A line on standard error that names the current activity.
#[derive(Debug)]
pub(crate) struct Spinner {
    lines: Mutex<Lines>,
}

impl Spinner {
    pub(crate) fn new(name: &str) -> Self {
        let lines = Lines::new(name, Instant::now(), stderr().is_terminal());
        Self {
            lines: Mutex::new(lines),
        }
    }

    pub(crate) fn show(&self, what: &str) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        // The command does not fail because standard error is closed.
        let _ = lines.show(&mut stderr(), Instant::now(), what);
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        let lines = self.lines.get_mut().unwrap_or_else(PoisonError::into_inner);
        if lines.on_terminal {
            let _ = write!(stderr(), "\r\x1b[2K");
        }
    }
}

/// Limits how often lines are written.
#[derive(Debug)]
struct Lines {
    name: String,
    /// The time of the last line, or of the start.
    last: Instant,
    /// Whether each line replaces the previous one.
    on_terminal: bool,
}

impl Lines {
    fn new(name: &str, now: Instant, on_terminal: bool) -> Self {
        Self {
            name: name.to_owned(),
            last: now,
            on_terminal,
        }
    }

    /// Writes a line if the last line is old enough.
    fn show(&mut self, to: &mut impl Write, now: Instant, text: &str) -> io::Result<()> {
        let pace = match self.on_terminal {
            true => TERMINALS_PACE,
            false => PACE,
        };
        if now.saturating_duration_since(self.last) < pace {
            return Ok(());
        }
        self.last = now;
        // There is only one write, since lines of other processes may come between two writes.
        let line = match self.on_terminal {
            false => format!("manycore: {}  {text}\n", self.name),
            true => {
                let line = format!("{}  {text}", self.name);
                let line: String = line.chars().take(WIDTH).collect();
                format!("\r\x1b[2K{line}")
            }
        };
        to.write_all(line.as_bytes())?;
        to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn off_a_terminal_a_line_is_written_now_and_then() {
        let begin = Instant::now();
        let mut lines = Lines::new("study", begin, false);
        let mut written = Vec::new();
        // Every second for a minute.
        for second in 0..60 {
            let now = begin + Duration::from_secs(second);
            let show = lines.show(&mut written, now, &format!("at {second}"));
            show.unwrap();
        }
        let written = String::from_utf8(written).unwrap();
        let expected = ["15", "30", "45"].map(|at| format!("manycore: study  at {at}\n"));
        assert_eq!(written, expected.concat());
    }

    #[test]
    fn a_terminal_has_one_line_that_does_not_wrap() {
        let begin = Instant::now();
        let mut lines = Lines::new("machine", begin, true);
        let mut written = Vec::new();
        let show = lines.show(&mut written, begin + PACE, &"x".repeat(200));
        show.unwrap();
        let written = String::from_utf8(written).unwrap();
        assert_eq!(written.lines().count(), 1);
        assert!(written.starts_with("\r\u{1b}[2Kmachine  x"), "{written}");
        assert!(written.chars().count() < WIDTH + 6, "{written}");
    }
}
