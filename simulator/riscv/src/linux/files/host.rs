//! The host's path for each path that a program names.

use super::open::Open;
use super::paths::IN_MEMORY;
use super::table::Files;
use crate::linux::errno::{ELOOP, ENOENT, Errno};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Component, Path, PathBuf};

/// The host's own settings, libraries and devices. These files are not for the simulated machine, and a run that read
/// them would depend on the host.
const HOSTS: [&str; 11] = [
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libx32",
    "/usr/libexec",
    "/dev",
];

/// Devices that are the same on every host, and the folder of named shared memory.
const DEVICES: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/shm",
];

/// The largest number of links in a path, as under Linux.
const LINKS: usize = 40;

/// Whether a path belongs to the simulated system, even if there is no such file. The host's file would describe
/// another machine.
pub(crate) fn is_systems(path: &Path) -> bool {
    ["/proc", "/sys"].iter().any(|top| path.starts_with(top))
}

/// Whether a path is a source of random bytes. Such bytes come from the run's seed.
pub(crate) fn is_random(path: &Path) -> bool {
    ["/dev/random", "/dev/urandom"]
        .iter()
        .any(|name| path == Path::new(name))
}

/// The number of the open file that a path stands for.
pub(crate) fn open_number(path: &Path) -> Option<u64> {
    match path.to_str()? {
        "/dev/stdin" => Some(0),
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        path => ["/dev/fd/", "/proc/self/fd/"]
            .iter()
            .find_map(|folder| path.strip_prefix(folder)?.parse().ok()),
    }
}

impl Files {
    /// The target of the link in `/proc/self/fd` for an open file. Numbers of streams are not kept apart.
    pub(crate) fn title(&self, number: u64) -> Option<String> {
        let of_host = |file: &File| {
            let link = format!("/proc/self/fd/{}", file.as_raw_fd());
            let path = fs::read_link(link).ok()?;
            Some(self.in_root(&path).display().to_string())
        };
        Some(match self.get(number).ok()? {
            Open::File { path, .. } if path.starts_with(IN_MEMORY) => path.to_string(),
            Open::File { file, .. } => return of_host(file),
            Open::Stream(end) if let Some(opened) = end.fifo() => return of_host(opened.file()),
            Open::Folder { path, .. } => self.in_root(path).display().to_string(),
            Open::Made { path, .. } => path.display().to_string(),
            Open::Stream(end) if end.is_socket() => "socket:[1]".into(),
            Open::Socket(_) => "socket:[1]".into(),
            Open::Stream(_) | Open::Input | Open::Output | Open::Error => "pipe:[1]".into(),
            Open::Events(_) => "anon_inode:[eventfd]".into(),
            Open::Clock(_) => "anon_inode:[timerfd]".into(),
            Open::Signals(_) => "anon_inode:[signalfd]".into(),
            Open::Group(_) => "anon_inode:[eventpoll]".into(),
            Open::Random => "/dev/urandom".into(),
            Open::Text { .. } => return None,
        })
    }

    /// The program's path for a path of the host.
    fn in_root(&self, path: &Path) -> PathBuf {
        let root = self.root.as_deref();
        let below = root.and_then(|root| path.strip_prefix(root).ok());
        below.map_or_else(|| path.to_owned(), |below| Path::new("/").join(below))
    }

    /// The host's path for the program's `path`: the file under the root, if there is such a file, or else the host's
    /// file of this path, unless that is one of [`HOSTS`]. With `follow`, a link as the last part stands for its
    /// target.
    pub(crate) fn host_path(&self, path: &Path, follow: bool) -> Result<PathBuf, Errno> {
        // An open file by its number. The simulator's process has the file open too.
        if let Some(Ok(open)) = open_number(path).map(|number| self.get(number)) {
            return match open {
                Open::File { file, .. } => Ok(format!("/proc/self/fd/{}", file.as_raw_fd()).into()),
                Open::Folder { path, .. } => Ok(path.clone()),
                _ => Err(ENOENT),
            };
        }
        // The files by which the simulated system describes itself are never files of the host.
        if is_systems(path) {
            return Err(ENOENT);
        }
        if path.is_relative() {
            let here = self.folder.join(path);
            return if is_systems(&here) {
                Err(ENOENT)
            } else {
                Ok(here)
            };
        }
        let mut inner = path.to_owned();
        if let Some(root) = &self.root {
            let found = within(root, path, follow)?;
            if found.symlink_metadata().is_ok() {
                return Ok(found);
            }
            if let Ok(rest) = found.strip_prefix(root) {
                inner = Path::new("/").join(rest);
            }
        }
        let host = within(Path::new("/"), &inner, true)?;
        let is_in = |names: &[&str]| names.iter().any(|name| host.starts_with(name));
        if is_systems(&host) || is_in(&HOSTS) && !is_in(&DEVICES) {
            return Err(ENOENT);
        }
        Ok(inner)
    }
}

/// Resolves a path with `root` as the root folder. Absolute links and `..` stay in this folder.
fn within(root: &Path, path: &Path, follow: bool) -> Result<PathBuf, Errno> {
    let parts = |path: &Path| -> Vec<OsString> {
        path.components()
            .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
            .map(|part| part.as_os_str().to_owned())
            .collect()
    };
    let mut rest = VecDeque::from(parts(path));
    let mut found = root.to_owned();
    let mut links = 0;
    while let Some(part) = rest.pop_front() {
        if part == ".." {
            if found != root {
                found.pop();
            }
            continue;
        }
        let next = found.join(part);
        let followed = follow || !rest.is_empty();
        let Some(target) = followed.then(|| fs::read_link(&next).ok()).flatten() else {
            found = next;
            continue;
        };
        links += 1;
        if links > LINKS {
            return Err(ELOOP);
        }
        if target.is_absolute() {
            root.clone_into(&mut found);
        }
        for part in parts(&target).into_iter().rev() {
            rest.push_front(part);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use std::os::unix::fs::symlink;

    /// A random path of a small tree. Parts may be `..`.
    fn random_path(rng: &mut Rng) -> PathBuf {
        let parts = ["a", "b", "c", "..", ".", "missing"];
        let start = if rng.bool() { "/" } else { "" };
        let parts = (0..rng.usize(1..5)).map(|_| parts[rng.usize(..parts.len())]);
        PathBuf::from(start).join(parts.collect::<PathBuf>())
    }

    /// A path stays in the root, whatever links it follows.
    #[test]
    fn random_links_stay_in_the_root() {
        let mut rng = Rng::with_seed(19);
        let mut there = 0;
        for _ in 0..200 {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap().join("root");
            fs::create_dir_all(root.join("a/b/c")).unwrap();
            fs::create_dir_all(root.join("b/a")).unwrap();
            for place in ["c", "a/a", "a/c", "b/b", "b/a/c"] {
                let _ = symlink(random_path(&mut rng), root.join(place));
            }
            for _ in 0..20 {
                let path = Path::new("/").join(random_path(&mut rng));
                let Ok(found) = within(&root, &path, true) else {
                    continue;
                };
                assert!(found.starts_with(&root), "{path:?} is {found:?}");
                if let Ok(file) = found.canonicalize() {
                    there += 1;
                    assert!(file.starts_with(&root), "{path:?} is {found:?}, {file:?}");
                }
            }
        }
        assert!(there > 1_000, "{there}");
        let root = tempfile::tempdir().unwrap();
        let found = within(root.path(), Path::new("/x/./y/../../../z"), true);
        assert_eq!(found, Ok(root.path().join("z")));
    }
}
