//! How the watch reads trees of files, and what it decides.

use super::neighbours::{Neighbours, WINDOW};
use super::sources::Sources;
use super::state::{FILES, GROUPS, HOLD, MASK, WatchState};
use std::fs;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A machine of eight CPUs, with the process in the group `/a/b`.
struct FakeMachine(TempDir);

impl FakeMachine {
    fn new(cgroup: &str, mountinfo: &str) -> Self {
        let machine = Self(TempDir::new().unwrap());
        machine.put("proc/self/cgroup", cgroup);
        machine.put("proc/self/mountinfo", mountinfo);
        machine
    }

    fn v2() -> Self {
        Self::new(
            "0::/a/b\n",
            "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        )
        .write("sys/fs/cgroup/cpuset.cpus.effective", "0-7\n")
    }

    fn v1() -> Self {
        Self::new(
            "2:cpu,cpuacct:/a/b\n1:cpuset:/a\n",
            "30 1 0:26 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
             31 1 0:27 / /cg/cpuset rw - cgroup cgroup rw,cpuset\n",
        )
        .write("cg/cpuset/a/cpuset.cpus", "0-7\n")
        .write("cg/cpu/a/b/cpu.cfs_period_us", "100000\n")
    }

    fn write(self, path: &str, text: &str) -> Self {
        self.put(path, text);
        self
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn state(&self) -> WatchState {
        WatchState::new(Sources::below(self.0.path()))
    }

    fn watching(&self) -> Watching {
        let (state, now) = (self.state(), Duration::from_millis(1));
        Watching { state, now }
    }
}

/// A watch with its own clock.
struct Watching {
    state: WatchState,
    now: Duration,
}

impl Watching {
    /// The number of cores after `time`.
    fn after(&mut self, time: Duration) -> usize {
        let (end, mut next) = (self.now + time, self.now);
        while next <= end {
            self.now = next;
            next = self.state.look(next);
        }
        self.now = next;
        self.state.capped()
    }
}

#[test]
fn a_cpuset_of_version_two() {
    let machine = FakeMachine::v2();
    let mut watching = machine.watching();
    assert_eq!(watching.after(FILES), 8);
    machine.put("sys/fs/cgroup/a/b/cpuset.cpus.effective", "1,4-5\n");
    assert_eq!(watching.after(FILES), 3);
    machine.put("sys/fs/cgroup/a/b/cpuset.cpus.effective", "0-6\n");
    assert_eq!(watching.after(FILES), 7);
}

#[test]
fn a_cpuset_of_version_one() {
    let machine = FakeMachine::v1();
    let mut watching = machine.watching();
    assert_eq!(watching.after(FILES), 8);
    machine.put("cg/cpuset/a/cpuset.effective_cpus", "0-1\n");
    assert_eq!(watching.after(FILES), 2);
}

#[test]
fn the_process_is_moved() {
    let machine = FakeMachine::v2();
    let mut watching = machine.watching();
    machine.put("sys/fs/cgroup/c/cpuset.cpus.effective", "0-3\n");
    machine.put("proc/self/cgroup", "0::/c\n");
    assert_eq!(watching.after(GROUPS), 4);
}

/// As when a container's group is replaced: the limits of its parents count.
#[test]
fn the_group_is_removed() {
    let machine = FakeMachine::v2().write("sys/fs/cgroup/a/b/cpuset.cpus.effective", "0-1\n");
    let mut watching = machine.watching();
    assert_eq!(watching.after(FILES), 2);
    fs::remove_dir_all(machine.0.path().join("sys/fs/cgroup/a")).unwrap();
    assert_eq!(watching.after(FILES), 8);
}

#[test]
fn a_larger_quota_is_obeyed_at_once_and_a_smaller_one_if_it_lasts() {
    let machine = FakeMachine::v2().write("sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
    let mut state = machine.state();
    let quota = |state: &WatchState| state.quota.map(|quota| quota.cpus);
    assert_eq!(quota(&state), Some(1.5));
    let see = |state: &mut WatchState, text: &str, at: Instant| {
        machine.put("sys/fs/cgroup/a/b/cpu.max", text);
        state.sources.read_files();
        state.follow_quota(at);
    };
    let start = Instant::now();
    see(&mut state, "400000 100000\n", start);
    assert_eq!(quota(&state), Some(4.0));
    see(&mut state, "250000 100000\n", start);
    assert_eq!(quota(&state), Some(4.0));
    see(&mut state, "400000 100000\n", start + HOLD);
    assert_eq!(quota(&state), Some(4.0));
    // It was gone meanwhile, so it must last anew.
    see(&mut state, "250000 100000\n", start + HOLD);
    assert_eq!(quota(&state), Some(4.0));
    see(&mut state, "250000 100000\n", start + 2 * HOLD);
    assert_eq!(quota(&state), Some(2.5));
    see(&mut state, "max 100000\n", start + 2 * HOLD);
    assert_eq!(quota(&state), None);
}

/// The pace alternates between the next smaller and the next larger number.
#[test]
fn a_quota_sets_the_pace() {
    for machine in [
        FakeMachine::v2()
            .write("sys/fs/cgroup/a/cpu.max", "260000 100000\n")
            .write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
            .write("sys/fs/cgroup/a/cpu.stat", "usage_usec 0\nnr_throttled 0\n"),
        FakeMachine::v1()
            .write("cg/cpu/a/b/cpu.cfs_quota_us", "260000\n")
            .write("cg/cpu/a/b/cpuacct.usage", "0\n"),
    ] {
        let mut watching = machine.watching();
        // Nothing is used, so the larger number runs.
        assert_eq!(watching.state.cores(), 3);
        watching.now += Duration::from_millis(5);
        assert_eq!(watching.after(Duration::ZERO), 3);
        watching.state.cap = NonZeroUsize::new(1);
        assert_eq!(watching.after(Duration::ZERO), 1);
        watching.state.cap = None;
        // More than the quota is used.
        machine.put(
            "sys/fs/cgroup/a/cpu.stat",
            "usage_usec 200000\nnr_throttled 0\n",
        );
        machine.put("cg/cpu/a/b/cpuacct.usage", "200000000\n");
        assert_eq!(watching.after(Duration::ZERO), 1);
    }
}

/// The outer quota is larger, but the group shares it with neighbours.
#[test]
fn throttling_by_an_outer_group_is_noticed() {
    let machine = FakeMachine::v2()
        .write("sys/fs/cgroup/a/cpu.max", "300000 100000\n")
        .write("sys/fs/cgroup/a/b/cpu.max", "260000 100000\n")
        .write(
            "sys/fs/cgroup/a/b/cpu.stat",
            "usage_usec 7\nnr_throttled 1\n",
        );
    let state = machine.state();
    let quota = state.quota.unwrap();
    let throttled = || state.sources.usage(&quota, MASK).throttled;
    assert_eq!(throttled(), Some(1));
    machine.put("sys/fs/cgroup/a/cpu.stat", "usage_usec 9\nnr_throttled 4\n");
    assert_eq!(throttled(), Some(5));
    assert_eq!(
        state.sources.usage(&quota, MASK).used,
        Duration::from_micros(7)
    );
    // The root has no quota.
    machine.put("sys/fs/cgroup/cpu.stat", "usage_usec 9\nnr_throttled 40\n");
    assert_eq!(throttled(), Some(5));
}

#[test]
fn a_quota_of_all_cpus_has_no_effect() {
    let machine = FakeMachine::v2().write("sys/fs/cgroup/a/b/cpu.max", "800000 100000\n");
    assert_eq!(machine.watching().after(Duration::ZERO), 8);
}

/// The process may use CPUs 0 to 3. Use of the other CPUs does not matter.
#[test]
fn cpus_that_neighbours_use_are_left_out() {
    let machine = FakeMachine::v2().write("sys/fs/cgroup/a/b/cpuset.cpus.effective", "0-3\n");
    let mut watching = machine.watching();
    // `see` lasts for exactly one window.
    let see = |watching: &mut Watching, stat: &str| {
        machine.put("proc/stat", stat);
        watching.after(WINDOW - MASK)
    };
    // More than any machine uses during this test, so that the clocks do not matter.
    let stat = |cpu: usize, column: usize, seconds: u64| {
        let mut times = [0; 10];
        times[column] = seconds * 100;
        let times = times.map(|time| time.to_string()).join(" ");
        // The line of all CPUs begins with a number that is also the number of a CPU.
        let all = seconds * 100;
        format!("cpu  1 0 0 {all} {all} 0 0 0 0 0\ncpu{cpu} {times}\nintr 5\n")
    };
    assert_eq!(see(&mut watching, &stat(1, 0, 0)), 4);
    // The watch does not heed neighbours.
    assert_eq!(see(&mut watching, &stat(1, 0, 100_000)), 4);
    watching.state.neighbours = Some(Neighbours::default());
    assert_eq!(see(&mut watching, &stat(1, 0, 0)), 4);
    assert_eq!(see(&mut watching, &stat(1, 0, 100_000)), 1);
    // Stolen time and interrupts; then idle time, I/O, guests and a CPU outside the set.
    for (cpu, column, cores) in [
        (3, 7, 1),
        (0, 6, 1),
        (0, 3, 4),
        (0, 4, 4),
        (0, 8, 4),
        (4, 0, 4),
    ] {
        assert_eq!(see(&mut watching, &stat(cpu, column, 0)), 4);
        assert_eq!(
            see(&mut watching, &stat(cpu, column, 100_000)),
            cores,
            "column {column}"
        );
    }
    // An unreadable file changes nothing.
    assert_eq!(see(&mut watching, "cpu 1\n"), 4);
}

#[test]
fn a_watch_rests_after_a_second_without_need() {
    let mut state = FakeMachine::v2().state();
    let at = Duration::from_millis;
    assert!(!state.may_rest(at(1), false));
    assert!(!state.may_rest(at(10), true));
    assert!(!state.may_rest(at(1009), true));
    assert!(state.may_rest(at(1010), true));
    state.has_rested();
    assert!(!state.may_rest(at(5000), true));
    assert!(!state.may_rest(at(5500), false));
    assert!(!state.may_rest(at(6000), true), "the second starts again");
    assert!(state.may_rest(at(7000), true));
}

/// As on a machine with more CPUs than the system call can name.
#[test]
fn a_mask_that_only_proc_has() {
    let machine = FakeMachine::v2();
    let status = |list: &str| format!("Name:\tprog\nCpus_allowed_list:\t{list}\n");
    machine.put("proc/thread-self/status", &status("0-3"));
    let mut watching = machine.watching();
    assert_eq!(watching.after(Duration::ZERO), 4);
    machine.put("proc/thread-self/status", &status("1-2,9"));
    assert_eq!(watching.after(MASK), 2);
}

/// One worker always remains, so the watch neither counts its time nor looks more often.
#[test]
fn a_quota_of_one_cpu_is_not_paced() {
    for quota in ["10000", "100000", "102000"] {
        let machine = FakeMachine::v2();
        machine.put("sys/fs/cgroup/a/b/cpu.max", &format!("{quota} 100000\n"));
        let mut watching = machine.watching();
        assert_eq!(watching.state.cores(), 1);
        assert_eq!(watching.state.look(MASK), 2 * MASK);
        assert_eq!(watching.after(FILES), 1);
        assert_eq!(watching.state.paced, None);
        machine.put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
        assert_eq!(watching.after(FILES), 8);
    }
}

#[test]
fn without_files_all_cpus_count() {
    let machine = FakeMachine(TempDir::new().unwrap());
    let all = std::thread::available_parallelism().unwrap().get();
    assert_eq!(machine.watching().after(GROUPS), all);
}
