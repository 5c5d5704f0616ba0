//! The host's path for each path that a program names.

use super::open::Open;
use super::paths::IN_MEMORY;
use super::table::Files;
use super::walk::{LINKS, Link, Way, below_own, inside, names_folder, within};
use crate::linux::errno::{ELOOP, ENOENT, ENOTDIR, Errno};
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

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

/// What a path of the program stands for.
pub(super) enum Place {
    /// A file that the simulated system makes up. A path below the process's own folder begins with `/proc/self`.
    Made(PathBuf),
    /// A file of the host, or a new file there.
    Host {
        /// The program's path, which does not lead through links of the process.
        path: PathBuf,
        host: PathBuf,
    },
}

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

/// The number of an open file that a name in a folder of such numbers stands for: digits without a sign or zeros before
/// them.
pub(super) fn descriptor(name: &str) -> Option<u64> {
    let number: u32 = name.parse().ok()?;
    (number.to_string() == name).then_some(number.into())
}

/// The number of the open file that a path stands for.
pub(crate) fn open_number(path: &Path) -> Option<u64> {
    match path.to_str()? {
        "/dev/stdin" => Some(0),
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        path => ["/dev/fd/", "/proc/self/fd/"]
            .iter()
            .find_map(|folder| path.strip_prefix(folder).and_then(descriptor)),
    }
}

impl Files {
    /// The target of the link in `/proc/self/fd` for an open file. Numbers of streams are not kept apart.
    pub(crate) fn title(&self, number: u64) -> Option<PathBuf> {
        let of_host = |file: &File| {
            let path = fs::read_link(by_number(file)).ok()?;
            Some(self.in_root(&path))
        };
        Some(match self.get_place(number).ok()? {
            Open::File { path, .. } if path.starts_with(IN_MEMORY) => PathBuf::from(&**path),
            Open::File { file, .. } => return of_host(file),
            Open::Stream(end) if let Some(opened) = end.fifo() => return of_host(opened.file()),
            Open::Folder { path, .. } => self.in_root(path),
            Open::Made { path, .. } => path.clone(),
            Open::Stream(end) if end.is_socket() => "socket:[1]".into(),
            Open::Socket(_) => "socket:[1]".into(),
            Open::Stream(_) | Open::Input | Open::Output | Open::Error => "pipe:[1]".into(),
            Open::Events(_) => "anon_inode:[eventfd]".into(),
            Open::Clock(_) => "anon_inode:[timerfd]".into(),
            Open::Signals(_) => "anon_inode:[signalfd]".into(),
            Open::Group(_) => "anon_inode:[eventpoll]".into(),
            Open::Random => "/dev/urandom".into(),
            Open::Text { .. } | Open::Place { .. } => return None,
        })
    }

    /// The program's path for a path of the host.
    fn in_root(&self, path: &Path) -> PathBuf {
        match &self.root {
            Some(root) => inside(path, root),
            None => path.to_owned(),
        }
    }

    /// What a path stands for. With `follow`, a link as the last part stands for its target.
    pub(super) fn place(&self, mut path: PathBuf, follow: bool) -> Result<Place, Errno> {
        let follow = follow || names_folder(&path);
        for _ in 0..LINKS {
            // The links in `/dev` to open files are there on every host.
            if let Some(number) = open_number(&path).filter(|_| path.starts_with("/dev")) {
                if !follow {
                    return Ok(Place::Made(path));
                }
                path = format!("/proc/self/fd/{number}").into();
            }
            let (link, rest) = match self.way(&path, follow)? {
                Way::Through(link, rest) => (link, rest),
                Way::At { path: found, .. } if is_systems(&found) => {
                    let below = below_own(&found, self.process);
                    let below = below.filter(|below| !below.as_os_str().is_empty());
                    let own = below.map(|below| Path::new("/proc/self").join(below));
                    return Ok(Place::Made(own.unwrap_or(found)));
                }
                // The program gets its own random bytes, by whatever path.
                Way::At { path: host, .. } if is_random(&host) => {
                    let path = host.clone();
                    return Ok(Place::Host { path, host });
                }
                Way::At { path: host, .. } => return Ok(Place::Host { path, host }),
            };
            let target = match link {
                Link::Program => &*self.program,
                Link::Folder => Path::new("."),
                Link::Root => Path::new("/"),
                Link::Number(number) => match self.get_place(number).map_err(|_| ENOENT)? {
                    Open::Folder { path, .. } | Open::Made { path, .. } => path,
                    _ if rest.as_os_str().is_empty() => {
                        return Ok(Place::Made(format!("/proc/self/fd/{number}").into()));
                    }
                    _ => return Err(ENOTDIR),
                },
            };
            path = target.components().chain(rest.components()).collect();
        }
        Err(ELOOP)
    }

    /// Where a path leads: to a link of the process, to a path of the simulated system, or to a path of the host. An
    /// absolute path, or a path from a folder under the root, leads to the file under the root if there is such a file.
    /// Any other path leads to the host's file, unless that is one of [`HOSTS`].
    fn way(&self, path: &Path, follow: bool) -> Result<Way, Errno> {
        let mut outer = self.folder.join(path);
        let is_everywhere = path.is_absolute() || is_systems(&self.folder);
        let root = self.root.as_deref();
        if let Some(root) = root.filter(|root| is_everywhere || outer.starts_with(root)) {
            let is_inside = outer.starts_with(root);
            let inner = inside(&outer, root);
            let found = match within(root, &inner, follow, self.process)? {
                Way::At { path, .. } => path,
                through @ Way::Through(..) => return Ok(through),
            };
            let inner = inside(&found, root);
            // The root's sources of random bytes are not read.
            let is_made = is_systems(&inner) || is_random(&inner);
            if is_made || found.symlink_metadata().is_ok() {
                let path = if is_made { inner } else { found };
                let is_past = false;
                return Ok(Way::At { path, is_past });
            }
            if !is_inside {
                outer = inner;
            }
        }
        let way = within(Path::new("/"), &outer, follow, self.process)?;
        let Way::At {
            path: host,
            is_past,
        } = &way
        else {
            return Ok(way);
        };
        let is_in = |names: &[&str]| names.iter().any(|name| host.starts_with(name));
        if is_systems(host) || is_random(host) {
            return Ok(way);
        }
        let is_hosts = is_in(&HOSTS) && !is_in(&DEVICES);
        if is_hosts && !root.is_some_and(|root| host.starts_with(root)) {
            return Err(ENOENT);
        }
        if *is_past {
            return Ok(way);
        }
        // The host finds errors in the whole path, such as a file in the place of a folder.
        Ok(Way::At {
            path: outer,
            is_past: false,
        })
    }

    /// The host's path for the program's `path`.
    pub(crate) fn host_path(&self, path: &Path, follow: bool) -> Result<PathBuf, Errno> {
        match self.place(path.to_owned(), follow)? {
            Place::Host { host, .. } => Ok(host),
            Place::Made(path) => {
                let number = open_number(&path).ok_or(ENOENT)?;
                let open = self.get_place(number).map_err(|_| ENOENT)?;
                path_of(open).ok_or(ENOENT)
            }
        }
    }
}

/// A path by which the host opens a file again, even if the file has no name any more.
fn by_number(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// The host's path of an open file, if the host has that file.
pub(super) fn path_of(open: &Open) -> Option<PathBuf> {
    match open {
        Open::File { file, .. } => Some(by_number(file)),
        Open::Folder { path, .. } => Some(path.clone()),
        Open::Stream(end) => end.fifo().map(|opened| by_number(opened.file())),
        _ => None,
    }
}
