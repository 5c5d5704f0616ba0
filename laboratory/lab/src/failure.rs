//! The ways in which a command fails, and the exit status of each for scripts.

use manycore_figure::FormError;
use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// The user's request is impossible: exit status 2.
///
/// The message is one line. It names the flag, key or file, and what was expected.
#[derive(Debug)]
pub(crate) struct BadInput(pub(crate) String);

/// The user pressed ctrl-C: exit status 130, as a shell reports it.
#[derive(Debug)]
pub(crate) struct Interrupted(pub(crate) String);

impl Interrupted {
    /// An interruption after `done` of `all` cells, which the journal (the file of measurements) keeps.
    pub(crate) fn keeping(done: usize, all: usize, journal: &Path) -> Self {
        Self(format!(
            "interrupted; {done} of {all} cells are measured and kept in {}. The same command \
             continues from there; with --fresh it begins again",
            journal.display()
        ))
    }
}

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadInput {}
impl std::error::Error for Interrupted {}

/// Makes a [`BadInput`] as an error of a command.
pub(crate) fn bad_input(message: impl Into<String>) -> anyhow::Error {
    BadInput(message.into()).into()
}

/// Reports an error to the user, on one line, and to a script, by the exit status.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    // A reader that closes the pipe early (`| head`) is not a failure.
    if error.chain().any(is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    let line = format!("{error:#}").replace(['\r', '\n'], " ");
    let line = readable(line, std::env::args_os());
    // If standard error is closed too, only the exit status reports the error.
    let _ = io::Write::write_all(&mut io::stderr(), format!("manycore: {line}\n").as_bytes());
    match () {
        () if error.is::<BadInput>() || error.is::<FormError>() => ExitCode::from(2),
        () if error.is::<Interrupted>() => ExitCode::from(130),
        () => ExitCode::FAILURE,
    }
}

/// The most letters of an argument or word that is shown whole. A path is hardly longer.
const SHOWN: usize = 240;

/// Returns `line` with all texts cut that are longer than [`SHOWN`]: arguments, the parts of an argument around an `=`
/// and between commas, and all other words.
fn readable(mut line: String, arguments: impl Iterator<Item = OsString>) -> String {
    for argument in arguments {
        let argument = argument.to_string_lossy().replace(['\r', '\n'], " ");
        // An argument has at most the form `--FLAG=KEY=VALUE`.
        let values = std::iter::successors(Some(&*argument), |value| {
            value.split_once('=').map(|(_, value)| value)
        });
        for value in values.take(3) {
            let key = value.split('=').take(1);
            for long in [value].into_iter().chain(key).chain(value.split(',')) {
                if let Some(short) = cut(long.trim()) {
                    line = line.replace(long.trim(), &short);
                }
            }
        }
    }
    let words = line.split(' ');
    let words: Vec<Cow<'_, str>> = words
        .map(|word| cut(word).map_or(word.into(), Cow::from))
        .collect();
    words.join(" ")
}

/// Returns the beginning and the end of a text that is longer than [`SHOWN`], with its length. Returns `None` for a
/// shorter text.
fn cut(text: &str) -> Option<String> {
    let letters = text.chars().count();
    let at = |letter| text.char_indices().nth(letter).map(|(at, _)| at);
    let (head, tail) = (at(60)?, at(letters.checked_sub(20)?)?);
    let (head, tail) = (&text[..head], &text[tail..]);
    (letters > SHOWN).then(|| format!("{head}[...{letters} letters...]{tail}"))
}

fn is_broken_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    fn text(rng: &mut Rng, letters: &[char], most: usize) -> String {
        let length = rng.usize(..=most);
        (0..length)
            .map(|_| letters[rng.usize(..letters.len())])
            .collect()
    }

    #[test]
    fn long_texts_are_cut_and_short_texts_stay() {
        let mut rng = Rng::with_seed(1);
        for case in 0..500 {
            let most = [20, SHOWN, 2_000][case % 3];
            let letters = [&['a', 'é', ' ', '=', ','][..], &['a', 'é']][case % 2];
            let value = text(&mut rng, letters, most);
            let key = text(&mut rng, &['k', 'é', '.'], 20);
            let argument = format!("{}{key}={value}", ["", "--set="][rng.usize(..2)]);
            let line = format!("--set {argument}: found `{}`, expected less", value.trim());
            let shown = readable(line.clone(), [argument.clone().into()].into_iter());
            let short = |text: &str| text.chars().count() <= SHOWN;
            if short(&argument) && line.split(' ').all(short) {
                assert_eq!(shown, line);
            }
            // The line has at most two long texts and the rest of the sentence.
            assert!(shown.chars().count() < 3 * SHOWN, "{shown}");
            assert!(shown.ends_with(", expected less"), "{shown}");
        }
    }
}
