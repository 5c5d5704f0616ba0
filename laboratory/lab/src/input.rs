//! Reads files that the user names.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The most bytes of a file. This is a hundred times the largest table of latencies in `data`, and ten times the
/// largest figure.
const LARGEST: u64 = 4 << 20;

/// The text of a file. A file of more than [`LARGEST`] bytes is an error, so that a device or a disk image does not
/// fill the memory.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let file = File::open(path)?;
    file.take(LARGEST + 1).read_to_string(&mut text)?;
    match text.len() as u64 > LARGEST {
        true => Err(io::Error::new(
            ErrorKind::InvalidData,
            format!("more than {LARGEST} bytes"),
        )),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_file_is_refused_before_all_of_it_is_read() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("f");
        std::fs::write(&path, "a,b").unwrap();
        assert_eq!(read(&path).unwrap(), "a,b");
        // The file has ten terabytes without contents.
        let large = File::options().write(true).open(&path).unwrap();
        if large.set_len(10 << 40).is_ok() {
            let error = read(&path).unwrap_err().to_string();
            assert_eq!(error, "more than 4194304 bytes");
        }
        assert!(read(home.path()).is_err());
    }
}
