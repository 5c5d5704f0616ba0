//! Missing or senseless files: the result is always a machine, never a panic.

use crate::fixture::*;
use manycore_cores::topology::Topology;
use proptest::prelude::*;

#[test]
fn no_files_at_all() {
    let machine = Fixture::empty().topology();
    assert!(!machine.is_described());
    assert_eq!(machine.core_groups().len(), 1);
    assert_eq!(
        machine.usable().len(),
        std::thread::available_parallelism().unwrap().get()
    );
}

#[test]
fn only_a_mask() {
    let fixture = Fixture::empty();
    fixture.mask("2,9");
    assert_eq!(usable(&fixture.topology()), [2, 9]);
}

#[test]
fn only_which_cpus_are_online() {
    let fixture = Fixture::empty();
    fixture.write("sys/devices/system/cpu/online", "0-3");
    let machine = fixture.topology();
    assert_eq!(machine.cpus().len(), 4);
    assert!(!machine.is_described());
}

#[test]
fn lists_that_leave_out_their_own_cpu() {
    let fixture = Fixture::new(LAPTOP);
    fixture
        .write("sys/devices/system/cpu/cpu1/topology/core_cpus_list", "0,4")
        .cache(2, 3, "3", "Unified", "0-1");
    let machine = fixture.topology();
    assert_ne!(machine.cpu(0).unwrap().core, machine.cpu(1).unwrap().core);
    assert_ne!(machine.cpu(0).unwrap().group, machine.cpu(2).unwrap().group);
}

#[test]
fn garbage_in_every_file() {
    let garbage: [&[u8]; 7] = [
        b"",
        b"\xff\xfe",
        b"-1",
        b"max",
        b"0-99999999999",
        b"7-3,,x",
        b"18446744073709551616",
    ];
    for bytes in garbage {
        let fixture = Fixture::new(LAPTOP);
        for cpu in 0..8 {
            let dir = format!("sys/devices/system/cpu/cpu{cpu}");
            fixture
                .write(&format!("{dir}/topology/physical_package_id"), bytes)
                .write(&format!("{dir}/topology/core_cpus_list"), bytes)
                .write(&format!("{dir}/cache/index3/level"), bytes)
                .write(&format!("{dir}/cache/index2/shared_cpu_list"), bytes)
                .write(&format!("{dir}/cache/index3/size"), bytes);
        }
        fixture
            .write("sys/devices/system/node/online", bytes)
            .write("proc/thread-self/status", bytes)
            .write("proc/self/cgroup", "0::/\n3:cpu:/\n:::\n")
            .write(
                "proc/self/mountinfo",
                [&b"1 2 3 / / rw - cgroup2 x rw\n"[..], bytes].concat(),
            )
            .write("cpu.max", bytes);
        let machine = fixture.topology();
        assert_eq!(machine.usable().len(), 8);
        assert_eq!(machine.quota(), None);
        fixture.write("sys/devices/system/cpu/online", bytes);
        assert!(!fixture.topology().usable().is_empty());
    }
}

#[test]
fn a_quota_of_nothing_or_of_no_period_is_none() {
    for text in [
        "0 100000",
        "100000 0",
        "-5 100000",
        "100000",
        "nan 1",
        "1e3 1",
    ] {
        let fixture = Fixture::new(LAPTOP);
        fixture
            .write("proc/self/cgroup", "0::/\n")
            .write(
                "proc/self/mountinfo",
                "1 2 3 / /cg rw - cgroup2 cgroup2 rw\n",
            )
            .write("cg/cpu.max", text);
        assert_eq!(fixture.topology().quota(), None, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_text_in_any_file(
        text in "[0-9,\\-a-z: /\n]{0,30}",
        path in prop::sample::select(vec![
            "sys/devices/system/cpu/online",
            "sys/devices/system/cpu/cpu0/topology/core_cpus_list",
            "sys/devices/system/cpu/cpu0/topology/physical_package_id",
            "sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list",
            "sys/devices/system/node/online",
            "sys/devices/system/node/node0/cpulist",
            "proc/self/cgroup",
            "proc/self/mountinfo",
        ]),
    ) {
        let fixture = Fixture::new(LAPTOP);
        fixture.write(path, text);
        let machine = Topology::from_root(fixture.root());
        prop_assert!(!machine.usable().is_empty());
        prop_assert_eq!(machine.compact_order().len(), machine.usable().len());
    }
}
