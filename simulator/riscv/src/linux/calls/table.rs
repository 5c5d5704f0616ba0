//! The table of system calls: number, name, handler.

use super::missing::missing;
use super::waits::{await_signal, nap, suspend};
use super::{
    changed, children, exec, fence, futex, made, pipes, poll, processes, scheduling, streams,
    system as machine, threads as thread, vectors,
};
use crate::linux::errno::{EINVAL, EOPNOTSUPP, ESPIPE, Value, known_flags};
use crate::linux::files::HERE;
use crate::linux::process::Process;
use crate::linux::signals::{return_from_signal, set_alternate};
use crate::linux::system::System;
use crate::linux::task::Outcome::{self, Exit, Fail, Return};
use crate::linux::task::Task;
use crate::linux::time;
use crate::linux::users::{USER, is_user};
use crate::linux::world::World;

macro_rules! calls {
    (
        ($system:ident, $process:ident, $task:ident, $world:ident) { $($prologue:tt)* }
        $($number:literal $name:ident = $handler:expr;)+
    ) => {
        /// The numbers of the calls, by name.
        #[expect(non_upper_case_globals, dead_code, reason = "Linux's names, and all of them")]
        pub(in crate::linux) mod number {
            $(pub(in crate::linux) const $name: u64 = $number;)+
        }

        /// The names of the system calls that a program may use. Other calls return `ENOSYS`.
        /// [`Outcome::absent`](crate::Outcome::absent) names the missing calls without which a program may have done
        /// less.
        ///
        /// ```
        /// assert!(manycore_riscv::system_calls().contains(&"futex"));
        /// ```
        #[must_use]
        pub fn system_calls() -> &'static [&'static str] {
            &[$(stringify!($name)),+]
        }

        /// The name of a system call.
        pub(super) fn name_of(number: u64) -> &'static str {
            match number {
                $($number => stringify!($name),)+
                _ => "a call",
            }
        }

        /// Makes the system call that a task asks for.
        pub(in crate::linux) fn call<W: World>(
            $system: &mut System,
            $task: &mut Task,
            $world: &mut W,
        ) -> Outcome {
            let $process = $system.of($task);
            $($prologue)*
            match $task.hart.x[17] {
                $($number => Outcome::from($handler),)+
                number => missing($process, $task, number),
            }
        }
    };
}

