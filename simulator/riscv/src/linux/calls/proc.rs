//! The files of `/proc`.

use crate::linux::process::Process;
use crate::linux::sysfs;
use crate::linux::world::World;
use crate::memory::right;
use manycore_chip::config::{Topology, Unit};
use std::fmt::Write;
use std::path::Path;

/// The text of such a file; `None` for other files.
pub(super) fn text<W: World>(process: &Process, world: &W, path: &Path) -> Option<String> {
    let path = path.to_str()?;
    let cores = world.cores();
    let own = path.strip_prefix("/proc/self/");
    let own = own.or_else(|| path.strip_prefix(&format!("/proc/{}/", process.number)));
    if let Some(name) = own {
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
        "comm" => format!("{}\n", process.command.executable.rsplit('/').next()?),
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
        "statm" => {
            let pages = process.memory.space.resident() >> 12;
            format!("{pages} {pages} 0 0 0 0 0\n")
        }
        _ => return None,
    })
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
