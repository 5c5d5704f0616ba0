//! The files of `/proc`.

use crate::linux::files::below_own;
use crate::linux::process::Process;
use crate::linux::sysfs::{self, Contents, Found, Kind, Name};
use crate::linux::users::USER;
use crate::linux::world::World;
use crate::memory::right;
use manycore_chip::config::{Topology, Unit};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The nanoseconds of a tick, in which times are given.
const TICK: u64 = 10_000_000;

/// The names in `/proc`, beside the processes.
const TOP: [(&str, Kind); 6] = [
    ("cpuinfo", Kind::File),
    ("loadavg", Kind::File),
    ("meminfo", Kind::File),
    ("self", Kind::Link),
    ("stat", Kind::File),
    ("uptime", Kind::File),
];

/// The names in the process's own folder.
const NAMES: [(&str, Kind); 12] = [
    ("cmdline", Kind::File),
    ("comm", Kind::File),
    ("cwd", Kind::Link),
    ("environ", Kind::File),
    ("exe", Kind::Link),
    ("fd", Kind::Folder),
    ("maps", Kind::File),
    ("root", Kind::Link),
    ("stat", Kind::File),
    ("statm", Kind::File),
    ("status", Kind::File),
    ("task", Kind::Folder),
];

/// Returns the part of a path below the process's own folder.
fn own<'a>(process: &Process, path: &'a Path) -> Option<&'a str> {
    below_own(path, process.number)?.to_str()
}

/// Returns the target of a link if the path is a link of the process: its program, a folder or an open file.
pub(super) fn link(process: &Process, path: &Path) -> Option<PathBuf> {
    if path == Path::new("/proc/self") {
        return Some(process.number.to_string().into());
    }
    match own(process, path)? {
        "exe" => Some(process.files.program.clone()),
        "root" => Some("/".into()),
        "cwd" => Some(process.files.working_folder().to_owned()),
        name => {
            let number = name.strip_prefix("fd/")?.parse().ok()?;
            process.files.title(number)
        }
    }
}

/// Returns `/proc`, or a folder of the process itself, of its open files, or of its threads.
pub(super) fn folder(process: &Process, path: &Path) -> Option<Found> {
    let found = |names| {
        Some(Found::Folder(Contents {
            path: path.to_str()?.to_owned(),
            inode: 1,
            names,
        }))
    };
    if path == Path::new("/proc") {
        let own = [(process.number.to_string(), Kind::Folder)];
        let names = TOP.map(|(name, kind)| (name.to_owned(), kind));
        let names = (2..).zip(own.into_iter().chain(names));
        let names = names.map(|(inode, (name, kind))| Name { name, kind, inode });
        return found(names.collect());
    }
    let (numbers, kind) = match own(process, path)? {
        "" => {
            let names = (2..).zip(NAMES).map(|(inode, (name, kind))| Name {
                name: name.into(),
                kind,
                inode,
            });
            return found(names.collect());
        }
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
    found(names.collect())
}

/// Returns the text of a file in `/proc`. Returns `None` for other files.
pub(super) fn text<W: World>(process: &Process, world: &W, path: &Path) -> Option<String> {
    let path = path.to_str()?;
    let cores = world.cores();
    if let Some(name) = own(process, Path::new(path)) {
        return own_text(process, world, name);
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

fn own_text<W: World>(process: &Process, world: &W, name: &str) -> Option<String> {
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
                let kind = if region.is_shared() { 's' } else { 'p' };
                let _ = writeln!(
                    all,
                    "{start:010x}-{end:010x} {r}{w}{x}{kind} 00000000 00:00 0 {}",
                    region.name
                );
                all
            }),
        "status" => {
            let name = comm(process, process.number);
            let threads = process.threads.count();
            let space = &process.memory.space;
            let [most, resident] = [space.most_resident(), space.resident()].map(|it| it >> 10);
            let size = mapped(process) >> 10;
            let (number, parent) = (process.number, process.parent);
            format!(
                "Name:\t{name}Umask:\t{:04o}\nState:\tR (running)\nTgid:\t{number}\nNgid:\t0\nPid:\t{number}\n\
                 PPid:\t{parent}\nTracerPid:\t0\nUid:\t{USER}\t{USER}\t{USER}\t{USER}\n\
                 Gid:\t{USER}\t{USER}\t{USER}\t{USER}\nVmSize:\t{size} kB\nVmHWM:\t{most} kB\n\
                 VmRSS:\t{resident} kB\nThreads:\t{threads}\n",
                process.files.rights_mask()
            ) + &process.signals.lines(&process.threads, process.number)
                + &allowed(process, world.topology())
        }
        "stat" => {
            let name = comm(process, process.number);
            let name = name.trim_end();
            let [number, parent] = [process.number, process.parent];
            let [group, session] = [process.group, process.session];
            let threads = process.threads.count();
            let pages = process.memory.space.resident() >> 12;
            let bytes = mapped(process);
            let ticks = |time| time / TICK;
            let [used, children, began] = [
                world.busy_nanoseconds(),
                process.used_by_children,
                process.began,
            ]
            .map(ticks);
            let nice = process.nice;
            format!(
                "{number} ({name}) R {parent} {group} {session} 0 -1 0 0 0 0 0 {used} 0 {children} 0 {} {nice} \
                 {threads} 0 {began} {bytes} {pages} 18446744073709551615",
                20 + nice
            ) + &" 0".repeat(27)
                + "\n"
        }
        "statm" => {
            let pages = process.memory.space.resident() >> 12;
            let all = mapped(process) >> 12;
            format!("{all} {pages} 0 0 0 {all} 0\n")
        }
        _ => return None,
    })
}

/// The bytes of all mappings.
fn mapped(process: &Process) -> u64 {
    let regions = process.memory.space.regions();
    regions.map(|(start, region)| region.end - start).sum()
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
