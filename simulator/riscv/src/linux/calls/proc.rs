//! Files that the simulated system makes up, `/proc` and `/sys` as the machine has them; and the
//! calls that may name them.

use crate::linux::errno::{EACCES, Errno, Value};
use crate::linux::files::{EMPTY_PATH, Open, Stat, read_path};
use crate::linux::process::Process;
use crate::linux::threads::PROCESS;
use crate::linux::world::World;
use crate::memory::right;
use std::fmt::Write;
use std::path::Path;

/// The text of such a file; `None` for other files.
fn text<W: World>(process: &Process, world: &W, path: &Path) -> Option<String> {
    let path = path.to_str()?;
    let cores = world.cores();
    let own = path.strip_prefix("/proc/self/");
    let own = own.or_else(|| path.strip_prefix(&format!("/proc/{PROCESS}/")));
    if let Some(name) = own {
        return own_text(process, name);
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
        "/sys/devices/system/cpu/online"
        | "/sys/devices/system/cpu/possible"
        | "/sys/devices/system/cpu/present" => match cores {
            1 => "0\n".into(),
            _ => format!("0-{}\n", cores - 1),
        },
        "/proc/sys/kernel/osrelease" => "6.1.0\n".into(),
        "/proc/sys/vm/overcommit_memory" => "0\n".into(),
        _ => return None,
    })
}

fn own_text(process: &Process, name: &str) -> Option<String> {
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
        "status" => format!(
            "Name:\t{}\nPid:\t{PROCESS}\nThreads:\t{}\nVmRSS:\t{} kB\n",
            process.command.executable.rsplit('/').next()?,
            process.threads.count(),
            process.memory.space.resident() >> 10,
        ),
        "statm" => {
            let pages = process.memory.space.resident() >> 12;
            format!("{pages} {pages} 0 0 0 0 0\n")
        }
        _ => return None,
    })
}

/// `openat`.
pub(super) fn open<W: World>(
    process: &mut Process,
    world: &W,
    at: [u64; 2],
    [flags, mode]: [u64; 2],
) -> Value {
    let path = process.files.path_at(&mut process.memory.space, at)?;
    match text(process, world, &path) {
        Some(text) => process.files.add(Open::text(text), flags),
        None => process.files.open(&path, flags, mode),
    }
}

/// The metadata of a file.
pub(super) fn stat<W: World>(
    process: &mut Process,
    world: &W,
    at: [u64; 2],
    flags: u64,
) -> Result<Stat, Errno> {
    let space = &mut process.memory.space;
    let [folder, address] = at;
    if flags & EMPTY_PATH != 0 && read_path(space, address)?.as_os_str().is_empty() {
        return process.files.stat(folder);
    }
    let path = process.files.path_at(space, at)?;
    if text(process, world, &path).is_some() {
        return Ok(Stat::TEXT);
    }
    process.files.stat_named(&path, flags)
}

/// `faccessat`, `faccessat2`: the program's user owns all files.
pub(super) fn access<W: World>(
    process: &mut Process,
    world: &W,
    at: [u64; 2],
    flags: u64,
    wanted: u64,
) -> Value {
    let rights = stat(process, world, at, flags)?.rights();
    if wanted & 7 & !rights == 0 {
        Ok(0)
    } else {
        Err(EACCES)
    }
}
