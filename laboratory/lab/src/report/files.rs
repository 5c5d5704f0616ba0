//! The output folder. The command checks the folder before it measures anything. Only one process at a time writes to
//! the folder, which never has an incomplete file.

use super::lock::FolderLock;
use crate::failure::bad_input;
use anyhow::anyhow;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A folder that was writable when the command began. It belongs to this process until the process ends.
#[derive(Debug)]
pub(crate) struct OutFolder {
    path: PathBuf,
    _lock: FolderLock,
}

impl OutFolder {
    /// Makes the folder if it does not exist, and tries to write to it. So a study fails before it measures, not when
    /// it writes its results.
    pub(crate) fn prepare(path: &Path) -> anyhow::Result<Self> {
        let refused = |what: &str, error: io::Error| {
            bad_input(format!(
                "--out {}: {what}: {}; expected a folder to which this user can write, or which \
                 this user can make",
                path.display(),
                reason(&error)
            ))
        };
        fs::create_dir_all(path).map_err(|error| refused("cannot make this folder", error))?;
        tempfile::NamedTempFile::new_in(path)
            .and_then(|mut probe| probe.write_all(b"writable?"))
            .map_err(|error| refused("cannot write to this folder", error))?;
        Ok(Self {
            path: path.to_owned(),
            _lock: FolderLock::take(path)?,
        })
    }

    /// The path of a file of this name.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a whole file or, if that fails, nothing.
    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> anyhow::Result<PathBuf> {
        let path = self.path(name);
        let mut temporary = tempfile::Builder::new();
        readable(&mut temporary);
        let written = temporary.tempfile_in(&self.path).and_then(|mut file| {
            file.write_all(contents.as_ref())?;
            file.persist(&path).map_err(|error| error.error)
        });
        match written {
            Ok(_) => Ok(path),
            Err(error) => Err(anyhow!(
                "cannot write {}: {}",
                path.display(),
                reason(&error)
            )),
        }
    }
}

/// The system's message, without the name of a temporary file, which a user does not know.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let named = text.rsplit_once(" at path ");
    named.map_or(&*text, |(reason, _)| reason).to_owned()
}

/// Gives a new file the usual rights, as far as the process's umask allows. A temporary file is private by default.
#[cfg(unix)]
fn readable(file: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    file.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn readable(_: &mut tempfile::Builder<'_, '_>) {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::BadInput;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_else_stays() {
        let home = tempfile::tempdir().unwrap();
        let out = OutFolder::prepare(&home.path().join("a/b")).unwrap();
        out.write("x.csv", "one").unwrap();
        let path = out.write("x.csv", "two").unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "two");
        let entries = fs::read_dir(home.path().join("a/b")).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        assert_eq!(names, [".lock", "x.csv"]);
    }

    #[test]
    fn a_file_in_the_way_is_bad_input() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        for path in [file.clone(), file.join("below")] {
            let error = OutFolder::prepare(&path).unwrap_err();
            assert!(error.is::<BadInput>(), "{error}");
            let text = error.to_string();
            assert!(text.contains("--out"), "{text}");
            assert!(text.contains("expected a folder"), "{text}");
        }
    }

    #[test]
    fn the_error_names_only_the_file_that_cannot_be_written() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("gone");
        let out = OutFolder::prepare(&path).unwrap();
        fs::remove_dir_all(&path).unwrap();
        let error = format!("{:#}", out.write("x.csv", "").unwrap_err());
        let begin = format!("cannot write {}: ", path.join("x.csv").display());
        assert!(error.starts_with(&begin), "{error}");
        assert_eq!(error.matches("gone").count(), 1, "{error}");
    }
}
