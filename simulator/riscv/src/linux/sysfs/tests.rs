//! Reads every path of every preset, and checks the content.

use super::{Found, Kind, find};
use manycore_chip::config::{Config, Topology, Unit, preset_names};
use std::collections::BTreeSet;
use std::path::Path;

const CPU: &str = "/sys/devices/system/cpu";
const NODE: &str = "/sys/devices/system/node";

fn read(topology: &Topology, path: &str) -> String {
    match find(topology, Path::new(path), true) {
        Some(Found::File(text)) => text,
        other => panic!("{path} is {other:?}"),
    }
}

fn numbers(text: &str) -> BTreeSet<u32> {
    let number = |text: &str| text.parse::<u32>().unwrap();
    let runs = text.trim().split(',').filter(|run| !run.is_empty());
    runs.flat_map(|run| match run.split_once('-') {
        Some((first, last)) => number(first)..=number(last),
        None => number(run)..=number(run),
    })
    .collect()
}

/// Returns the bits of a mask.
fn bits(text: &str) -> BTreeSet<u32> {
    let words = text.trim().split(',').rev();
    let words = words.map(|word| u32::from_str_radix(word, 16).unwrap());
    (0..)
        .zip(words)
        .flat_map(|(at, word)| {
            (0..32)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| 32 * at + bit)
        })
        .collect()
}

fn presets() -> impl Iterator<Item = (&'static str, Config, Topology)> {
    preset_names().map(|name| {
        let config = Config::preset(name).unwrap();
        let topology = config.topology();
        (name, config, topology)
    })
}

/// Looks at everything below a folder. Returns the number of files.
fn walk(topology: &Topology, path: &str, inodes: &mut BTreeSet<u64>) -> usize {
    let Some(Found::Folder(contents)) = find(topology, Path::new(path), true) else {
        panic!("{path} is no folder");
    };
    assert!(
        inodes.insert(contents.inode),
        "{path} has another folder's number"
    );
    assert_eq!(contents.path, path);
    let mut files = 0;
    for name in contents.names {
        let path = format!("{path}/{}", name.name);
        match (find(topology, Path::new(&path), false), name.kind) {
            (Some(Found::File(text)), Kind::File) => {
                assert!(text.ends_with('\n'), "{path}");
                assert!(inodes.insert(name.inode), "{path}");
                files += 1;
            }
            (Some(Found::Folder(contents)), Kind::Folder) => {
                assert_eq!(contents.inode, name.inode, "{path}");
                files += walk(topology, &path, inodes);
            }
            (Some(Found::Link(_)), Kind::Link) => {
                assert!(inodes.insert(name.inode), "{path}");
                let target = find(topology, Path::new(&path), true);
                assert!(matches!(target, Some(Found::Folder(..))), "{path}");
            }
            (found, kind) => panic!("{path} is {found:?}, said to be {kind:?}"),
        }
    }
    files
}

#[test]
fn all_that_a_folder_names_is_there() {
    for (name, config, topology) in presets() {
        let files = walk(&topology, "/sys", &mut BTreeSet::new());
        let of_caches = 8 * topology.caches().len();
        let each = 1 + 16 + of_caches;
        let nodes = topology.count(Unit::Node) as usize;
        let expected = config.cores as usize * each + 4 * nodes + 5 + 5;
        assert_eq!(files, expected, "{name}");
    }
    walk(&Topology::flat(7), "/sys", &mut BTreeSet::new());
}

/// Checks that the lists of all cores partition the cores, and that the masks agree with the lists.
fn check_partition(topology: &Topology, list: &str, mask: &str) -> BTreeSet<BTreeSet<u32>> {
    let mut sets = BTreeSet::new();
    for core in 0..topology.cores() {
        let file = |name: &str| read(topology, &format!("{CPU}/cpu{core}/{name}"));
        let set = numbers(&file(list));
        assert!(set.contains(&core), "{list} of {core}");
        assert_eq!(set, bits(&file(mask)), "{list} of {core}");
        sets.insert(set);
    }
    let all: usize = sets.iter().map(BTreeSet::len).sum();
    assert_eq!(all, topology.cores() as usize, "{list}");
    sets
}

#[test]
fn on_every_preset_all_sets_are_partitions_and_caches_are_the_machines() {
    for (name, config, topology) in presets() {
        for set in [
            "cluster_cpus",
            "core_cpus",
            "core_siblings",
            "die_cpus",
            "package_cpus",
            "thread_siblings",
        ] {
            let set = format!("topology/{set}");
            check_partition(&topology, &format!("{set}_list"), &set);
        }
        let levels = [Some(config.l1.size), config.l2.as_ref().map(|l2| l2.size)];
        let llc = config.llc.as_ref().map(|llc| llc.size);
        let sizes: Vec<u64> = levels.into_iter().chain([llc]).flatten().collect();
        for (index, size) in sizes.iter().enumerate() {
            let cache = format!("cache/index{index}");
            let list = format!("{cache}/shared_cpu_list");
            let sets = check_partition(&topology, &list, &format!("{cache}/shared_cpu_map"));
            let is_shared = llc.is_some() && index + 1 == sizes.len();
            let each = if is_shared {
                config.group_cores
            } else {
                config.threads_per_core
            };
            assert_eq!(sets.len() as u32, config.cores / each, "{name} {index}");
            let file = |name: &str| {
                let text = read(&topology, &format!("{CPU}/cpu0/{cache}/{name}"));
                text.trim().to_owned()
            };
            let number = |name: &str| file(name).parse::<u64>().unwrap();
            assert_eq!(file("size"), format!("{}K", size / 1024), "{name}");
            let product = number("number_of_sets")
                * number("ways_of_associativity")
                * number("coherency_line_size");
            assert_eq!(product, *size, "{name} {index}");
            assert_eq!(number("level"), index as u64 + 1);
        }
        let past = format!("{CPU}/cpu0/cache/index{}", sizes.len());
        assert_eq!(find(&topology, Path::new(&past), true), None);
    }
}

