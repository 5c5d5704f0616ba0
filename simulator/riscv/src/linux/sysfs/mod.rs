//! `/sys/devices/system`: the machine's cores, caches and NUMA nodes, as Linux shows them.
//!
//! All of it is computed from a [`Topology`] when a program asks. [`folder`] says what each folder
//! has, [`text`] writes sets of cores as the kernel does. Documented in Linux's
//! `Documentation/ABI/stable/sysfs-devices-system-cpu`, `sysfs-devices-node` and
//! `admin-guide/cputopology.rst`.

mod folder;
#[cfg(test)]
mod tests;
mod text;

use folder::{Child, Folder};
use manycore_chip::config::Topology;
use std::path::{Component, Path};
pub(super) use text::{list, mask};

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A file with this text.
    File(String),
    Folder(Contents),
    /// A link, which was not to be followed, and where it leads.
    Link(String),
}

/// A folder, and what it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Contents {
    /// Its path without links.
    pub(super) path: String,
    /// Its number on its volume.
    pub(super) inode: u64,
    pub(super) names: Vec<Name>,
}

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) inode: u64,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
}

/// What an absolute path leads to, if it is one of these files. `follow`: whether a link as its last
/// part stands for where it leads.
pub(super) fn find(topology: &Topology, path: &Path, follow: bool) -> Option<Found> {
    let path = path.strip_prefix("/sys").ok()?;
    let mut rest: Vec<String> = parts(path)?;
    rest.reverse();
    let mut above = vec![Folder::Top];
    while let Some(part) = rest.pop() {
        if part == ".." {
            above.pop();
            // Above the top are files that are not these.
            above.last()?;
            continue;
        }
        let here = *above.last()?;
        match here.child(topology, &part)? {
            Child::Folder(folder) => above.push(folder),
            Child::File(text) => return rest.is_empty().then_some(Found::File(text)),
            Child::Link(target) if rest.is_empty() && !follow => return Some(Found::Link(target)),
            // No link leads to another one, so this ends.
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
