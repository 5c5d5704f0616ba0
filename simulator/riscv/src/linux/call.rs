//! System calls by number.

use super::descriptors::CLOSES;
use super::errno::{ECHILD, EINVAL, ENOSYS, ENOTTY, EOPNOTSUPP, EPERM, EPIPE, ESRCH, Errno};
use super::files::Open;
use super::groups::Group;
use super::numbers::{Call, OPTIONAL, system_calls};
use super::signals::PIPE;
use super::streams::NON_BLOCKING;
use super::task::{Outcome, Task};
use super::{PROCESS, Process, World};

/// The user and the group that the program runs as.
const USER: u32 = 1_000;

/// `F_UNLCK`, as `F_GETLK` writes it.
const NO_LOCK: [u8; 2] = [2, 0];

/// Whether users are the program's own, or none (-1): it cannot become another.
pub(super) fn is_user(users: &[u64]) -> Result<u64, Errno> {
    let own = |user: &u64| matches!(*user as u32, USER | u32::MAX);
    if users.iter().all(own) {
        Ok(0)
    } else {
        Err(EPERM)
    }
}

impl Process {
    pub(super) fn call<W: World>(&mut self, task: &mut Task, world: &mut W) -> Outcome {
        let number = task.hart.x[17];
        let arguments @ [a, b, c, d, ..] = task.arguments();
        let Some(call) = Call::new(number) else {
            if !OPTIONAL.contains(&number) && self.failure.is_none() {
                let call = task.hart.pc.wrapping_sub(4);
                let place = self.describe_place(call, task.hart.x[1]);
                self.failure = Some(format!(
                    "system call {number} at {place} is not supported; supported are: {}",
                    system_calls().join(" ")
                ));
                return Outcome::Exit(1);
            }
            return Outcome::Fail(ENOSYS);
        };
        use Call::*;
        let done: Result<u64, Errno> = match call {
            exit => return self.exit_thread(task, world),
            exit_group => return Outcome::Exit((a & 0xFF) as i32),
            futex => return self.futex(task, world),
            sched_yield => {
                world.yield_now();
                return Outcome::Yield;
            }
            rt_sigreturn => return self.return_from_signal(task),
            nanosleep => return self.nap(task, world, [0, 0, a, b]),
            clock_nanosleep => return self.nap(task, world, [a, b, c, d]),
            ppoll => return self.poll(task, world),
            pselect6 => return self.select(task, world),
            epoll_pwait => return self.await_group(task, world),
            rt_sigsuspend => return self.suspend(task, world, a),
            rt_sigtimedwait => return self.await_signal(task, world, [a, b, c]),
            read | readv if self.files.awaits_writer(a) => {
                return self.await_stream(task, world, None);
            }
            recvfrom if self.awaits_sender(a, d) => return self.await_stream(task, world, None),
            sched_setaffinity => {
                return self
                    .set_affinity(task, world, a, b, c)
                    .unwrap_or_else(Outcome::Fail);
            }
            execve => return self.execute(task),
            clone => self.clone_task(task, world),
            brk => Ok(Process::brk(self, a)),
            mmap => Process::mmap(self, arguments),
            munmap => Process::munmap(self, a, b),
            mprotect => Process::mprotect(self, a, b, c),
            madvise => Process::madvise(self, a, b, c),
            mremap => Process::mremap(self, a, b, c, d),
            set_tid_address => {
                task.clear = a;
                Ok(task.number.into())
            }
            set_robust_list => {
                if let Some(thread) = self.threads.get_mut(&task.number) {
                    thread.robust = a;
                }
                Ok(0)
            }
            // No command of `membarrier` is needed: the machine keeps its order.
            riscv_flush_icache | membarrier => Ok(0),
            rt_sigpending => self.tell_pending(task, a),
            // One policy, without priorities.
            sched_setscheduler if b != 0 => Err(EINVAL),
            sched_setscheduler | sched_setparam => Ok(0),
            sched_getscheduler => Ok(0),
            sched_getparam => self.space.write_u32(b, 0).map(|()| 0).map_err(Errno::from),
            sched_get_priority_max => Ok(if matches!(a, 1 | 2) { 99 } else { 0 }),
            sched_get_priority_min => Ok(u64::from(matches!(a, 1 | 2))),
            // The kernel's form of a nice value of 0.
            getpriority => Ok(20),
            setpriority => Ok(0),
            getpgid | getsid => Ok(PROCESS.into()),
            setpgid => Ok(0),
            setsid => Err(EPERM),
            // There are no children.
            wait4 | waitid => Err(ECHILD),
            setitimer => self.set_interval(world, a, b, c),
            getitimer => self.tell_interval(world, a, b),
            getpid => Ok(PROCESS.into()),
            getppid => Ok(1),
            gettid => Ok(task.number.into()),
            getuid | geteuid | getgid | getegid | setfsuid | setfsgid => Ok(USER.into()),
            setuid | setgid => is_user(&[a]),
            setreuid | setregid => is_user(&[a, b]),
            setresuid | setresgid => is_user(&[a, b, c]),
            getresuid | getresgid => [a, b, c].into_iter().try_fold(0, |_, to| {
                self.space.write_u32(to, USER)?;
                Ok(0)
            }),
            getgroups => Ok(0),
            personality => Ok(0),
            umask => Ok(u64::from(std::mem::replace(
                &mut self.files.mask,
                a as u32 & 0o777,
            ))),
            prctl => {
                if a == 15 {
                    Ok(0)
                } else {
                    Err(EINVAL)
                }
            }
            ioctl => self.control_device(a, b, c),
            getrandom => self.fill_random(a, b),
            sched_getaffinity => self.affinity(task, world, a, b, c),
            getcpu => self
                .write_word(a, world.core())
                .and_then(|_| self.write_word(b, 0)),
            kill => self.kill(world, a, b),
            tkill => self.send(world, a, b),
            tgkill => {
                if a as u32 == PROCESS {
                    self.send(world, b, c)
                } else {
                    Err(ESRCH)
                }
            }
            rt_sigaction => self.set_action(a, b, c),
            rt_sigprocmask => self.set_mask(task, a, b, c),
            rt_sigqueueinfo if a as u32 == PROCESS => self.queue(world, None, b, c),
            rt_tgsigqueueinfo if a as u32 == PROCESS => self.queue(world, Some(b as u32), c, d),
            rt_sigqueueinfo | rt_tgsigqueueinfo => Err(ESRCH),
            sigaltstack => self.set_alternate(task, a, b),
            timer_create => self.make_timer(task, a, b, c),
            timer_settime => self.set_timer(world, [a, b, c, d]),
            timer_gettime => self.tell_timer(world, a, b),
            timer_getoverrun => self.timer_overruns(a),
            timer_delete => self.delete_timer(a),
            clock_gettime => self.tell_time(world, a, b),
            clock_getres => self.write_time(b, 1),
            gettimeofday => self.tell_time_of_day(world, a),
            times => self.tell_times(world, a),
            getrusage => self.tell_usage(world, b),
            sysinfo => self.tell_system(a),
            uname => self.tell_name(a),
            prlimit64 => self.limits(b, d),
            getrlimit => self.limits(a, b),
            setrlimit => Ok(0),
            msync => {
                self.write_back();
                Ok(0)
            }
            // All memory stays where it is.
            mlock | munlock | mlockall | munlockall | mlock2 => Ok(0),
            socketpair => self.make_sockets(a, b, d),
            shutdown => self.shut(world, a, b),
            setxattr | lsetxattr | fsetxattr | getxattr | lgetxattr | fgetxattr | listxattr
            | llistxattr | flistxattr | removexattr | lremovexattr | fremovexattr => {
                Err(EOPNOTSUPP)
            }
            _ => self.file_call(call, arguments, world),
        };
        if let Ok(number) = done {
            let flags = match call {
                openat | dup3 => c,
                eventfd2 => b,
                epoll_create1 => a,
                // MFD_CLOEXEC is 1.
                memfd_create => b << 19,
                _ => 0,
            };
            if flags & CLOSES != 0 {
                self.files.set_closing(number, flags);
            }
        }
        match call {
            write | writev | sendto | sendfile if done == Err(EPIPE) => {
                let _ = self.send(world, task.number.into(), PIPE.0);
            }
            write | writev | sendto | sendfile | close | dup3 | epoll_ctl
                if self.files.has_streams() =>
            {
                Self::wake_readers(world);
            }
            _ => {}
        }
        done.into()
    }

