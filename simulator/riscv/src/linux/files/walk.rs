//! Follows the links in a path.

use super::host::{descriptor, is_systems};
use crate::linux::errno::{ELOOP, Errno};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// The largest number of links in a path, as under Linux.
pub(super) const LINKS: usize = 40;

/// Where a path leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// To this path.
    At {
        path: PathBuf,
        /// Whether the path has led through folders of the simulated system, which the host may lack, and out again.
        is_past: bool,
    },
    /// To a link of the process, and on by this rest of the path.
    Through(Link, PathBuf),
}

/// A link in the process's own folder in `/proc`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// `exe`.
    Program,
    /// `cwd`.
    Folder,
    /// `root`.
    Root,
    /// The link in `fd` with this number.
    Number(u64),
}

impl Link {
    /// The link at a path, if the path is a link of this process.
    fn at(path: &Path, process: u32) -> Option<Self> {
        match below_own(path, process)?.to_str()? {
            "exe" => Some(Self::Program),
            "cwd" => Some(Self::Folder),
            "root" => Some(Self::Root),
            name => name
                .strip_prefix("fd/")
                .and_then(descriptor)
                .map(Self::Number),
        }
    }
}

/// The part of a path below the own folder of this process.
pub(in crate::linux) fn below_own(path: &Path, process: u32) -> Option<&Path> {
    let path = path.strip_prefix("/proc").ok()?;
    let own = path.strip_prefix("self");
    own.or_else(|_| path.strip_prefix(process.to_string())).ok()
}

/// Whether a path can only name a folder, to which a link as its last part leads.
pub(super) fn names_folder(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    [&b"/"[..], b"/."].iter().any(|end| bytes.ends_with(end))
}

/// Resolves a path of a process with `root` as the root folder. Absolute links and `..` stay in this folder. With
/// `follow`, a link as the last part stands for its target. The links of the host's `/proc` and `/sys` are not
/// followed, since these folders are the simulated system's.
pub(super) fn within(root: &Path, path: &Path, follow: bool, process: u32) -> Result<Way, Errno> {
    let mut rest = VecDeque::from(parts(path));
    let mut found = root.to_owned();
    let (mut links, mut was_made) = (0, false);
    while let Some(part) = rest.pop_front() {
        if part == ".." {
            if found != root {
                leave(&mut found, root);
            }
            continue;
        }
        found.push(part);
        if rest.is_empty() && !follow {
            continue;
        }
        let inner = inside(&found, root);
        if is_systems(&inner) {
            was_made = true;
            if let Some(link) = Link::at(&inner, process) {
                return Ok(Way::Through(link, rest.into_iter().collect()));
            }
            continue;
        }
        let Ok(target) = fs::read_link(&found) else {
            continue;
        };
        links += 1;
        if links > LINKS {
            return Err(ELOOP);
        }
        if target.is_absolute() {
            root.clone_into(&mut found);
        } else {
            found.pop();
        }
        for part in parts(&target).into_iter().rev() {
            rest.push_front(part);
        }
    }
    let is_past = was_made && !is_systems(&inside(&found, root));
    Ok(Way::At {
        path: found,
        is_past,
    })
}

/// The absolute path, with `root` as the root folder, of a path in that folder.
pub(super) fn inside(path: &Path, root: &Path) -> PathBuf {
    Path::new("/").join(path.strip_prefix(root).unwrap_or(path))
}

/// Goes on to the folder above. The links of `/sys` are not known here, so in `/sys` the path keeps its `..`.
fn leave(found: &mut PathBuf, root: &Path) {
    let inner = inside(found, root);
    if !inner.starts_with("/sys") {
        found.pop();
        return;
    }
    let depth = inner.components().skip(1).map(|part| match part {
        Component::ParentDir => -1,
        _ => 1,
    });
    match depth.sum::<i32>() {
        ..2 => root.clone_into(found),
        _ => found.push(".."),
    }
}

fn parts(path: &Path) -> Vec<OsString> {
    path.components()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .map(|part| part.as_os_str().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use std::os::unix::fs::symlink;

    const OWN: u32 = 7;

    fn at(path: impl Into<PathBuf>, is_past: bool) -> Way {
        let path = path.into();
        Way::At { path, is_past }
    }

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
                let Ok(Way::At { path: found, .. }) = within(&root, &path, true, OWN) else {
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
        let found = within(root.path(), Path::new("/x/./y/../../../z"), true, OWN);
        assert_eq!(found, Ok(at(root.path().join("z"), false)));
    }

    /// A path to the system's files ends there, or at a link of the process, and never at a file of the host.
    #[test]
    fn links_of_the_hosts_processes_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        symlink("/proc", folder.path().join("p")).unwrap();
        let own = |path: &str| at(path, false);
        let through = |link, rest: &str| Way::Through(link, rest.into());
        for (path, way) in [
            ("p/self/maps", own("/proc/self/maps")),
            ("p/self/../7/maps", own("/proc/7/maps")),
            ("p/1/cwd/a", own("/proc/1/cwd/a")),
            ("p/self/cwd/../a", through(Link::Folder, "../a")),
            ("p/7/root/a", through(Link::Root, "a")),
            ("p/7/exe", through(Link::Program, "")),
            ("p/self/fd/3/..", through(Link::Number(3), "..")),
            ("p/../sys/devices/x/../y", own("/sys/devices/x/../y")),
            ("p/../sys/devices/../../proc", own("/proc")),
            ("p/99/../../home", at("/home", true)),
        ] {
            let found = within(Path::new("/"), &folder.path().join(path), true, OWN);
            assert_eq!(found, Ok(way), "{path}");
        }
        let link = folder.path().join("p");
        let found = within(Path::new("/"), &link, false, OWN);
        assert_eq!(found, Ok(at(link, false)));
    }
}
