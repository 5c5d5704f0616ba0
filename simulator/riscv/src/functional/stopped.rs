//! Describes the threads of a stopped program.

use super::Functional;
use crate::linux::{System, name};

/// The largest number of threads that a message names.
const SHOWN: usize = 16;

impl Functional {
    /// A message with the reason for the stop, and what each thread does.
    pub(super) fn stopped(&self, why: &str, system: &System) -> String {
        let all_spin = self.all_spin();
        let ready = self.ready.iter().map(|(handle, task)| {
            let word = self.spins.get(handle).filter(|_| all_spin);
            let what = match word {
                Some(word) => format!("spins on {}", system.describe_word(*word)),
                None => format!("runs at {}", system.describe_here(task)),
            };
            (task, what)
        });
        let blocked = self.blocked.iter().map(|(handle, task)| {
            let what = match self.sleepers.get(handle) {
                Some((word, _)) => {
                    let word = system.describe_wait(&name(task), *word);
                    format!("sleeps on the futex {word}")
                }
                None => "waits for another thread to end".into(),
            };
            (task, what)
        });
        let mut threads: Vec<_> = ready.chain(blocked).collect();
        threads.sort_unstable_by_key(|(task, _)| task.number());
        let more = threads.len().saturating_sub(SHOWN);
        let shown = threads.iter().take(SHOWN);
        let mut texts: Vec<String> = shown
            .map(|(task, what)| format!("thread {} {what}", name(task)))
            .collect();
        if more > 0 {
            texts.push(format!("and {more} more"));
        }
        format!("{why} {} instructions: {}", self.clock, texts.join("; "))
    }
}
