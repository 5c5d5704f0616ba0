//! The preset's file. A bad name is refused before the measurement. Readers never see a half-written file.

use crate::failure::bad_input;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A new file. It appears under its name only once it is written.
pub(crate) struct PresetFile {
    path: PathBuf,
    file: NamedTempFile,
}

impl PresetFile {
    /// # Errors
    ///
    /// Fails if the name is not that of a machine, if the file exists, or if its folder cannot be written to.
    pub(crate) fn prepare(path: &Path) -> anyhow::Result<Self> {
        let refused = |what: String| bad_input(format!("--as-preset {}: {what}", path.display()));
        if path.extension().is_none_or(|extension| extension != "toml") {
            return Err(refused(
                "expected a name that ends in .toml, which --on requires".into(),
            ));
        }
        if path.symlink_metadata().is_ok() {
            return Err(refused(
                "this file exists; expected the name of a new file".into(),
            ));
        }
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let mut options = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            options.permissions(std::fs::Permissions::from_mode(0o666));
        }
        match options.prefix(".preset").tempfile_in(folder) {
            Ok(file) => Ok(Self {
                path: path.to_owned(),
                file,
            }),
            Err(error) => Err(refused(format!(
                "cannot write to {}: {}; expected a folder to which this user can write",
                folder.display(),
                error.kind()
            ))),
        }
    }

    pub(crate) fn write(mut self, text: &str) -> anyhow::Result<PathBuf> {
        self.file.write_all(text.as_bytes())?;
        self.file.persist_noclobber(&self.path)?;
        Ok(self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::BadInput;

    #[test]
    fn a_file_appears_once_and_as_a_whole() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("mine.toml");
        let file = PresetFile::prepare(&path).unwrap();
        assert!(!path.exists());
        file.write("cores = 2\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "cores = 2\n");
        for wrong in [
            path,
            home.path().join("mine"),
            home.path().join("none/mine.toml"),
        ] {
            let error = PresetFile::prepare(&wrong).err().unwrap();
            assert!(error.is::<BadInput>(), "{error}");
            assert!(error.to_string().contains("expected"), "{error}");
        }
        // A file that was not written leaves nothing behind.
        drop(PresetFile::prepare(&home.path().join("other.toml")).unwrap());
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
