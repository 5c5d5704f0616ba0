//! The memory policy (`set_mempolicy`) of a rank, a thread that workers execute: the NUMA nodes where the kernel places
//! the memory that the rank first touches.
//!
//! The kernel keeps a policy for each kernel thread. Few programs set one. After the first thread has set a policy, a
//! worker sets the policy of each rank that it switches to. A rank that has set no policy gets the policy from before
//! that.

use crate::system::next;
use crate::words::lock::Guarded;
use std::ffi::c_int;
use std::sync::OnceLock;

/// The most nodes that a kernel may have.
const NODES: usize = 1024;

/// A policy, in the kernel's form.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Policy {
    mode: c_int,
    nodes: [u64; NODES / 64],
}

/// The policy before a thread first set one.
static FIRST: OnceLock<Policy> = OnceLock::new();

/// Notes the present policy, since the calling thread is about to set another one.
pub(super) fn will_change() {
    FIRST.get_or_init(Policy::of_thread);
}

/// The calling thread's policy, if any thread has set one. Each policy is kept once, for ever.
pub(super) fn ask() -> Option<&'static Policy> {
    static KNOWN: Guarded<Vec<&'static Policy>> = Guarded::new(vec![]);
    FIRST.get()?;
    let policy = Policy::of_thread();
    Some(KNOWN.with(|known| {
        let found = known.iter().copied().find(|&known| *known == policy);
        found.unwrap_or_else(|| {
            known.push(Box::leak(Box::new(policy)));
            known[known.len() - 1]
        })
    }))
}

/// Sets the calling kernel thread's policy to this one, or to [`FIRST`].
pub(super) fn put_on(policy: Option<&'static Policy>) {
    if let Some(first) = FIRST.get() {
        policy.unwrap_or(first).set();
    }
}

impl Policy {
    fn of_thread() -> Self {
        let mut policy = Self {
            mode: 0,
            nodes: [0; NODES / 64],
        };
        // SAFETY: the kernel writes the mode and [`NODES`] bits. A kernel without policies leaves the default.
        unsafe {
            let (mode, nodes) = (&raw mut policy.mode, policy.nodes.as_mut_ptr());
            let arguments = [mode as usize, nodes as usize, NODES + 1, 0, 0, 0];
            next::syscall(libc::SYS_get_mempolicy, arguments);
        }
        policy
    }

    fn set(&self) {
        let is_any = self.nodes.iter().any(|&nodes| nodes != 0);
        // If a mode has no nodes, the kernel refuses a set of nodes.
        let (nodes, count) = if is_any {
            (self.nodes.as_ptr() as usize, NODES + 1)
        } else {
            (0, 0)
        };
        // SAFETY: the kernel reads [`NODES`] bits.
        unsafe {
            let arguments = [self.mode as usize, nodes, count, 0, 0, 0];
            next::syscall(libc::SYS_set_mempolicy, arguments);
        }
    }
}
