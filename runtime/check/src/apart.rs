//! Searches for a fault in a separate process, if the fault may corrupt memory.

use crate::caught_at_random;
use std::process::{Command, Output, abort, exit};
use std::time::Duration;

/// The environment variable that names the search of a child process.
const PART: &str = "MANYCORE_CAUGHT_APART";
/// Precedes the checker's message on the child's standard output.
const CAUGHT: &str = "\ncaught apart: ";
/// The exit code of a test process that ends with a panic. A check that cannot fail panics too.
const PANICKED: i32 = 101;
/// A child that runs for longer hangs, which corrupted memory may cause.
const PATIENCE: Duration = Duration::from_secs(300);

/// As [`caught_at_random`], for a fault that gives one piece of memory to two threads: a lock that admits two threads,
/// or a job that runs after its frame is gone. The fault could corrupt the test itself, so the test runs again in a
/// child process, up to this search. `part` tells the searches of a test apart. The test's own function must contain
/// the closure `model`.
///
/// Returns the checker's message. `None` if the child died of the fault, and, in the child, for searches other than
/// its own.
///
/// # Panics
///
/// Panics if 200,000 schedules pass, or if the child does not find the test (another function contains `model`).
///
/// ```no_run
/// use manycore_check::{Shuttle, caught_apart};
///
/// if let Some(why) = caught_apart("empty", || panic!("no thread is there")) {
///     assert!(why.contains("no thread"));
/// }
/// ```
pub fn caught_apart<M: Fn() + Send + Sync + 'static>(part: &str, model: M) -> Option<String> {
    if let Ok(asked) = std::env::var(PART) {
        if asked == part {
            search(model);
        }
        return None;
    }
    let test = test_of::<M>();
    let output = Command::new(std::env::current_exe().expect("a test knows its program"))
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(PART, part)
        .output()
        .expect("a test can run its program again");
    said(test, part, &output)
}

/// The child's half.
fn search(model: impl Fn() + Send + Sync + 'static) -> ! {
    std::thread::spawn(|| {
        std::thread::sleep(PATIENCE);
        abort();
    });
    println!("{CAUGHT}{}", caught_at_random(model));
    exit(0);
}

fn said(test: &str, part: &str, output: &Output) -> Option<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(0) => match text.split_once(CAUGHT) {
            Some((_, why)) => Some(why.to_string()),
            None => panic!("{test} did not reach `{part}`: {text}"),
        },
        Some(PANICKED) => panic!("{test}, `{part}`: {}", panic_message(&output.stderr)),
        _ => {
            println!("{test}, `{part}`: {}", output.status);
            None
        }
    }
}

/// The text of a panic, without its backtrace.
fn panic_message(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines = text
        .lines()
        .skip_while(|line| !line.contains("panicked at"));
    let message: Vec<_> = lines
        .take_while(|line| *line != "stack backtrace:")
        .collect();
    message.join("\n")
}

/// The name of the test that contains the closure `M`, as the test harness prints it: without the crate's name.
fn test_of<M>() -> &'static str {
    let name = std::any::type_name::<M>();
    let name = name.split("::{{closure}}").next().unwrap_or(name);
    name.split_once("::").map_or(name, |(_, test)| test)
}

#[cfg(test)]
mod tests {
    use super::{PART, caught_apart};
    use crate::{Shuttle, team};
    use manycore_platform::Platform;
    use std::panic::resume_unwind;

    #[test]
    fn each_search_of_a_test_has_its_own_child() {
        for (part, word) in [("first", "one"), ("second", "two")] {
            if let Some(why) = caught_apart(part, move || panic!("{word} is found")) {
                assert!(why.contains(word), "{why}");
            }
        }
    }

    #[test]
    fn dying_is_a_finding() {
        let died = caught_apart("abort", || std::process::abort());
        assert_eq!(died, None);
    }

    #[test]
    fn a_check_that_cannot_fail_is_reported() {
        let told = std::panic::catch_unwind(|| {
            caught_apart("sound", || team::<Shuttle>(2, |_| Shuttle::yield_now()))
        });
        match told {
            Ok(why) => panic!("nothing was wrong: {why:?}"),
            Err(payload) if std::env::var(PART).is_ok() => resume_unwind(payload),
            Err(payload) => {
                let message = payload.downcast::<String>().unwrap();
                assert!(
                    message.contains("the broken variant passed its check"),
                    "{message}"
                );
            }
        }
    }
}
