//! What is being done, and how long it takes still: a bar on a terminal, lines
//! now and then elsewhere.

use super::time_left::TimeLeft;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Steps of a bar.
const STEPS: f64 = 1000.0;
/// Between two lines; a command that ends sooner writes none.
const PACE: Duration = Duration::from_secs(15);

/// The way through the cells of a measurement, on standard error.
#[derive(Debug)]
pub(crate) struct Progress {
    shown: Shown,
    left: TimeLeft,
}

impl Progress {
    pub(crate) fn new(name: &str, left: TimeLeft) -> Self {
        let template = "{prefix} {bar:30} {percent:>3}%  {wide_msg}";
        Self {
            shown: Shown::new(name, template),
            left,
        }
    }

    /// What is being measured, and which part of that is done.
    pub(crate) fn inside(&self, what: &str, part: f64) {
        let part = part.clamp(0.0, 1.0);
        let left = self.left.range(part);
        let left = left.map_or_else(String::new, |left| format!("{left}  "));
        let text = format!("{left}{what}");
        self.shown.show(&text, Some(self.left.part(part)));
    }

    /// A cell of this weight is finished; it took so many seconds.
    pub(crate) fn step(&mut self, weight: f64, seconds: f64) {
        self.left.done(weight, seconds);
    }

    /// So much time is there for the cells that are left.
    pub(crate) fn allot(&mut self, time: Duration) {
        self.left.allot(time);
    }
}

/// A line on standard error that says what is being done.
#[derive(Debug)]
pub(crate) struct Spinner(Shown);

impl Spinner {
    pub(crate) fn new(name: &str) -> Self {
        Self(Shown::new(name, "{prefix}  {wide_msg}"))
    }

    pub(crate) fn show(&self, what: &str) {
        self.0.show(what, None);
    }
}

/// Where it is shown.
#[derive(Debug)]
enum Shown {
    Terminal(ProgressBar),
    Lines(Mutex<Lines>),
}

impl Shown {
    fn new(name: &str, template: &str) -> Self {
        if !stderr().is_terminal() {
            return Self::Lines(Mutex::new(Lines::new(name, Instant::now())));
        }
        let bar = ProgressBar::new(STEPS as u64);
        // The template is right or the fallback is a plain bar: no reason to fail.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(name.to_owned());
        Self::Terminal(bar)
    }

    fn show(&self, text: &str, part: Option<f64>) {
        match self {
            Self::Terminal(bar) => {
                bar.set_message(text.to_owned());
                bar.set_position((part.unwrap_or(0.0) * STEPS) as u64);
            }
            Self::Lines(lines) => {
                let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
                // Without standard error there is nobody to tell.
                let _ = lines.show(&mut stderr(), Instant::now(), text, part);
            }
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Self::Terminal(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// Lines, not too many.
#[derive(Debug)]
struct Lines {
    name: String,
    /// When the last one was written, or when it all began.
    last: Instant,
}

impl Lines {
    fn new(name: &str, now: Instant) -> Self {
        Self {
            name: name.to_owned(),
            last: now,
        }
    }

    /// Writes a line, if the last one is long enough ago.
    fn show(
        &mut self,
        to: &mut impl Write,
        now: Instant,
        text: &str,
        part: Option<f64>,
    ) -> io::Result<()> {
        if now.saturating_duration_since(self.last) < PACE {
            return Ok(());
        }
        self.last = now;
        let part = part.map_or_else(String::new, |part| format!("{:.0}%  ", part * 100.0));
        // In one piece: lines of other processes may come between.
        let line = format!("manycore: {}  {part}{text}\n", self.name);
        to.write_all(line.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn off_a_terminal_a_line_is_written_now_and_then() {
        let begin = Instant::now();
        let mut lines = Lines::new("study", begin);
        let mut written = Vec::new();
        // Every second for a minute.
        for second in 0..60 {
            let now = begin + Duration::from_secs(second);
            let part = second as f64 / 60.0;
            let show = lines.show(&mut written, now, "about 1 min left  cell", Some(part));
            show.unwrap();
        }
        let written = String::from_utf8(written).unwrap();
        let expected = ["25", "50", "75"]
            .map(|part| format!("manycore: study  {part}%  about 1 min left  cell\n"));
        assert_eq!(written, expected.concat());
    }

    #[test]
    fn what_has_no_parts_shows_none() {
        let begin = Instant::now();
        let mut written = Vec::new();
        let mut lines = Lines::new("machine", begin);
        lines
            .show(&mut written, begin + PACE, "atomics", None)
            .unwrap();
        assert_eq!(written, b"manycore: machine  atomics\n");
    }
}
