//! Runs a program until it ends, or until its time is over.

use anyhow::Context;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

pub(in crate::study) struct Run<'a> {
    pub(in crate::study) program: &'a Path,
    pub(in crate::study) arguments: &'a [String],
    pub(in crate::study) variables: &'a [(&'static str, String)],
    /// The CPUs that the program may use.
    pub(in crate::study) cpus: &'a [usize],
    pub(in crate::study) limit: Duration,
}

pub(in crate::study) struct Ended {
    pub(in crate::study) seconds: f64,
    /// Processor time of all threads of the program, in seconds: in user mode, and in the kernel.
    pub(in crate::study) user: f64,
    pub(in crate::study) system: f64,
    /// The text that the program wrote to both streams.
    pub(in crate::study) output: String,
    /// Whether the program's exit status is 0.
    pub(in crate::study) succeeded: bool,
    pub(in crate::study) timed_out: bool,
}

/// Variables of the user's environment that would change how a program runs.
const OURS_TO_SET: [&str; 11] = [
    "OMP_NUM_THREADS",
    "OMP_SCHEDULE",
    "OMP_WAIT_POLICY",
    "OMP_PROC_BIND",
    "OMP_PLACES",
    "OMP_DYNAMIC",
    "OMP_DISPLAY_ENV",
    "OMP_THREAD_LIMIT",
    "GOMP_CPU_AFFINITY",
    "GOMP_SPINCOUNT",
    "LD_PRELOAD",
];

/// The beginnings of the names of further such variables.
const PREFIXES: [&str; 2] = ["KMP_", "MANYCORE_OMP_"];

impl Run<'_> {
    #[cfg(target_os = "linux")]
    pub(in crate::study) fn to_its_end(&self) -> anyhow::Result<Ended> {
        use std::io::{Read, Seek};
        use std::os::unix::process::{CommandExt, ExitStatusExt};
        use std::process::{Command, ExitStatus, Stdio};
        use std::sync::mpsc;
        use std::time::Instant;

        let mut written = tempfile::tempfile()?;
        let mask = mask(self.cpus);
        let mut command = Command::new(self.program);
        command
            .args(self.arguments)
            .stdin(Stdio::null())
            .stdout(written.try_clone()?)
            .stderr(written.try_clone()?)
            // In its own process group, the program does not get ctrl-C, so a run that has begun is finished.
            .process_group(0);
        if let Some(folder) = self.program.parent() {
            command.current_dir(folder);
        }
        let has_prefix = |name: &OsString| {
            let name = name.to_string_lossy();
            PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        };
        let of_libraries = std::env::vars_os().map(|(name, _)| name).filter(has_prefix);
        for name in OURS_TO_SET
            .map(OsString::from)
            .into_iter()
            .chain(of_libraries)
        {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().map(|(name, text)| (name, text)));
        // SAFETY: between fork and exec the closure makes only one system call.
        unsafe {
            command.pre_exec(move || {
                let size = size_of_val(&mask);
                match libc::sched_setaffinity(0, size, &raw const mask) {
                    0 => Ok(()),
                    _ => Err(std::io::Error::last_os_error()),
                }
            });
        }
        let began = Instant::now();
        let child = command
            .spawn()
            .with_context(|| format!("{}: cannot be run", self.program.display()))?;
        let process = child.id() as libc::pid_t;
        let (over, end) = mpsc::channel::<()>();
        let limit = self.limit;
        let watchdog = std::thread::spawn(move || {
            let late = end.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout);
            if late {
                // SAFETY: `process` is the group of a child that has not been waited for yet.
                unsafe { libc::kill(-process, libc::SIGKILL) };
            }
            late
        });
        // Waits for the end, and leaves the process to `wait4` below. So its number stays its own until the watchdog has
        // ended.
        // SAFETY: all-zero bytes are a valid `siginfo_t`, and the call writes one.
        let is_over = || unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let which = libc::WEXITED | libc::WNOWAIT;
            libc::waitid(libc::P_PID, process.cast_unsigned(), &raw mut info, which) == 0
        };
        while !is_over() {
            let error = std::io::Error::last_os_error();
            if error.kind() != std::io::ErrorKind::Interrupted {
                // If this process ignores SIGCHLD, the kernel itself waits for its children.
                drop(over);
                let _ = watchdog.join();
                return Err(error).context("cannot wait for the program; is SIGCHLD ignored?");
            }
        }
        let seconds = began.elapsed().as_secs_f64();
        drop(over);
        let timed_out = watchdog.join().unwrap_or(false);
        let mut status = 0;
        // SAFETY: all-zero bytes are a valid `rusage`, a structure of integers.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the call writes a status and a `rusage`, of a child of this process, to places that hold them.
        if unsafe { libc::wait4(process, &raw mut status, 0, &raw mut usage) } < 0 {
            return Err(std::io::Error::last_os_error()).context("cannot wait for the program");
        }
        let mut output = Vec::new();
        written.rewind()?;
        written.read_to_end(&mut output)?;
        let time = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        Ok(Ended {
            seconds,
            user: time(usage.ru_utime),
            system: time(usage.ru_stime),
            output: String::from_utf8_lossy(&output).into_owned(),
            succeeded: ExitStatus::from_raw(status).success(),
            timed_out,
        })
    }

    #[cfg(not(target_os = "linux"))]
    pub(in crate::study) fn to_its_end(&self) -> anyhow::Result<Ended> {
        anyhow::bail!("compiled programs run only on Linux")
    }
}

/// A mask of these CPUs.
#[cfg(target_os = "linux")]
fn mask(cpus: &[usize]) -> libc::cpu_set_t {
    // SAFETY: all-zero bytes are an empty set.
    let mut mask: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &cpu in cpus {
        // SAFETY: `CPU_SET` ignores CPUs beyond the size of the mask.
        unsafe { libc::CPU_SET(cpu, &mut mask) };
    }
    mask
}
