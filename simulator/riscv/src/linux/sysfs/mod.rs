//! `/sys/devices/system`: the machine's cores, caches and NUMA nodes, as Linux shows them.
//!
//! Each file is computed from a [`Topology`] when a program asks. [`folder`] lists each folder. [`text`] writes sets of
//! cores as Linux does. Linux documents the files in `Documentation/ABI/stable/sysfs-devices-system-cpu`,
//! `sysfs-devices-node` and `admin-guide/cputopology.rst`.

mod folder;
#[cfg(test)]
mod tests;
mod text;

use folder::{Child, Folder};
pub(super) use folder::{Kind, Name};
use manycore_chip::config::Topology;
use std::path::{Component, Path, PathBuf};
pub(super) use text::{list, mask};

/// The file, folder or link at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    File(String),
    Folder(Contents),
    /// The target of a link that is not followed.
    Link(PathBuf),
}

/// A folder and its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Contents {
    /// The folder's path without links.
    pub(super) path: String,
    pub(super) inode: u64,
    pub(super) names: Vec<Name>,
}

/// Looks up an absolute path. Returns `None` if these folders have no such path. If `follow` is false, a link as the
/// last part stands for itself.
pub(super) fn find(topology: &Topology, path: &Path, follow: bool) -> Option<Found> {
    let path = path.strip_prefix("/sys").ok()?;
    let mut rest: Vec<String> = parts(path)?;
    rest.reverse();
    let mut above = vec![Folder::Top];
    while let Some(part) = rest.pop() {
        if part == ".." {
            above.pop();
            // A path that leads above the top is not in this tree.
            above.last()?;
            continue;
        }
        let here = *above.last()?;
        match here.child(topology, &part)? {
            Child::Folder(folder) => above.push(folder),
            Child::File(text) => return rest.is_empty().then_some(Found::File(text)),
            Child::Link(target) if rest.is_empty() && !follow => {
                return Some(Found::Link(target.into()));
            }
            // No link leads to another link, so the loop ends.
            Child::Link(target) => rest.extend(parts(Path::new(&target))?.into_iter().rev()),
        }
    }
    let folder = *above.last()?;
    Some(Found::Folder(Contents {
        path: folder.path(),
        inode: folder.inode(),
        names: folder.names(topology),
    }))
}

fn parts(path: &Path) -> Option<Vec<String>> {
    path.components()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .map(|part| Some(part.as_os_str().to_str()?.to_owned()))
        .collect()
}
