//! Orphaned process groups: groups in which no member has a parent in another group of the session. Nobody could let such
//! a group's processes go on, so signals of job control do not stop them.

use super::process::Process;
use super::signal::{BY_KERNEL, CONTINUE, HANG_UP, Sent};
use super::system::System;
use super::world::World;
use std::collections::{BTreeMap, BTreeSet};

impl System {
    /// Notes in each process whether its group is orphaned. Returns the groups that were not orphaned before.
    pub(super) fn note_orphaned_groups(&mut self) -> BTreeSet<u32> {
        let groups = self.all().map(|it| (it.number, (it.session, it.group)));
        let groups: BTreeMap<u32, (u32, u32)> = groups.collect();
        let has_shell = |it: &&Process| {
            let parent = groups.get(&it.parent);
            parent.is_some_and(|&(session, group)| session == it.session && group != it.group)
        };
        let with_shell = self.all().filter(has_shell).map(|it| it.group);
        let with_shell: BTreeSet<u32> = with_shell.collect();
        let mut new = BTreeSet::new();
        for process in self.all_mut() {
            let is_orphaned = !with_shell.contains(&process.group);
            if is_orphaned && !process.is_in_orphaned_group {
                new.insert(process.group);
            }
            process.is_in_orphaned_group = is_orphaned;
        }
        new
    }

    /// After the end of a process: sends SIGHUP and SIGCONT to the members of each group that is orphaned by it and has a
    /// stopped member.
    pub(super) fn release_orphaned_groups<W: World>(&mut self, world: &mut W) {
        for group in self.note_orphaned_groups() {
            let is_member = |it: &Process| it.group == group && !it.is_over;
            let is_stopped = |it: &Process| is_member(it) && it.signals.stop.is_on();
            if !self.all().any(is_stopped) {
                continue;
            }
            for signal in [HANG_UP, CONTINUE] {
                let sent = Sent {
                    signal,
                    code: BY_KERNEL,
                    words: [0; 2],
                };
                for process in self.all_mut().filter(|it| is_member(it)) {
                    let (signals, threads) = (&mut process.signals, &mut process.threads);
                    // The call fails only for a number that is no signal.
                    let _ = signals.send_to_process(threads, world, sent);
                }
            }
        }
        self.tell_changes(world);
    }
}