#[test]
fn on_every_preset_nodes_partition_the_cores_and_links_lead_there_and_back() {
    for (name, _, topology) in presets() {
        let mut all = BTreeSet::new();
        let mut count = 0;
        for node in numbers(&read(&topology, &format!("{NODE}/online"))) {
            let file = |name: &str| read(&topology, &format!("{NODE}/node{node}/{name}"));
            let cores = numbers(&file("cpulist"));
            assert_eq!(cores, bits(&file("cpumap")), "{name}");
            for &core in &cores {
                let path = format!("{CPU}/cpu{core}/node{node}/cpu{core}/topology/core_id");
                let direct = format!("{CPU}/cpu{core}/topology/core_id");
                assert_eq!(read(&topology, &path), read(&topology, &direct));
            }
            count += cores.len();
            all.extend(cores);
            let distances = file("distance").split(' ').count();
            assert_eq!(distances as u32, topology.count(Unit::Node), "{name}");
        }
        assert_eq!(
            (count, all.len()),
            (topology.cores() as usize, count),
            "{name}"
        );
    }
}

#[test]
fn milan_is_as_linux_shows_it() {
    let milan = Config::preset("milan-7r13x2").unwrap().topology();
    for (path, expected) in [
        ("cpu/online", "0-95\n"),
        ("cpu/offline", "\n"),
        ("cpu/cpu50/online", "1\n"),
        ("cpu/cpu50/topology/physical_package_id", "1\n"),
        ("cpu/cpu50/topology/core_id", "2\n"),
        ("cpu/cpu50/topology/thread_siblings_list", "50\n"),
        ("cpu/cpu50/topology/core_siblings_list", "48-95\n"),
        (
            "cpu/cpu50/topology/package_cpus",
            "ffffffff,ffff0000,00000000\n",
        ),
        ("cpu/cpu50/cache/index0/type", "Data\n"),
        ("cpu/cpu50/cache/index1/size", "512K\n"),
        ("cpu/cpu50/cache/index2/type", "Unified\n"),
        ("cpu/cpu50/cache/index2/size", "32768K\n"),
        ("cpu/cpu50/cache/index2/shared_cpu_list", "48-55\n"),
        (
            "cpu/cpu50/cache/index2/shared_cpu_map",
            "00000000,00ff0000,00000000\n",
        ),
        ("node/has_cpu", "0-1\n"),
        ("node/node1/cpulist", "48-95\n"),
        (
            "node/node1/meminfo",
            "Node 1 MemTotal:       8388608 kB\nNode 1 MemFree:        8388608 kB\n",
        ),
        ("cpu/cpu50/../cpu3/./node0/cpulist", "0-47\n"),
    ] {
        let path = format!("/sys/devices/system/{path}");
        assert_eq!(read(&milan, &path), expected, "{path}");
    }
    let link = find(
        &milan,
        Path::new("/sys/devices/system/cpu/cpu50/node1"),
        false,
    );
    assert_eq!(link, Some(Found::Link("../../node/node1".into())));
    for missing in [
        "/sys/devices/system/cpu/cpu96",
        "/sys/devices/system/cpu/cpu01",
        "/sys/devices/system/cpu/cpu50/node0",
        "/sys/devices/system/cpu/cpu50/online/x",
        "/sys/devices/system/node/node2",
        "/sys/class",
        "/sys/../etc/passwd",
        "/proc/cpuinfo",
        "sys/devices",
    ] {
        assert_eq!(find(&milan, Path::new(missing), true), None, "{missing}");
    }
}

#[test]
fn siblings_share_a_core() {
    let niagara = Config::preset("niagara-2").unwrap().topology();
    let file = |name: &str| read(&niagara, &format!("{CPU}/cpu9/{name}"));
    assert_eq!(file("topology/thread_siblings_list"), "8-15\n");
    assert_eq!(file("topology/core_id"), "1\n");
    assert_eq!(file("cache/index0/shared_cpu_list"), "8-15\n");
}

#[test]
fn of_a_machine_without_caches_only_the_cores_are_known() {
    let flat = Topology::flat(6);
    assert_eq!(
        find(&flat, Path::new(&format!("{CPU}/cpu0/cache")), true),
        None
    );
    let package = format!("{CPU}/cpu5/topology/package_cpus_list");
    assert_eq!(read(&flat, &package), "0-5\n");
    assert_eq!(read(&flat, &format!("{NODE}/node0/distance")), "10\n");
}