    fn file_call<W: World>(
        &mut self,
        call: Call,
        arguments: [u64; 6],
        world: &W,
    ) -> Result<u64, Errno> {
        use Call::*;
        let [a, b, c, d, e, f] = arguments;
        match call {
            openat => self.open(world, a, b, c, d),
            close => self.files.close(a),
            read => self.read_file(a, &[(b, c)], None),
            write => self.write_file(a, &[(b, c)], None),
            pread64 => self.read_file(a, &[(b, c)], Some(d)),
            pwrite64 => self.write_file(a, &[(b, c)], Some(d)),
            readv => self
                .vectors(b, c)
                .and_then(|parts| self.read_file(a, &parts, None)),
            writev => self
                .vectors(b, c)
                .and_then(|parts| self.write_file(a, &parts, None)),
            lseek => self.files.seek(a, b as i64, c),
            ftruncate => self.files.truncate(a, b),
            preadv => self
                .vectors(b, c)
                .and_then(|parts| self.read_file(a, &parts, Some(d))),
            pwritev => self
                .vectors(b, c)
                .and_then(|parts| self.write_file(a, &parts, Some(d))),
            preadv2 if f == 0 => self
                .vectors(b, c)
                .and_then(|parts| self.read_file(a, &parts, (d as i64 != -1).then_some(d))),
            pwritev2 if f == 0 => self
                .vectors(b, c)
                .and_then(|parts| self.write_file(a, &parts, (d as i64 != -1).then_some(d))),
            preadv2 | pwritev2 => Err(EOPNOTSUPP),
            sync => {
                self.write_back();
                Ok(0)
            }
            fsync | fdatasync | syncfs => {
                self.write_back();
                self.files.exists(a).map(|()| 0)
            }
            flock | fadvise64 => self.files.exists(a).map(|()| 0),
            fallocate => self.files.allocate(a, b, c.saturating_add(d)),
            truncate => self.truncate_at(a, b),
            dup => self.files.duplicate(a, 0),
            dup3 => self.files.duplicate_to(a, b),
            // F_GETLK: no other process has a lock.
            fcntl if b == 5 => self
                .files
                .exists(a)
                .and_then(|()| Ok(self.space.write(c, &NO_LOCK)?))
                .map(|()| 0),
            fcntl => self.files.control(a, b, c),
            eventfd2 => self.make_events(a, b),
            epoll_create1 => self.files.add(Open::Group(Group::default())),
            epoll_ctl => self.change_group([a, b, c, d]),
            sendto => self.send_bytes(a, b, c),
            recvfrom => self.receive([a, b, c, d]),
            getsockname | getpeername => self.tell_no_name(a, b, c),
            getsockopt => self.socket_option(a, [b, c], d),
            setsockopt => self.is_socket(a),
            pipe2 => self.make_pipe(a, b),
            newfstatat => self.stat_at(world, a, b, c, d),
            fstat => self.stat_file(a, b),
            statx => self.stat_extended(world, a, b, c, e),
            readlinkat => self.read_link(a, b, c, d),
            faccessat => self.access(world, [a, b, c, 0]),
            faccessat2 => self.access(world, [a, b, c, d]),
            getcwd => self.working_directory(a, b),
            chdir => self.change_directory(a),
            fchdir => self.change_to_open(a),
            mkdirat => self.make_directory(a, b, c),
            symlinkat => self.link_by_name(a, b, c),
            linkat => self.link([a, b, c, d, e]),
            statfs => self.tell_volume_at(a, b),
            fstatfs => self.files.exists(a).and_then(|()| self.tell_volume(b)),
            fchmod => self.files.set_mode(a, b),
            fchmodat => self.set_mode_at([a, b, c, 0]),
            fchmodat2 => self.set_mode_at([a, b, c, d]),
            fchown => self.files.exists(a).and_then(|()| is_user(&[b, c])),
            fchownat => self.set_owner_at([a, b, c, d, e]),
            utimensat => self.set_times([a, b, c, d], world.nanoseconds()),
            unlinkat => self.unlink(a, b, c),
            renameat2 => self.rename(arguments),
            mknodat => self.make_node(a, b, c),
            sendfile => self.transfer([b, c], [a, 0], d),
            copy_file_range => self.transfer([a, b], [c, d], e),
            memfd_create => self.make_memory_file(),
            getdents64 => self.entries(a, b, c),
            _ => Err(ENOSYS),
        }
    }

