//! Teams that are too large for a limit. `grow.c` begins regions of two sizes.

use super::{built, compile, has_compiler, library, run_with, source, text};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

/// A team grows although a limit leaves no room for its threads. The limit counts the threads of a user with no other
/// threads. The superuser has no limit.
#[test]
fn a_limit_on_threads() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    if !has_compiler() {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    if std::fs::metadata("/proc/self").is_ok_and(|it| it.uid() != 0) {
        return eprintln!("SKIPPED: only the superuser can run programs as another user");
    }
    // The other user may not see cargo's folder.
    let folder = std::env::temp_dir().join(format!("openmp-limit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder for temporary files is writable");
    let (program, copy) = (folder.join("grow"), folder.join("library.so"));
    compile(&source("grow.c"), &program).expect("our programs can be compiled");
    std::fs::copy(library(), &copy).expect("the library is there");
    for path in [&folder, &program, &copy] {
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(path, mode).expect("a file of ours");
    }
    for limit in [6, 12, 30, 60] {
        let output = Command::new("setpriv")
            .args(["--reuid=54321", "--clear-groups", "--inh-caps=-all"])
            .args(["--bounding-set=-all", "prlimit"])
            .arg(format!("--nproc={limit}"))
            .args(["timeout", "60"])
            .arg(&program)
            .env("LD_PRELOAD", &copy)
            .output();
        let Ok(output) = output else {
            return eprintln!("SKIPPED: no setpriv");
        };
        check(&output, 40, false, &format!("limit {limit}"));
    }
    std::fs::remove_dir_all(&folder).expect("a folder of ours");
}

/// A team grows although a limit on memory leaves no room for the stacks of its threads.
#[test]
fn a_limit_on_memory() {
    let Some(program) = built(&[], "memory", "grow.c") else {
        return;
    };
    for stack in [512, 8_192] {
        for limit in [30_000, 60_000, 100_000, 300_000, 800_000, 3_000_000] {
            let mut command = Command::new("timeout");
            command.arg("60").arg(&program);
            // With another language the C library maps large files.
            command.env("LC_ALL", "C").env("LD_PRELOAD", library());
            let set = move || {
                for (resource, bytes) in [(libc::RLIMIT_STACK, stack), (libc::RLIMIT_AS, limit)] {
                    let bytes = bytes << 10;
                    let limit = libc::rlimit {
                        rlim_cur: bytes,
                        rlim_max: bytes,
                    };
                    // SAFETY: the call reads the structure.
                    if unsafe { libc::setrlimit(resource, &raw const limit) } != 0 {
                        return Err(std::io::Error::last_os_error());
                    }
                }
                Ok(())
            };
            // SAFETY: `set` only calls `setrlimit`, which may be called between `fork` and `exec`.
            unsafe { command.pre_exec(set) };
            let Ok(output) = command.output() else {
                return eprintln!("SKIPPED: the system does not allow these limits");
            };
            let is_large = (stack, limit) == (512, 3_000_000) && !is_strict();
            check(
                &output,
                40,
                is_large,
                &format!("limit {limit}, stack {stack}"),
            );
        }
    }
}

/// Whether the system promises no more memory than it has. Such a system may refuse a thread although the limits allow
/// the thread.
fn is_strict() -> bool {
    std::fs::read_to_string("/proc/sys/vm/overcommit_memory").is_ok_and(|mode| mode.trim() == "2")
}

/// Checks the output of `grow.c`: each region has a member, and at most as many as it wants. If `is_full`, each region
/// has as many as it wants.
fn check(output: &Output, most: usize, is_full: bool, case: &str) {
    let text = text(output);
    let mut lines = text.lines();
    for _ in 0..3 {
        let members: Vec<usize> = (lines.next().unwrap_or_default().split(' '))
            .filter_map(|number| number.parse().ok())
            .collect();
        let is_right = match members[..] {
            _ if is_full => members == [5, most],
            [small, large] => (1..=5).contains(&small) && (1..=most).contains(&large),
            _ => false,
        };
        assert!(is_right, "{case}: {text}");
    }
    assert!(text.ends_with("exit status: 0"), "{case}: {text}");
}

/// A team that is too large to be carried has all its members, and the user is told at most once.
#[test]
fn a_team_of_a_thousand() {
    let Some(program) = built(&[], "thousand", "grow.c") else {
        return;
    };
    let variables = [
        ("OMP_STACKSIZE", "256K"),
        ("MANYCORE_OMP_CARRY", "true"),
        ("OMP_DISPLAY_ENV", "true"),
    ];
    let arguments = [Path::new("1060")];
    let ours = run_with(&program, &arguments, 2, &variables, true);
    let told = text(&ours).matches("a team of 1060 is not carried").count();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // To carry a team, a program must write the thread pointer. Some x86-64 kernels forbid that.
    // SAFETY: this reads a number that the loader has kept.
    let is_allowed = unsafe { libc::getauxval(libc::AT_HWCAP2) } & 2 != 0;
    let is_carrying = cfg!(target_env = "gnu") && (is_allowed || !cfg!(target_arch = "x86_64"));
    let least = usize::from(is_carrying && cores < 1060);
    assert!((least..=1).contains(&told), "{}", text(&ours));
    // The system may allow fewer threads.
    let theirs = run_with(&program, &arguments, 2, &variables, false);
    let is_full = text(&theirs).starts_with("5 1060") && !is_strict();
    check(&ours, 1060, is_full, "a thousand");
}
