//! How a command fails, and the exit status that tells a script why.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// The user asked for something that cannot be: exit status 2.
///
/// One line that names the flag, key or file and what was expected.
#[derive(Debug)]
pub(crate) struct BadInput(pub(crate) String);

/// The user pressed ctrl-C: exit status 130, as a shell reports it.
#[derive(Debug)]
pub(crate) struct Interrupted(pub(crate) String);

impl Interrupted {
    /// With `done` of `all` cells measured, which the journal keeps.
    pub(crate) fn keeping(done: usize, all: usize, journal: &Path) -> Self {
        Self(format!(
            "interrupted with {done} of {all} cells measured, kept in {}; the same command goes on \
             from there, and with --fresh begins again",
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

/// A [`BadInput`] as an error of a command.
pub(crate) fn bad_input(message: impl Into<String>) -> anyhow::Error {
    BadInput(message.into()).into()
}

/// Tells the user, on one line, and a script, by the exit status.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    // A reader that has seen enough (`| head`) is no failure.
    if error.chain().any(is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    let line = format!("{error:#}").replace(['\r', '\n'], " ");
    // If standard error is gone too, the exit status has to do.
    let _ = io::Write::write_all(&mut io::stderr(), format!("manycore: {line}\n").as_bytes());
    match () {
        () if error.is::<BadInput>() => ExitCode::from(2),
        () if error.is::<Interrupted>() => ExitCode::from(130),
        () => ExitCode::FAILURE,
    }
}

fn is_broken_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