    /// `ioctl`: of streams only, since there are no terminals.
    fn control_device(&mut self, number: u64, command: u64, to: u64) -> Result<u64, Errno> {
        match (command, self.files.get(number)?) {
            // FIONREAD
            (0x541B, Open::Stream(end)) => {
                let count = end.waiting() as u32;
                self.space.write_u32(to, count)?;
            }
            // FIONBIO
            (0x5421, _) => {
                let on = self.space.read_u32(to)? != 0;
                self.files
                    .set_status(number, if on { NON_BLOCKING } else { 0 })?;
            }
            // FIONCLEX, FIOCLEX
            (0x5450, _) => self.files.set_closing(number, 0),
            (0x5451, _) => self.files.set_closing(number, CLOSES),
            _ => return Err(ENOTTY),
        }
        Ok(0)
    }

    fn fill_random(&mut self, address: u64, length: u64) -> Result<u64, Errno> {
        let length = length.min(256);
        let mut bytes = vec![0; length as usize];
        self.random_bytes(&mut bytes);
        self.space.write(address, &bytes)?;
        Ok(length)
    }

    /// Writes to a pointer that may be null.
    fn write_word(&mut self, address: u64, value: u32) -> Result<u64, Errno> {
        if address != 0 {
            self.space.write_u32(address, value)?;
        }
        Ok(0)
    }
}
