//! Programs that read `/sys` with system calls.

use super::guest::{A0, A1, A7, CODE, DATA, ECALL, addi, exit, li, with_program};
use super::{Kept, i_type};
use fastrand::Rng;
use manycore_chip::config::{Config, preset_names};

const A2: u32 = 12;
const A3: u32 = 13;
/// `AT_FDCWD`.
const HERE: i32 = -100;
const ROOM: u32 = 8_192;
const FOLDER: u32 = 0x1_0000;

/// A program's system calls. At its end, the program writes the bytes at `DATA` to its output.
#[derive(Default)]
struct Steps {
    code: Vec<u32>,
    /// Each path, and the index in `code` of the first instruction that loads the path's address. The bytes of all
    /// paths follow the code.
    paths: Vec<(usize, &'static str)>,
}

impl Steps {
    fn call(&mut self, number: i32) {
        self.code.extend([addi(A7, 0, number), ECALL]);
    }

    fn path(&mut self, register: u32, path: &'static str) {
        self.paths.push((self.code.len(), path));
        self.code.extend(li(register, 0));
    }

    /// Opens a path. A relative path starts at the open folder in `a0`.
    fn open(mut self, is_relative: bool, path: &'static str, flags: u32) -> Self {
        if !is_relative {
            self.code.push(addi(A0, 0, HERE));
        }
        self.path(A1, path);
        self.code.extend(li(A2, flags));
        self.call(56);
        self
    }

    /// Changes the working directory to a folder.
    fn go(mut self, path: &'static str) -> Self {
        self.path(A0, path);
        self.call(49);
        self
    }

    /// Reads the bytes or the entries of the open file in `a0`.
    fn read(mut self, number: i32) -> Self {
        self.code.extend(li(A1, DATA as u32));
        self.code.extend(li(A2, ROOM));
        self.call(number);
        self
    }

    /// Reads a link.
    fn link(mut self, path: &'static str) -> Self {
        self.code.push(addi(A0, 0, HERE));
        self.path(A1, path);
        self.code.extend(li(A2, DATA as u32));
        self.code.extend(li(A3, ROOM));
        self.call(78);
        self
    }