calls! {
    (system, process, task, world) {
        let [a, b, c, d, e, f] = task.arguments();
        // A handler borrows parts of the process, the whole process, or all processes.
        let Process { memory, files, names, signals, timers, threads, random, .. } = process;
        let space = &mut memory.space;
    }
    // Files have no extended attributes.
    5 setxattr = Fail(EOPNOTSUPP);
    6 lsetxattr = Fail(EOPNOTSUPP);
    7 fsetxattr = Fail(EOPNOTSUPP);
    8 getxattr = Fail(EOPNOTSUPP);
    9 lgetxattr = Fail(EOPNOTSUPP);
    10 fgetxattr = Fail(EOPNOTSUPP);
    11 listxattr = Fail(EOPNOTSUPP);
    12 llistxattr = Fail(EOPNOTSUPP);
    13 flistxattr = Fail(EOPNOTSUPP);
    14 removexattr = Fail(EOPNOTSUPP);
    15 lremovexattr = Fail(EOPNOTSUPP);
    16 fremovexattr = Fail(EOPNOTSUPP);
    17 getcwd = files.working_directory(space, a, b);
    19 eventfd2 = files.make_events(a, b);
    20 epoll_create1 = files.make_group(a);
    21 epoll_ctl = streams::change(process, world, |p| {
        p.files.change_group(&mut p.memory.space, [a, b, c, d])
    });
    22 epoll_pwait = poll::await_group(process, task, world);
    23 dup = files.duplicate(a, 0, 0);
    24 dup3 = streams::change(process, world, |p| p.files.duplicate_to(a, b, c));
    25 fcntl = streams::control(process, world, [a, b, c]);
    29 ioctl = files.control_device(space, a, b, c);
    32 flock = files.exists(a).map(|()| 0);
    33 mknodat = files.make_node(space, [a, b], c);
    34 mkdirat = files.make_directory(space, [a, b], c);
    35 unlinkat = files.unlink(space, [a, b], c);
    36 symlinkat = files.link_by_name(space, a, [b, c]);
    37 linkat = files.link(space, [[a, b], [c, d]], e);
    43 statfs = made::tell_volume_at(process, world, a, b);
    44 fstatfs = files.tell_volume_of(space, a, b);
    45 truncate = {
        let file = not_negative(b).and_then(|length| files.truncate_at(space, a, length));
        changed::cut(system, file)
    };
    46 ftruncate = {
        let file = not_negative(b).and_then(|length| files.truncate(a, length));
        changed::cut(system, file)
    };
    47 fallocate = files.allocate(a, b, [c, d]);
    48 faccessat = known_flags(c, RIGHTS).and_then(|_| made::access(process, world, [a, b], 0, c));
    49 chdir = made::change_directory(process, world, a);
    50 fchdir = files.change_to_open(a);
    52 fchmod = files.set_mode(a, b);
    53 fchmodat = files.set_mode_at(space, [a, b, c, 0]);
    54 fchownat = files.set_owner_at(space, [a, b, c, d, e]);
    55 fchown = files.set_owner(a, [b, c]);
    56 openat = pipes::open(system, task, world, [a, b], [c, d]);
    57 close = streams::change(process, world, |p| p.files.close(a));
    59 pipe2 = files.make_pipe(space, a, b);
    61 getdents64 = files.entries(space, a, b, c);
    62 lseek = files.seek(a, b as i64, c);
    63 read = streams::read_any(files.awaits_writer(a, c, world), process, task, world, |p| {
        p.read(a, &[(b, c)], None)
    });
    64 write = streams::write_parts(process, task, world, Ok(vec![(b, c)]), 0);
    65 readv = streams::read_vector(process, task, world);
    66 writev = streams::write_vector(process, task, world, 0);
    67 pread64 = not_negative(d).and_then(|at| process.read(a, &[(b, c)], Some(at)));
    68 pwrite64 = not_negative(d).and_then(|at| process.write(a, &[(b, c)], Some(at)));
    69 preadv = not_negative(d).and_then(|at| process.read_parts(a, [b, c], Some(at)));
    70 pwritev = not_negative(d).and_then(|at| process.write_parts(a, [b, c], Some(at)));
    71 sendfile = streams::wait_for_room(process, task, world, |p| {
        p.memory.transfer(&mut p.files, [b, c], [a, 0], d)
    });
    72 pselect6 = poll::select(process, task, world);
    73 ppoll = poll::poll(process, task, world);
    74 signalfd4 = files.set_signals(space, [a, b, d]).map(|(number, set)| {
        signals.watch(set);
        // A thread that sleeps already may have to send the signals of timers that only this file takes.
        threads.narrowed = true;
        number
    });
    75 vmsplice = pipes::vmsplice(process, task, world);
    76 splice = pipes::splice(process, task, world);
    77 tee = pipes::tee(process, task, world);
    78 readlinkat = made::read_link(process, world, [a, b], [c, d]);
    79 newfstatat = made::stat(process, world, [a, b], d)
        .and_then(|stat| put(process, c, &stat.classic()));
    80 fstat = files.stat(a).and_then(|stat| put(process, b, &stat.classic()));
    81 sync = memory.synchronise();
    82 fsync = memory.synchronise().and_then(|_| files.has_places(a, EINVAL));
    83 fdatasync = memory.synchronise().and_then(|_| files.has_places(a, EINVAL));
    84 sync_file_range = memory.synchronise().and_then(|_| files.has_places(a, ESPIPE));
    85 timerfd_create = files.make_clock(a, b);
    86 timerfd_settime = {
        let done = files.set_clock(space, world, [a, b, c, d]);
        streams::change(process, world, |_| done)
    };
    87 timerfd_gettime = files.tell_clock(space, world, a, b);
    88 utimensat = files.set_times(space, [a, b, c, d]);
    92 personality = Return(0);
    93 exit = thread::end(process, task, world);
    94 exit_group = Exit((a & 0xFF) as i32);
    95 waitid = children::wait_by(system, task, world, [a, b, c, d]);
    96 set_tid_address = thread::set_clear(task, a);
    98 futex = futex::futex(system, task, world);
    99 set_robust_list = thread::set_robust(threads, task, [a, b]);
    100 get_robust_list = thread::tell_robust(process, task, [a, b, c]);
    101 nanosleep = nap(process, task, world, [time::REALTIME, 0, a, b]);
    102 getitimer = match a {
        0 => timers.tell_interval(space, world, b),
        _ => timers.of_processor.get(space, task, world, [a, b]),
    };
    103 setitimer = match a {
        0 => timers.set_interval(space, signals, threads, world, [b, c]),
        _ => timers.of_processor.set(space, (signals, threads), task, world, [a, b, c]),
    };
    107 timer_create = timers.create(space, threads, [a, b, c]);
    108 timer_gettime = timers.write_time(space, world, a, b);
    109 timer_getoverrun = timers.overruns(a);
    110 timer_settime = timers.set(space, signals, threads, world, [a, b, c, d]);
    111 timer_delete = timers.delete(a);
    112 clock_settime = time::set(space, a, b);
    113 clock_gettime = time::get(space, world, a, b);
    114 clock_getres = time::tell_resolution(space, world, a, b);
    115 clock_nanosleep = nap(process, task, world, [a, b, c, d]);
    118 sched_setparam = scheduling::set_priority(system, task, [a, b]);
    119 sched_setscheduler = scheduling::set_policy(system, task, [a, b, c]);
    120 sched_getscheduler = scheduling::tell_policy(system, task, a);
    121 sched_getparam = scheduling::tell_priority(system, task, [a, b]);
    122 sched_setaffinity = thread::set_affinity(space, threads, task, world, [a, b, c]);
    123 sched_getaffinity = thread::tell_affinity(space, threads, task, world, [a, b, c]);
    124 sched_yield = thread::make_way(world);
    125 sched_get_priority_max = scheduling::limit(a, 99);
    126 sched_get_priority_min = scheduling::limit(a, 1);
    127 sched_rr_get_interval = scheduling::tell_slice(system, task, [a, b]);
    129 kill = processes::kill(system, task, world, [a, b]);
    130 tkill = is_positive(a)
        .and_then(|_| processes::kill_thread(system, task, world, None, [a, b]));
    131 tgkill = is_positive(a)
        .and_then(|_| is_positive(b))
        .and_then(|_| processes::kill_thread(system, task, world, Some(a), [b, c]));
    132 sigaltstack = set_alternate(space, task, a, b);
    133 rt_sigsuspend = suspend(process, task, world, a);
    134 rt_sigaction = is_set(d).and_then(|_| signals.set_action(space, threads, a, [b, c]));
    135 rt_sigprocmask = is_set(d).and_then(|_| threads.set_mask(space, task, a, [b, c]));
    136 rt_sigpending = is_at_most_set(b).and_then(|_| {
        process.expire_timers(task, world);
        let Process { memory, signals, threads, .. } = process;
        let space = &mut memory.space;
        signals.tell_pending(space, threads, task, a)
    });
    137 rt_sigtimedwait = match is_set(d) {
        Ok(_) => await_signal(process, task, world, [a, b, c]),
        Err(error) => Fail(error),
    };
    138 rt_sigqueueinfo = processes::queue(system, task, world, (a, None), [b, c]);
    139 rt_sigreturn = return_from_signal(space, threads, task);
    140 setpriority = scheduling::set_nice(system, task, [a, b, c]);
    141 getpriority = scheduling::tell_nice(system, task, [a, b]);
    143 setregid = is_user(&[a, b]);
    144 setgid = is_user(&[a]);
    145 setreuid = is_user(&[a, b]);
    146 setuid = is_user(&[a]);
    147 setresuid = is_user(&[a, b, c]);
    148 getresuid = machine::tell_users(space, [a, b, c]);
    149 setresgid = is_user(&[a, b, c]);
    150 getresgid = machine::tell_users(space, [a, b, c]);
    151 setfsuid = Return(USER.into());
    152 setfsgid = Return(USER.into());
    153 times = machine::tell_ticks(system, task, world, a);
    154 setpgid = processes::set_group(system, task, [a, b]);
    155 getpgid = processes::tell_of(system, task, a, |process| process.group);
    156 getsid = processes::tell_of(system, task, a, |process| process.session);
    157 setsid = processes::begin_session(system, task);
    158 getgroups = is_not_less(a);
    160 uname = machine::tell_name(space, a);
    163 getrlimit = machine::limits(process, [a, 0, b]);
    164 setrlimit = machine::limits(process, [a, b, 0]);
    165 getrusage = machine::tell_usage(system, task, world, [a, b]);
    166 umask = files.set_mask(a);
    167 prctl = machine::control_process(process, task, [a, b]);
    168 getcpu = machine::tell_core(space, world, a, b);
    169 gettimeofday = time::tell_of_day(space, world, a);
    172 getpid = Return(process.number.into());
    173 getppid = Return(process.parent.into());
    174 getuid = Return(USER.into());
    175 geteuid = Return(USER.into());
    176 getgid = Return(USER.into());
    177 getegid = Return(USER.into());
    178 gettid = Return(task.number.into());
    179 sysinfo = machine::tell_system(space, a);
    198 socket = files.make_socket([a, b, c]);
    199 socketpair = files.make_sockets(space, a, b, d);
    200 bind = files.bind(space, [a, b, c]);
    201 listen = streams::change(process, world, |p| p.files.listen(a, b));
    202 accept = streams::read(files.awaits_caller(a), process, task, world, |p| {
        p.files.accept(&mut p.memory.space, [a, b, c, 0])
    });
    203 connect = streams::connect(process, task, world);
    204 getsockname = files.tell_name(space, a, 0, [b, c]);
    205 getpeername = files.tell_name(space, a, 1, [b, c]);
    206 sendto = streams::send(process, task, world);
    207 recvfrom = streams::receive(process, task, world);
    208 setsockopt = files.set_socket_option(space, a, [b, c], [d, e]);
    209 getsockopt = files.socket_option(space, a, [b, c], [d, e]);
    210 shutdown = streams::shut(process, world, a, b);
    211 sendmsg = streams::send_message(process, task, world);
    212 recvmsg = streams::receive_message(process, task, world);
    213 readahead = files.has_places(a, EINVAL);
    214 brk = Return(memory.brk(a));
    215 munmap = memory.munmap(a, b);
    216 mremap = memory.mremap([a, b], [e, c], d);
    220 clone = processes::clone(system, task, world);
    221 execve = exec::execute(system, task, world, [HERE, a, b, c, 0]);
    222 mmap = memory.mmap(files, names, [a, b, c, d, e, f]);
    223 fadvise64 = files.exists(a).map(|()| 0);
    226 mprotect = memory.mprotect(a, b, c);
    227 msync = memory.synchronise_range(a, b, c);
    // Pages never leave memory, so a lock has no effect.
    228 mlock = Return(0);
    229 munlock = Return(0);
    230 mlockall = Return(0);
    231 munlockall = Return(0);
    233 madvise = memory.madvise(a, b, c);
    242 accept4 = streams::read(files.awaits_caller(a), process, task, world, |p| {
        p.files.accept(&mut p.memory.space, [a, b, c, d])
    });
    240 rt_tgsigqueueinfo = processes::queue(system, task, world, (a, Some(b)), [c, d]);
    259 riscv_flush_icache = Return(memory.space.flush_code());
    260 wait4 = children::wait(system, task, world, [a, b, c, d]);
    261 prlimit64 = machine::limits(process, [b, c, d]);
    267 syncfs = memory.synchronise().and_then(|_| files.exists(a)).map(|()| 0);
    276 renameat2 = files.rename(space, [[a, b], [c, d]], e);
    278 getrandom = known_flags(c, RANDOM_FLAGS).and_then(|_| memory.fill_random(random, a, b));
    279 memfd_create = files.make_memory_file(space, [a, b]);
    281 execveat = exec::execute(system, task, world, [a, b, c, d, e]);
    283 membarrier = fence::membarrier(process, task, world, a, b);
    284 mlock2 = Return(0);
    285 copy_file_range = memory.copy(files, [a, b], [c, d], e);
    286 preadv2 = vectors::read(process, task, world, (place(d), f));
    287 pwritev2 = vectors::write(process, task, world, (place(d), f));
    291 statx = is_one_kind(c)
        .and_then(|_| made::stat(process, world, [a, b], c))
        .and_then(|stat| put(process, e, &stat.extended()));
    436 close_range = streams::change(process, world, |p| p.files.close_range([a, b, c]));
    439 faccessat2 = known_flags(c, RIGHTS).and_then(|_| made::access(process, world, [a, b], d, c));
    452 fchmodat2 = files.set_mode_at(space, [a, b, c, d]);
}

