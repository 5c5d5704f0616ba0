//! The system calls that there are, by number.

macro_rules! calls {
    ($($number:literal $name:ident),+ $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[expect(non_camel_case_types, reason = "Linux's names")]
        pub(super) enum Call { $($name),+ }

        impl Call {
            pub(super) fn new(number: u64) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)+
                    _ => None,
                }
            }
        }

        /// The names of the system calls that a program may use. Others return `ENOSYS` if the C
        /// library tries them and does without ([`Outcome`](crate::Outcome) names the first that
        /// was asked for and is not there).
        ///
        /// ```
        /// assert!(manycore_riscv::system_calls().contains(&"futex"));
        /// ```
        #[must_use]
        pub fn system_calls() -> &'static [&'static str] {
            &[$(stringify!($name)),+]
        }
    };
}

calls! {
    5 setxattr, 6 lsetxattr, 7 fsetxattr, 8 getxattr, 9 lgetxattr, 10 fgetxattr, 11 listxattr,
    12 llistxattr, 13 flistxattr, 14 removexattr, 15 lremovexattr, 16 fremovexattr, 17 getcwd, 19 eventfd2, 20 epoll_create1, 21 epoll_ctl, 22 epoll_pwait, 23 dup, 24 dup3,
    25 fcntl, 29 ioctl, 32 flock, 33 mknodat, 34 mkdirat, 35 unlinkat, 36 symlinkat, 37 linkat, 43 statfs,
    44 fstatfs, 45 truncate, 46 ftruncate, 47 fallocate, 48 faccessat, 49 chdir, 50 fchdir,
    52 fchmod, 53 fchmodat, 54 fchownat, 55 fchown, 56 openat, 57 close, 59 pipe2, 61 getdents64,
    62 lseek, 63 read, 64 write, 65 readv, 66 writev, 67 pread64, 68 pwrite64, 69 preadv,
    70 pwritev, 71 sendfile, 72 pselect6, 73 ppoll, 78 readlinkat, 79 newfstatat, 80 fstat, 81 sync, 82 fsync,
    83 fdatasync, 88 utimensat, 92 personality, 93 exit, 94 exit_group, 95 waitid,
    96 set_tid_address, 98 futex, 99 set_robust_list, 101 nanosleep, 102 getitimer, 103 setitimer,
    107 timer_create, 108 timer_gettime, 109 timer_getoverrun, 110 timer_settime, 111 timer_delete,
    113 clock_gettime, 114 clock_getres, 115 clock_nanosleep, 118 sched_setparam,
    119 sched_setscheduler, 120 sched_getscheduler, 121 sched_getparam, 122 sched_setaffinity,
    123 sched_getaffinity, 124 sched_yield, 125 sched_get_priority_max,
    126 sched_get_priority_min, 129 kill, 130 tkill, 131 tgkill, 132 sigaltstack,
    133 rt_sigsuspend, 134 rt_sigaction, 135 rt_sigprocmask, 136 rt_sigpending,
    137 rt_sigtimedwait, 138 rt_sigqueueinfo, 139 rt_sigreturn, 140 setpriority, 141 getpriority,
    143 setregid, 144 setgid, 145 setreuid, 146 setuid, 147 setresuid, 148 getresuid,
    149 setresgid, 150 getresgid, 151 setfsuid, 152 setfsgid, 153 times, 154 setpgid, 155 getpgid,
    156 getsid, 157 setsid, 158 getgroups, 160 uname, 163 getrlimit, 164 setrlimit, 165 getrusage,
    166 umask, 167 prctl, 168 getcpu, 169 gettimeofday, 172 getpid, 173 getppid, 174 getuid,
    175 geteuid, 176 getgid, 177 getegid, 178 gettid, 179 sysinfo, 199 socketpair,
    204 getsockname, 205 getpeername, 206 sendto, 207 recvfrom, 208 setsockopt, 209 getsockopt,
    210 shutdown, 214 brk, 215 munmap, 216 mremap, 220 clone, 221 execve, 222 mmap, 223 fadvise64,
    226 mprotect, 227 msync, 228 mlock, 229 munlock, 230 mlockall, 231 munlockall, 233 madvise,
    240 rt_tgsigqueueinfo, 259 riscv_flush_icache, 260 wait4, 261 prlimit64, 267 syncfs,
    276 renameat2, 278 getrandom, 279 memfd_create, 283 membarrier, 284 mlock2, 285 copy_file_range, 286 preadv2, 287 pwritev2,
    291 statx, 439 faccessat2, 452 fchmodat2,
}

/// Calls that programs and libraries try and do without, on an older Linux too: they are not there.
pub(super) const OPTIONAL: [u64; 53] = [
    26,  // inotify_init1
    30,  // ioprio_set
    31,  // ioprio_get
    75,  // vmsplice
    76,  // splice
    77,  // tee
    84,  // sync_file_range
    90,  // capget
    97,  // unshare
    100, // get_robust_list
    127, // sched_rr_get_interval
    128, // restart_syscall: only a signal handler that knows the system asks for it
    198, // socket: of a server for names of users and hosts
    213, // readahead
    217, // add_key
    219, // keyctl
    232, // mincore
    235, // mbind
    236, // get_mempolicy
    237, // set_mempolicy
    238, // migrate_pages
    239, // move_pages
    241, // perf_event_open
    258, // riscv_hwprobe
    262, // fanotify_init
    264, // name_to_handle_at
    268, // setns
    270, // process_vm_readv
    271, // process_vm_writev
    272, // kcmp
    274, // sched_setattr
    275, // sched_getattr
    277, // seccomp
    280, // bpf
    282, // userfaultfd
    289, // pkey_alloc
    293, // rseq
    424, // pidfd_send_signal
    425, // io_uring_setup
    434, // pidfd_open
    435, // clone3
    436, // close_range
    437, // openat2
    438, // pidfd_getfd
    440, // process_madvise
    441, // epoll_pwait2
    444, // landlock_create_ruleset
    449, // futex_waitv
    451, // cachestat
    454, // futex_wake
    455, // futex_wait
    456, // futex_requeue
    462, // mseal
];