    /// Runs the program and returns its output. Without a machine, the program sees 6 cores.
    fn run(mut self, on: Option<&Config>) -> Vec<u8> {
        // Writes as many bytes as the last call returned. If that call failed, its result is negative, and this write
        // fails too.
        self.code.push(addi(A2, A0, 0));
        self.code.push(addi(A0, 0, 1));
        self.code.extend(li(A1, DATA as u32));
        self.call(64);
        self.code.extend(exit(0));
        for (at, path) in std::mem::take(&mut self.paths) {
            let address = CODE as u32 + 4 * self.code.len() as u32;
            let register = self.code[at] >> 7 & 31;
            self.code[at..at + 2].copy_from_slice(&li(register, address));
            let mut bytes = path.as_bytes().to_vec();
            bytes.resize((bytes.len() + 1).next_multiple_of(4), 0);
            let words = bytes.chunks(4);
            let words = words.map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")));
            self.code.extend(words);
        }
        with_program(&self.code, |program| {
            let kept = Kept::default();
            let program = program.streams(kept.clone(), kept.clone());
            let outcome = match on {
                Some(machine) => program.run(machine),
                None => program.run_functionally(6),
            };
            assert_eq!(outcome.expect("it ends").status, 0);
            kept.take()
        })
    }
}

fn cat(path: &'static str, on: Option<&Config>) -> String {
    let bytes = Steps::default().open(false, path, 0).read(63).run(on);
    String::from_utf8(bytes).expect("it is text")
}

/// Returns the names and kinds that `getdents64` has written.
fn entries(bytes: &[u8]) -> Vec<(String, u8)> {
    let mut rest = bytes;
    let mut found = Vec::new();
    while let [first @ .., _] = rest
        && first.len() > 19
    {
        let size = u16::from_le_bytes([rest[16], rest[17]]) as usize;
        let name: Vec<u8> = rest[19..size]
            .iter()
            .copied()
            .take_while(|&b| b != 0)
            .collect();
        found.push((String::from_utf8(name).expect("a name"), rest[18]));
        rest = &rest[size..];
    }
    found
}

#[test]
fn a_program_sees_the_core_groups_of_every_preset() {
    let mut rng = Rng::with_seed(5);
    for name in preset_names() {
        let machine = Config::preset(name).unwrap();
        let core = rng.u32(..machine.cores);
        let topology = machine.topology();
        let last = topology.caches().len() - 1;
        let path = format!("/sys/devices/system/cpu/cpu{core}/cache/index{last}/shared_cpu_list");
        let found = cat(path.leak(), Some(&machine));
        let each = match machine.llc {
            Some(_) => machine.group_cores,
            None => machine.threads_per_core,
        };
        let first = core / each * each;
        let expected = match each {
            1 => format!("{first}\n"),
            _ => format!("{first}-{}\n", first + each - 1),
        };
        assert_eq!(found, expected, "{name}, core {core}");
    }
}

#[test]
fn without_a_machine_there_are_equal_cores() {
    let path = "/sys/devices/system/cpu/cpu3/topology/package_cpus_list";
    assert_eq!(cat(path, None), "0-5\n");
    assert_eq!(cat("/sys/devices/system/node/node0/cpumap", None), "3f\n");
    let cache = "/sys/devices/system/cpu/cpu3/cache/index0/type";
    assert_eq!(cat(cache, None), "");
}

#[test]
fn folders_are_listed_links_read_and_paths_may_be_relative() {
    let machine = Config::preset("gold5225r").unwrap();
    for on in [None, Some(&machine)] {
        let nodes = if on.is_some() { 2 } else { 1 };
        let folder = "/sys/devices/system/node";
        let listed = Steps::default().open(false, folder, FOLDER).read(61);
        let listed = entries(&listed.run(on));
        let folders = listed.iter().filter(|(_, kind)| *kind == 4);
        let folders: Vec<&str> = folders.map(|(name, _)| &**name).collect();
        assert_eq!(folders, [".", "..", "node0", "node1"][..2 + nodes]);
        let files = listed.iter().filter(|(_, kind)| *kind == 8);
        assert_eq!(files.count(), 5);

        let link = Steps::default().link("/sys/devices/system/cpu/cpu1/node0");
        assert_eq!(link.run(on), b"../../node/node0");

        let from_folder = Steps::default()
            .open(false, folder, FOLDER)
            .open(true, "node0/cpu2/topology/core_id", 0)
            .read(63);
        assert_eq!(from_folder.run(on), b"2\n");
        let from_root = Steps::default()
            .open(false, "/", FOLDER)
            .open(true, "sys/devices/system/cpu/cpu4/online", 0)
            .read(63);
        assert_eq!(from_root.run(on), b"1\n");
        let from_here = Steps::default()
            .go("/sys/devices/system/cpu/cpu1/node0")
            .go("../../cpu/cpu5")
            .open(false, "topology/core_id", 0)
            .read(63);
        assert_eq!(from_here.run(on), b"5\n");
        // The program does not see the host's own files.
        let hosts = Steps::default()
            .go("/sys/devices/system/cpu")
            .open(false, "../../../kernel/uevent_seqnum", 0)
            .read(63);
        assert_eq!(hosts.run(on), b"");
        assert_eq!(cat("/sys/kernel/uevent_seqnum", on), "");
    }
}

#[test]
fn a_nodes_number_comes_with_the_cores() {
    let machine = Config::preset("gold5225r").unwrap();
    for (core, node) in [(0, 0), (30, 1)] {
        let mut steps = Steps::default();
        // The program confines itself to a core with a mask at `DATA`, and asks for the NUMA node of the core.
        steps.code.extend(li(A2, DATA as u32));
        steps.code.extend(li(A3, 1 << core));
        steps.code.push(super::s_type(0x23, 3, A2, A3, 0));
        steps.code.extend([addi(A0, 0, 0), addi(A1, 0, 8)]);
        steps.call(122);
        steps.code.extend(li(A0, DATA as u32 + 16));
        steps.code.push(addi(A1, A0, 4));
        steps.code.push(addi(A2, 0, 0));
        steps.call(168);
        steps.code.extend(li(A1, DATA as u32 + 16));
        steps.code.push(i_type(0x03, A0, 2, A1, 4));
        steps.code.extend([addi(A7, 0, 94), ECALL]);
        let status = with_program(&steps.code, |program| program.run(&machine));
        assert_eq!(status.unwrap().status, node, "core {core}");
    }
}
