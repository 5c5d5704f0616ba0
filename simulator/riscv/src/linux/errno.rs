//! Linux's error numbers, and their conversion from the host's errors.

use crate::memory::Fault;

/// An error number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

impl Errno {
    /// The negative value that a system call returns in a register.
    pub(super) fn negated(self) -> u64 {
        -i64::from(self.0) as u64
    }
}

pub(crate) const EPERM: Errno = Errno(1);
pub(crate) const ENOENT: Errno = Errno(2);
pub(crate) const EINTR: Errno = Errno(4);
pub(crate) const ESRCH: Errno = Errno(3);
pub(crate) const EIO: Errno = Errno(5);
pub(crate) const ENXIO: Errno = Errno(6);
pub(crate) const EPROTONOSUPPORT: Errno = Errno(93);
pub(crate) const EAFNOSUPPORT: Errno = Errno(97);
pub(crate) const EADDRINUSE: Errno = Errno(98);
pub(crate) const EADDRNOTAVAIL: Errno = Errno(99);
pub(crate) const ENETUNREACH: Errno = Errno(101);
pub(crate) const EISCONN: Errno = Errno(106);
pub(crate) const ENOTCONN: Errno = Errno(107);
pub(crate) const ECONNREFUSED: Errno = Errno(111);
pub(crate) const ECONNRESET: Errno = Errno(104);
pub(crate) const ENOPROTOOPT: Errno = Errno(92);
pub(crate) const E2BIG: Errno = Errno(7);
pub(crate) const ENOEXEC: Errno = Errno(8);
pub(crate) const EBADF: Errno = Errno(9);
pub(crate) const ECHILD: Errno = Errno(10);
pub(crate) const EAGAIN: Errno = Errno(11);
pub(crate) const ENOMEM: Errno = Errno(12);
pub(crate) const EACCES: Errno = Errno(13);
pub(crate) const EFAULT: Errno = Errno(14);
pub(crate) const EBUSY: Errno = Errno(16);
pub(crate) const EEXIST: Errno = Errno(17);
pub(crate) const ENODEV: Errno = Errno(19);
pub(crate) const ENOTDIR: Errno = Errno(20);
pub(crate) const EISDIR: Errno = Errno(21);
pub(crate) const EINVAL: Errno = Errno(22);
pub(crate) const EMFILE: Errno = Errno(24);
pub(crate) const ENOTTY: Errno = Errno(25);
pub(crate) const EFBIG: Errno = Errno(27);
pub(crate) const ESPIPE: Errno = Errno(29);
pub(crate) const EPIPE: Errno = Errno(32);
pub(crate) const EDOM: Errno = Errno(33);
pub(crate) const ERANGE: Errno = Errno(34);
pub(crate) const EDEADLK: Errno = Errno(35);
pub(crate) const ENAMETOOLONG: Errno = Errno(36);
pub(crate) const ENOSYS: Errno = Errno(38);
pub(crate) const ELOOP: Errno = Errno(40);
pub(crate) const ENOTSOCK: Errno = Errno(88);
pub(crate) const EOPNOTSUPP: Errno = Errno(95);
pub(crate) const EALREADY: Errno = Errno(114);
pub(crate) const EINPROGRESS: Errno = Errno(115);
pub(crate) const ETIMEDOUT: Errno = Errno(110);

impl From<Fault> for Errno {
    fn from(_: Fault) -> Self {
        EFAULT
    }
}

impl From<std::io::Error> for Errno {
    /// Takes the host's number, since RISC-V and common hosts share Linux's generic numbers.
    fn from(error: std::io::Error) -> Self {
        Self(error.raw_os_error().unwrap_or(EIO.0))
    }
}

pub(crate) type Value = Result<u64, Errno>;

/// Fails if a call's flags have a bit that is not in `known`. Flags are an `int`.
pub(crate) fn known_flags(flags: u64, known: u64) -> Result<(), Errno> {
    match flags & 0xFFFF_FFFF & !known {
        0 => Ok(()),
        _ => Err(EINVAL),
    }
}
