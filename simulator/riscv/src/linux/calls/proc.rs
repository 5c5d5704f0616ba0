//! The files of `/proc`.

use crate::linux::process::Process;
use crate::linux::sysfs::{self, Contents, Found, Kind, Name};
use crate::linux::world::World;
use crate::memory::right;
use manycore_chip::config::{Topology, Unit};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Returns the part of a path below the process's own folder.
fn own<'a>(process: &Process, path: &'a Path) -> Option<&'a str> {
    let path = path.to_str()?;
    let own = path.strip_prefix("/proc/self/");
    own.or_else(|| path.strip_prefix(&format!("/proc/{}/", process.number)))
}

/// Returns the file that the process runs if `path` is the process's `exe`.
pub(super) fn executable(process: &Process, path: &Path) -> Option<PathBuf> {
    let is_it = own(process, path)? == "exe";
    is_it.then(|| PathBuf::from(&process.command.executable))
}

/// Returns a folder of the process itself: its open files, or its threads.
pub(super) fn folder(process: &Process, path: &Path) -> Option<Found> {
    let (numbers, kind) = match own(process, path)?.trim_end_matches('/') {
        "fd" => (process.files.numbers(0..=u64::MAX), Kind::Link),
        "task" => {
            let threads = process.threads.numbers();
            (threads.map(u64::from).collect(), Kind::Folder)
        }
        _ => return None,
    };
    let names = numbers.into_iter().map(|number| Name {
        name: number.to_string(),
        kind,
        inode: number + 1,
    });
    Some(Found::Folder(Contents {
        path: path.to_str()?.to_owned(),
        inode: 1,
        names: names.collect(),
    }))
}

/// Returns the text of a file in `/proc`. Returns `None` for other files.
pub(super) fn text<W: World>(process: &Process, world: &W, path: &Path) -> Option<String> {
    let path = path.to_str()?;
    let cores = world.cores();
    if let Some(name) = own(process, Path::new(path)) {
        return own_text(process, world.topology(), name);
    }
    Some(match path {
        "/proc/cpuinfo" => (0..cores).fold(String::new(), |mut all, core| {
            let _ = write!(
                all,
                "processor\t: {core}\nhart\t\t: {core}\nisa\t\t: {}\nmmu\t\t: sv39\n\
                 uarch\t\t: manycore simulated, {:.3} MHz\n\n",
                crate::EXTENSIONS,
                world.megahertz(),
            );
            all
        }),
        "/proc/stat" => {
            let ticks = world.busy_nanoseconds() / 10_000_000;
            let mut all = format!("cpu  {ticks} 0 0 0 0 0 0 0 0 0\n");
            for core in 0..cores {
                let _ = writeln!(
                    all,
                    "cpu{core} {} 0 0 0 0 0 0 0 0 0",
                    ticks / u64::from(cores)
                );
            }
            all
        }
        "/proc/meminfo" => "MemTotal:       16777216 kB\nMemFree:        16777216 kB\n\
                            MemAvailable:   16777216 kB\n"
            .into(),
        "/proc/loadavg" => "0.00 0.00 0.00 1/1 1000\n".into(),
        "/proc/uptime" => {
            let seconds = world.nanoseconds() as f64 / 1e9;
            format!("{seconds:.2} {seconds:.2}\n")
        }
        "/proc/sys/kernel/osrelease" => "6.1.0\n".into(),
        "/proc/sys/vm/overcommit_memory" => "0\n".into(),
        _ => return None,
    })
}

fn own_text(process: &Process, topology: &Topology, name: &str) -> Option<String> {
    if let Some(thread) = name.strip_prefix("task/") {
        let number = thread.strip_suffix("/comm")?.parse().ok()?;
        process.threads.get(number)?;
        return Some(comm(process, number));
    }
    Some(match name {
        "cmdline" => process
            .command
            .arguments
            .iter()
            .fold(String::new(), |all, text| all + text + "\0"),
        "environ" => process
            .command
            .environment
            .iter()
            .fold(String::new(), |all, text| all + text + "\0"),
        "comm" => comm(process, process.number),
        "maps" => process
            .memory
            .space
            .regions()
            .fold(String::new(), |mut all, (start, region)| {
                let letter = |bit, letter| {
                    if region.rights & bit != 0 {
                        letter
                    } else {
                        '-'
                    }
                };
                let (r, w, x) = (
                    letter(right::READ, 'r'),
                    letter(right::WRITE, 'w'),
                    letter(right::EXECUTE, 'x'),
                );
                let end = region.end;
                let _ = writeln!(
                    all,
                    "{start:010x}-{end:010x} {r}{w}{x}p 00000000 00:00 0 {}",
                    region.name
                );
                all
            }),
        "status" => {
            let name = process.command.executable.rsplit('/').next()?;
            let threads = process.threads.count();
            let resident = process.memory.space.resident() >> 10;
            let (number, parent) = (process.number, process.parent);
            format!(
                "Name:\t{name}\nPid:\t{number}\nPPid:\t{parent}\nThreads:\t{threads}\nVmRSS:\t{resident} kB\n"
            ) + &allowed(process, topology)
        }
        "stat" => {
            let name = process.command.executable.rsplit('/').next()?;
            let [number, parent] = [process.number, process.parent];
            let [group, session] = [process.group, process.session];
            let threads = process.threads.count();
            let pages = process.memory.space.resident() >> 12;
            let bytes = pages << 12;
            format!(
                "{number} ({name}) R {parent} {group} {session} 0 -1 0 0 0 0 0 0 0 0 0 20 0 \
                 {threads} 0 0 {bytes} {pages} 18446744073709551615"
            ) + &" 0".repeat(27)
                + "\n"
        }
        "statm" => {
            let pages = process.memory.space.resident() >> 12;
            format!("{pages} {pages} 0 0 0 0 0\n")
        }
        _ => return None,
    })
}

/// The name of a thread in the files of `/proc`: 15 bytes at most. A character that does not fit whole is left out.
fn comm(process: &Process, number: u32) -> String {
    let name = process.name_of(number);
    name[..name.floor_char_boundary(15)].to_owned() + "\n"
}

/// The lines of `status` that list the allowed cores and NUMA nodes.
fn allowed(process: &Process, topology: &Topology) -> String {
    let cores = topology.cores();
    let nodes = topology.count(Unit::Node);
    let cpus: Vec<u32> = match process.threads.cores_of(process.number) {
        [] => (0..cores).collect(),
        own => own.iter().map(|&core| core as u32).collect(),
    };
    let lines = [
        ("Cpus_allowed", sysfs::mask(cpus.iter().copied(), cores)),
        ("Cpus_allowed_list", sysfs::list(cpus.iter().copied())),
        ("Mems_allowed", sysfs::mask(0..nodes, nodes)),
        ("Mems_allowed_list", sysfs::list(0..nodes)),
    ];
    lines
        .map(|(name, set)| format!("{name}:\t{set}\n"))
        .concat()
}
