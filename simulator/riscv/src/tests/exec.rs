//! A program that starts another program in its place.

use super::guest::{A0, A1, A7, CODE, DATA, ECALL, addi, call, exit, li};
use super::{Kept, elf};
use crate::{Outcome, Program};
use manycore_chip::config::Config;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const A2: u32 = 12;
/// `sub a0, zero, a0`.
const NEGATE: u32 = 0x40A0_0533;

fn bytes(code: &[u32]) -> Vec<u8> {
    code.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn write(path: &Path, bytes: &[u8], mode: u32) {
    fs::write(path, bytes).expect("room for a program");
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
}

/// A program that starts the program at `path`. If the start fails, the program exits with the error as its status.
fn starter(path: &Path) -> Vec<u8> {
    let mut data = path.as_os_str().as_encoded_bytes().to_vec();
    data.resize(512, 0);
    data.extend([DATA, 0].map(u64::to_le_bytes).concat());
    let code = [
        &li(A0, DATA as u32)[..],
        &li(A1, DATA as u32 + 512),
        &[addi(A2, 0, 0)],
        &call(221),
        &[NEGATE, addi(A7, 0, 94), ECALL],
    ];
    elf(&[(CODE, 5, &bytes(&code.concat())), (DATA, 6, &data)])
}

/// Starts `path`, functionally and on a machine. Returns the status.
fn start(folder: &Path, path: &Path) -> i32 {
    let file = folder.join("starter");
    write(&file, &starter(path), 0o755);
    let program = || Program::new(&file).streams(Kept::default(), Kept::default());
    let status = |outcome: Outcome| outcome.status;
    let functional = program().run_functionally(2).map(status);
    let machine = Config::preset("dahu").expect("the preset is there");
    let timed = program().run(&machine).map(status);
    let (functional, timed) = (functional.expect("it ends"), timed.expect("it ends"));
    assert_eq!(functional, timed);
    timed
}

#[test]
fn another_program_goes_on_in_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let [second, script, again] = ["second", "script", "again"].map(|name| folder.join(name));
    write(&second, &elf(&[(CODE, 5, &bytes(&exit(7)))]), 0o755);
    assert_eq!(start(folder, &second), 7);
    let line = format!("#! {} argument \nrest", second.display());
    write(&script, line.as_bytes(), 0o755);
    assert_eq!(start(folder, &script), 7);
    write(&again, format!("#!{}", again.display()).as_bytes(), 0o755);
    // The statuses are ELOOP, ENOENT, ENOEXEC and EACCES.
    assert_eq!(start(folder, &again), 40);
    assert_eq!(start(folder, &folder.join("none")), 2);
    write(&second, b"\x7fELF, but no more", 0o755);
    assert_eq!(start(folder, &second), 8);
    write(&second, &elf(&[(CODE, 5, &bytes(&exit(7)))]), 0o644);
    assert_eq!(start(folder, &second), 13);
    assert_eq!(start(folder, folder), 13);
}
