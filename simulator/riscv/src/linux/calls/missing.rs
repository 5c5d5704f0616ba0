//! System calls that are not there. Programs do without most of them, on an older Linux too.

use crate::linux::errno::ENOSYS;
use crate::linux::process::Process;
use crate::linux::task::{Outcome, Task};

/// The answer to a program that asks for a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// `ENOSYS`. Libraries try the call and lose nothing.
    Quiet,
    /// `ENOSYS`. A line at the end names the call.
    Told,
    /// The run ends.
    Ends,
}

use Answer::{Ends, Quiet, Told};

/// The system calls of riscv64-linux that are not in the table of calls: number, name, answer.
/// Source of the numbers: Linux's `include/uapi/asm-generic/unistd.h`.
const MISSING: [(u64, &str, Answer); 129] = [
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
    (39, "umount2", Ends),
    (40, "mount", Ends),
    (41, "pivot_root", Ends),
    (51, "chroot", Ends),
    (58, "vhangup", Ends),
    (60, "quotactl", Ends),
    (75, "vmsplice", Quiet),
    (76, "splice", Quiet),
    (77, "tee", Quiet),
    (84, "sync_file_range", Quiet),
    (89, "acct", Ends),
    (90, "capget", Quiet),
    (91, "capset", Quiet),
    (97, "unshare", Told),
    (100, "get_robust_list", Quiet),
    (104, "kexec_load", Ends),
    (105, "init_module", Ends),
    (106, "delete_module", Ends),
    (112, "clock_settime", Ends),
    (116, "syslog", Told),
    (117, "ptrace", Ends),
    (127, "sched_rr_get_interval", Quiet),
    // Only a signal handler that knows the system asks for it.
    (128, "restart_syscall", Quiet),
    (142, "reboot", Ends),
    (159, "setgroups", Told),
    (161, "sethostname", Ends),
    (162, "setdomainname", Ends),
    (170, "settimeofday", Ends),
    (171, "adjtimex", Ends),
    (180, "mq_open", Ends),
    (181, "mq_unlink", Ends),
    (182, "mq_timedsend", Ends),
    (183, "mq_timedreceive", Ends),
    (184, "mq_notify", Ends),
    (185, "mq_getsetattr", Ends),
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
    (213, "readahead", Quiet),
    (217, "add_key", Quiet),
    (218, "request_key", Quiet),
    (219, "keyctl", Quiet),
    (224, "swapon", Ends),
    (225, "swapoff", Ends),
    (232, "mincore", Told),
    (234, "remap_file_pages", Ends),
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
    (266, "clock_adjtime", Ends),
    (268, "setns", Told),
    (269, "sendmmsg", Told),
    (270, "process_vm_readv", Told),
    (271, "process_vm_writev", Told),
    (272, "kcmp", Quiet),
    (273, "finit_module", Ends),
    (274, "sched_setattr", Quiet),
    (275, "sched_getattr", Quiet),
    (277, "seccomp", Quiet),
    (280, "bpf", Told),
    (281, "execveat", Ends),
    (282, "userfaultfd", Told),
    (288, "pkey_mprotect", Quiet),
    (289, "pkey_alloc", Quiet),
    (290, "pkey_free", Quiet),
    (292, "io_pgetevents", Told),
    (293, "rseq", Quiet),
    (294, "kexec_file_load", Ends),
    (424, "pidfd_send_signal", Quiet),
    (425, "io_uring_setup", Quiet),
    (426, "io_uring_enter", Told),
    (427, "io_uring_register", Quiet),
    (428, "open_tree", Ends),
    (429, "move_mount", Ends),
    (430, "fsopen", Ends),
    (431, "fsconfig", Ends),
    (432, "fsmount", Ends),
    (433, "fspick", Ends),
    (434, "pidfd_open", Quiet),
    (435, "clone3", Quiet),
    (437, "openat2", Quiet),
    (438, "pidfd_getfd", Quiet),
    (440, "process_madvise", Quiet),
    (441, "epoll_pwait2", Quiet),
    (442, "mount_setattr", Ends),
    (443, "quotactl_fd", Ends),
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
    (462, "mseal", Quiet),
];

/// The most letters of the message of a call that ends a run.
const LETTERS: usize = 200;

/// A call that is not there.
pub(super) fn missing(process: &mut Process, task: &Task, number: u64) -> Outcome {
    let known = MISSING.iter().find(|(known, ..)| *known == number);
    let name = match known {
        Some((.., Quiet)) => return Outcome::Fail(ENOSYS),
        Some((_, name, Told)) => {
            process.absent.insert(name);
            return Outcome::Fail(ENOSYS);
        }
        Some((_, name, Ends)) => format!("{name} ({number})"),
        None => number.to_string(),
    };
    if process.failure.is_some() {
        return Outcome::Fail(ENOSYS);
    }
    let place = process.describe_call(task);
    let end = " is not supported";
    let mut text = format!("system call {name} at {place}");
    if text.chars().count() + end.len() > LETTERS {
        let kept = text.chars().take(LETTERS - end.len() - 3);
        text = kept.chain("...".chars()).collect();
    }
    process.failure = Some(text + end);
    Outcome::Exit(1)
}
