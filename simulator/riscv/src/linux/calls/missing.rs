//! System calls that the simulator does not implement. Programs work without most of these calls, as on an older Linux.

use crate::linux::errno::{ENOSYS, EPERM};
use crate::linux::process::Process;
use crate::linux::task::{Outcome, Task};

/// The answer to a call that the simulator does not implement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// `ENOSYS`. Libraries try the call and lose nothing.
    Quiet,
    /// `ENOSYS`. A line at the end of the run names the call.
    Told,
    /// `EPERM`: only the administrator may make the call.
    Refused,
}

use Answer::{Quiet, Refused, Told};

/// The system calls of riscv64-linux outside the table of calls: number, name, answer.
/// Source of the numbers: Linux's `include/uapi/asm-generic/unistd.h`.
const MISSING: [(u64, &str, Answer); 123] = [
    (0, "io_setup", Told),
    (1, "io_destroy", Told),
    (2, "io_submit", Told),
    (3, "io_cancel", Told),
    (4, "io_getevents", Told),
    (26, "inotify_init1", Told),
    (27, "inotify_add_watch", Told),
    (28, "inotify_rm_watch", Told),
    (30, "ioprio_set", Quiet),
    (31, "ioprio_get", Quiet),
    (39, "umount2", Refused),
    (40, "mount", Refused),
    (41, "pivot_root", Refused),
    (51, "chroot", Refused),
    (58, "vhangup", Told),
    (60, "quotactl", Told),
    (89, "acct", Refused),
    (90, "capget", Quiet),
    (91, "capset", Quiet),
    (97, "unshare", Told),
    (104, "kexec_load", Told),
    (105, "init_module", Refused),
    (106, "delete_module", Refused),
    (116, "syslog", Told),
    (117, "ptrace", Told),
    // Only a signal handler that restarts interrupted calls as Linux does makes this call.
    (128, "restart_syscall", Quiet),
    (142, "reboot", Refused),
    (159, "setgroups", Told),
    (161, "sethostname", Refused),
    (162, "setdomainname", Refused),
    (170, "settimeofday", Told),
    (171, "adjtimex", Told),
    (180, "mq_open", Told),
    (181, "mq_unlink", Told),
    (182, "mq_timedsend", Told),
    (183, "mq_timedreceive", Told),
    (184, "mq_notify", Told),
    (185, "mq_getsetattr", Told),
    (186, "msgget", Told),
    (187, "msgctl", Told),
    (188, "msgrcv", Told),
    (189, "msgsnd", Told),
    (190, "semget", Told),
    (191, "semctl", Told),
    (192, "semtimedop", Told),
    (193, "semop", Told),
    (194, "shmget", Told),
    (195, "shmctl", Told),
    (196, "shmat", Told),
    (197, "shmdt", Told),
    (217, "add_key", Quiet),
    (218, "request_key", Quiet),
    (219, "keyctl", Quiet),
    (224, "swapon", Refused),
    (225, "swapoff", Refused),
    (232, "mincore", Told),
    (234, "remap_file_pages", Told),
    (235, "mbind", Quiet),
    (236, "get_mempolicy", Quiet),
    (237, "set_mempolicy", Quiet),
    (238, "migrate_pages", Quiet),
    (239, "move_pages", Quiet),
    (241, "perf_event_open", Told),
    (243, "recvmmsg", Told),
    (258, "riscv_hwprobe", Quiet),
    (262, "fanotify_init", Told),
    (263, "fanotify_mark", Told),
    (264, "name_to_handle_at", Quiet),
    (265, "open_by_handle_at", Quiet),
    (266, "clock_adjtime", Told),
    (268, "setns", Told),
    (269, "sendmmsg", Told),
    (270, "process_vm_readv", Told),
    (271, "process_vm_writev", Told),
    (272, "kcmp", Quiet),
    (273, "finit_module", Told),
    (274, "sched_setattr", Quiet),
    (275, "sched_getattr", Quiet),
    (277, "seccomp", Quiet),
    (280, "bpf", Told),
    (282, "userfaultfd", Told),
    (288, "pkey_mprotect", Quiet),
    (289, "pkey_alloc", Quiet),
    (290, "pkey_free", Quiet),
    (292, "io_pgetevents", Told),
    (293, "rseq", Quiet),
    (294, "kexec_file_load", Told),
    (424, "pidfd_send_signal", Quiet),
    (425, "io_uring_setup", Quiet),
    (426, "io_uring_enter", Told),
    (427, "io_uring_register", Quiet),
    (428, "open_tree", Told),
    (429, "move_mount", Told),
    (430, "fsopen", Told),
    (431, "fsconfig", Told),
    (432, "fsmount", Told),
    (433, "fspick", Told),
    (434, "pidfd_open", Quiet),
    (435, "clone3", Quiet),
    (437, "openat2", Quiet),
    (438, "pidfd_getfd", Quiet),
    (440, "process_madvise", Quiet),
    (441, "epoll_pwait2", Quiet),
    (442, "mount_setattr", Told),
    (443, "quotactl_fd", Told),
    (444, "landlock_create_ruleset", Quiet),
    (445, "landlock_add_rule", Quiet),
    (446, "landlock_restrict_self", Quiet),
    (447, "memfd_secret", Told),
    (448, "process_mrelease", Quiet),
    (449, "futex_waitv", Quiet),
    (450, "set_mempolicy_home_node", Quiet),
    (451, "cachestat", Quiet),
    (453, "map_shadow_stack", Quiet),
    (454, "futex_wake", Quiet),
    (455, "futex_wait", Quiet),
    (456, "futex_requeue", Quiet),
    (457, "statmount", Quiet),
    (458, "listmount", Quiet),
    (459, "lsm_get_self_attr", Quiet),
    (460, "lsm_set_self_attr", Quiet),
    (461, "lsm_list_modules", Quiet),
    (462, "mseal", Quiet),
];

pub(super) fn missing(process: &mut Process, task: &Task, number: u64) -> Outcome {
    match MISSING.iter().find(|(known, ..)| *known == number) {
        Some((.., Quiet)) => {}
        Some((.., Refused)) => return Outcome::Fail(EPERM),
        Some((_, name, Told)) => process.miss(task, name),
        None => process.miss(task, &format!("number {number}")),
    }
    Outcome::Fail(ENOSYS)
}

#[cfg(test)]
mod tests {
    use super::MISSING;
    use crate::linux::calls::table::name_of;

    /// Numbers that no call of riscv64-linux has: removed calls, calls of other machines, and calls with times of 64
    /// bits for machines of 32 bits.
    fn is_unused(number: u64) -> bool {
        matches!(number, 18 | 38 | 42 | 244..=257 | 295..=423)
    }

    #[test]
    fn each_call_is_in_one_table() {
        let last = MISSING.iter().map(|row| row.0).max().unwrap_or(0);
        for number in 0..=last {
            let is_missing = MISSING.iter().any(|row| row.0 == number);
            let is_there = name_of(number) != "a call";
            let count = u32::from(is_missing) + u32::from(is_there);
            assert_eq!(count, u32::from(!is_unused(number)), "{number}");
        }
    }
}
