//! Masks, cpusets and quotas.

use crate::fixture::*;
use manycore_cores::topology::{Affinity, AffinityError};

const V2: &str = "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
const V1: &str = "23 1 0:5 / /proc rw - proc proc rw
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:15 - cgroup cgroup rw,cpu,cpuacct
34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
";

fn quota(fixture: &Fixture) -> (Option<f64>, usize) {
    let machine = fixture.topology();
    (machine.quota(), machine.default_threads())
}

#[test]
fn the_mask_leaves_what_it_names() {
    let fixture = Fixture::new(LAPTOP);
    fixture.mask("1,4-5");
    let machine = fixture.topology();
    assert_eq!(usable(&machine), [1, 4, 5]);
    assert_eq!(machine.cpus().len(), 8);
    assert_eq!(machine.default_threads(), 3);
}

#[test]
fn a_mask_of_another_machine_is_no_limit() {
    let fixture = Fixture::new(LAPTOP);
    fixture.mask("100-107");
    assert_eq!(fixture.topology().usable().len(), 8);
}

#[test]
fn quota_of_version_2_is_the_smallest_on_the_way_up() {
    let fixture = Fixture::new(LAPTOP);
    fixture
        .write("proc/self/cgroup", "0::/user.slice/job\n")
        .write("proc/self/mountinfo", V2)
        .write("sys/fs/cgroup/user.slice/job/cpu.max", "max 100000\n");
    assert_eq!(quota(&fixture), (None, 8));
    fixture.write("sys/fs/cgroup/user.slice/cpu.max", "350000 100000\n");
    assert_eq!(quota(&fixture), (Some(3.5), 3));
    fixture.write("sys/fs/cgroup/user.slice/job/cpu.max", "50000 100000\n");
    assert_eq!(quota(&fixture), (Some(0.5), 1));
}

#[test]
fn a_quota_beyond_the_cpus_changes_nothing() {
    let fixture = Fixture::new(LAPTOP);
    fixture
        .write("proc/self/cgroup", "0::/\n")
        .write("proc/self/mountinfo", V2)
        .write("sys/fs/cgroup/cpu.max", "18446744073709551615 1\n");
    assert_eq!(quota(&fixture).1, 8);
}

#[test]
fn quota_of_version_1() {
    let fixture = Fixture::new(LAPTOP);
    let group = "sys/fs/cgroup/cpu,cpuacct/box";
    fixture
        .write(
            "proc/self/cgroup",
            "5:cpuset:/\n4:cpu,cpuacct:/box\n1:name=systemd:/x:y\n",
        )
        .write("proc/self/mountinfo", V1)
        .write(&format!("{group}/cpu.cfs_quota_us"), "-1\n")
        .write(&format!("{group}/cpu.cfs_period_us"), "100000\n");
    assert_eq!(quota(&fixture), (None, 8));
    fixture.write(&format!("{group}/cpu.cfs_quota_us"), "150000\n");
    assert_eq!(quota(&fixture), (Some(1.5), 1));
}

#[test]
fn a_container_sees_its_own_group_at_the_mounts_top() {
    let fixture = Fixture::new(LAPTOP);
    let mount = "40 31 0:29 /docker/ab /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n";
    fixture
        .write("proc/self/cgroup", "4:cpu:/docker/ab/inner\n")
        .write("proc/self/mountinfo", mount)
        .write("sys/fs/cgroup/cpu/inner/cpu.cfs_quota_us", "400000")
        .write("sys/fs/cgroup/cpu/inner/cpu.cfs_period_us", "100000")
        .write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000")
        .write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
    assert_eq!(quota(&fixture), (Some(2.0), 2));
    // A path that the mount does not contain, and a name that only shares a prefix.
    for path in ["/elsewhere", "/docker/abc", "/../.."] {
        fixture.write("proc/self/cgroup", format!("4:cpu:{path}\n"));
        assert_eq!(quota(&fixture), (Some(2.0), 2), "{path}");
    }
}

#[test]
fn the_innermost_cpuset_counts() {
    let fixture = Fixture::new(LAPTOP);
    fixture
        .write("proc/self/cgroup", "0::/a/b\n")
        .write("proc/self/mountinfo", V2)
        .write("sys/fs/cgroup/cpuset.cpus.effective", "0-7\n")
        .write("sys/fs/cgroup/a/cpuset.cpus.effective", "2-5\n");
    assert_eq!(usable(&fixture.topology()), [2, 3, 4, 5]);
    fixture.mask("0-3");
    assert_eq!(usable(&fixture.topology()), [2, 3]);
}

#[test]
fn cpuset_of_version_1() {
    let fixture = Fixture::new(LAPTOP);
    fixture
        .write("proc/self/cgroup", "5:cpuset:/job\n")
        .write("proc/self/mountinfo", V1)
        .write("sys/fs/cgroup/cpuset/job/cpuset.cpus", "6-7\n");
    assert_eq!(usable(&fixture.topology()), [6, 7]);
}

#[test]
fn threads_are_assigned_to_usable_cpus_only() {
    let fixture = Fixture::new(LAPTOP);
    fixture.mask("1,5-6");
    let machine = fixture.topology();
    let compact = Affinity::Compact.assign(&machine, 5).unwrap();
    assert_eq!(compact, [[1], [6], [5], [1], [6]]);
    let listed = Affinity::List(vec![6, 1]).assign(&machine, 3).unwrap();
    assert_eq!(listed, [[6], [1], [6]]);
    let usable = "1,5-6".to_owned();
    assert_eq!(
        Affinity::List(vec![1, 2]).assign(&machine, 1),
        Err(AffinityError::NotAllowed {
            cpu: 2,
            usable: usable.clone()
        })
    );
    let offline = Affinity::List(vec![8]).assign(&machine, 1).unwrap_err();
    assert_eq!(
        offline.to_string(),
        "affinity: CPU 8 is not online; usable are 1,5-6"
    );
    assert_eq!(
        Affinity::List(Vec::new()).assign(&machine, 1),
        Err(AffinityError::Empty { usable })
    );
    assert_eq!(Affinity::Spread.assign(&machine, 0), Ok(Vec::new()));
}