/// The flags of `getrandom`, the rights that `faccessat` checks, and the kinds of synchronisation of `statx`.
const RANDOM_FLAGS: u64 = 7;
const RIGHTS: u64 = 7;
const SYNC_KINDS: u64 = 0x6000;

/// Writes a call's answer to memory.
fn put(process: &mut Process, to: u64, bytes: &[u8]) -> Value {
    process.memory.space.write(to, bytes)?;
    Ok(0)
}

fn not_negative(place: u64) -> Value {
    if (place as i64) < 0 {
        Err(EINVAL)
    } else {
        Ok(place)
    }
}

fn is_positive(number: u64) -> Value {
    if number as i32 <= 0 {
        Err(EINVAL)
    } else {
        Ok(0)
    }
}

/// Fails unless a count is 0 or more.
fn is_not_less(count: u64) -> Value {
    match count as i32 {
        0.. => Ok(0),
        _ => Err(EINVAL),
    }
}

/// Fails if `statx` has two flags that exclude each other.
fn is_one_kind(flags: u64) -> Value {
    match flags & SYNC_KINDS {
        SYNC_KINDS => Err(EINVAL),
        _ => Ok(0),
    }
}

fn is_at_most_set(bytes: u64) -> Value {
    if bytes <= 8 { Ok(0) } else { Err(EINVAL) }
}

fn is_set(bytes: u64) -> Value {
    if bytes == 8 { Ok(0) } else { Err(EINVAL) }
}

/// Returns an offset in a file, or `None` (-1) for the file's current position.
fn place(offset: u64) -> Option<u64> {
    (offset as i64 != -1).then_some(offset)
}
