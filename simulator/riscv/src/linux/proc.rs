//! Files that the simulated system makes up: `/proc` and `/sys` as the machine has them.

use super::{PROCESS, Process, World};
use std::fmt::Write;
use std::path::Path;

/// Whether a path is the system's own, there or not: the host's would tell of another machine.
pub(super) fn is_systems(path: &Path) -> bool {
    ["/proc", "/sys"].iter().any(|top| path.starts_with(top))
}

/// The text of such a file; `None` for other files.
pub(super) fn text<W: World>(process: &Process, world: &W, path: &Path) -> Option<String> {
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
            .arguments
            .iter()
            .fold(String::new(), |all, text| all + text + "\0"),
        "environ" => process
            .environment
            .iter()
            .fold(String::new(), |all, text| all + text + "\0"),
        "comm" => format!("{}\n", process.executable.rsplit('/').next()?),
        "maps" => process
            .space
            .regions()
            .fold(String::new(), |mut all, (start, region)| {
                let right = |bit, letter| {
                    if region.rights & bit != 0 {
                        letter
                    } else {
                        '-'
                    }
                };
                let (r, w, x) = (right(1, 'r'), right(2, 'w'), right(4, 'x'));
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
            process.executable.rsplit('/').next()?,
            process.threads.len(),
            process.space.resident() >> 10,
        ),
        "statm" => {
            let pages = process.space.resident() >> 12;
            format!("{pages} {pages} 0 0 0 0 0\n")
        }
        _ => return None,
    })
}
