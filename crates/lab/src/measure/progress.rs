//! The progress bar, with the time left.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};

/// Steps that a bar counts for one cell, so that it moves inside of one.
const STEPS: f64 = 1000.0;

/// A bar on standard error; invisible unless that is a terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    done: u64,
}

impl Progress {
    /// A bar over `cells` equal parts.
    pub(crate) fn new(name: &str, cells: usize) -> Self {
        let steps = cells as u64 * STEPS as u64;
        let bar = ProgressBar::with_draw_target(Some(steps), target());
        let template = "{prefix} {bar:30} {percent:>3}%  {eta} left  {wide_msg}";
        // The template is right or the fallback is a plain bar: no reason to fail.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(name.to_owned());
        Self { bar, done: 0 }
    }

    /// What is being measured, and which part of it is done.
    pub(crate) fn inside(&self, what: &str, part: f64) {
        self.bar.set_message(what.to_owned());
        let steps = (part.clamp(0.0, 1.0) * STEPS) as u64;
        self.bar.set_position(self.done + steps);
    }

    /// A cell is finished.
    pub(crate) fn step(&mut self) {
        self.done += STEPS as u64;
        self.bar.set_position(self.done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A line on standard error that says what is being done; invisible unless
/// that is a terminal.
#[derive(Debug)]
pub(crate) struct Spinner(ProgressBar);

impl Spinner {
    pub(crate) fn new(name: &str) -> Self {
        let bar = ProgressBar::with_draw_target(None, target());
        bar.set_prefix(name.to_owned());
        if let Ok(style) = ProgressStyle::with_template("{prefix}  {wide_msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    pub(crate) fn show(&self, what: &str) {
        self.0.set_message(what.to_owned());
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn target() -> ProgressDrawTarget {
    match stderr().is_terminal() {
        true => ProgressDrawTarget::stderr(),
        false => ProgressDrawTarget::hidden(),
    }
}
