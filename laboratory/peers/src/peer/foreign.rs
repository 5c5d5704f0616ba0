//! The runtimes behind C glue: GNU and LLVM OpenMP and oneTBB.
//!
//! `build.rs` compiles each runtime's glue into a shared object. Only the runtime's process loads
//! it: libgomp and libomp export the same names.

use super::{Clients, JoinSession, Joins, Loops, Peer, Session, from_threads};
use crate::glue::{Glue, glue};
use crate::recursion::Node;
use crate::tasks::{self, Function, Task};
use anyhow::{Result, bail};
use std::ffi::{CStr, c_char, c_int, c_void};

/// A runtime behind glue, and the names of its policies.
pub(super) struct Runtime {
    glue: Glue,
    /// The policies of loops, in the order of the glue's numbers.
    policies: &'static [&'static str],
    /// The policies of joins, in the same order.
    joins: &'static [&'static str],
}

pub(super) const GOMP: Runtime = Runtime {
    glue: glue!("GNU OpenMP", "GOMP"),
    policies: &["static", "dynamic", "guided"],
    joins: &["task"],
};

pub(super) const LIBOMP: Runtime = Runtime {
    glue: glue!("LLVM OpenMP", "LIBOMP"),
    policies: &["static", "dynamic", "guided", "auto"],
    joins: &["task"],
};

pub(super) const TBB: Runtime = Runtime {
    glue: glue!("oneTBB", "TBB"),
    policies: &["auto", "static", "affinity"],
    joins: &["task-group", "invoke"],
};

type CallFunction = unsafe extern "C" fn(c_int, usize, Function, *const c_void);
type InlineFunction = unsafe extern "C" fn(c_int, usize);
type EnterFunction = unsafe extern "C" fn(unsafe extern "C" fn(*mut c_void), *mut c_void);

pub(super) struct Foreign {
    runtime: &'static Runtime,
    version: &'static str,
    enter: EnterFunction,
    call: CallFunction,
    request: CallFunction,
    trivial: InlineFunction,
    tiny: InlineFunction,
    enter_joins: EnterFunction,
    empty: unsafe extern "C" fn(c_int, u32),
    fib: unsafe extern "C" fn(c_int, u32) -> u64,
    sum: unsafe extern "C" fn(c_int, *const Node) -> u64,
}

impl Foreign {
    pub(super) fn new(runtime: &'static Runtime, threads: usize) -> Result<Self> {
        let library = runtime.glue.load()?;
        // SAFETY: the types are as in `native/glue.h`.
        unsafe {
            let version = library.get::<unsafe extern "C" fn() -> *const c_char>("glue_version")?;
            let open = library.get::<unsafe extern "C" fn(c_int)>("glue_open")?;
            open(c_int::try_from(threads)?);
            Ok(Self {
                runtime,
                version: CStr::from_ptr(version()).to_str()?,
                enter: *library.get("glue_enter")?,
                call: *library.get("glue_call")?,
                request: *library.get("glue_request")?,
                trivial: *library.get("glue_trivial")?,
                tiny: *library.get("glue_tiny")?,
                enter_joins: *library.get("glue_enter_joins")?,
                empty: *library.get("glue_empty")?,
                fib: *library.get("glue_fib")?,
                sum: *library.get("glue_sum")?,
            })
        }
    }
}

impl Peer for Foreign {
    fn enter(&mut self, policy: &str, session: Session<'_>) -> Result<()> {
        let number = self.runtime.number(self.runtime.policies, policy)?;
        let mut state = State {
            foreign: self,
            policy: number,
            session,
        };
        // SAFETY: the glue calls `inside` once with this pointer before it returns, possibly on
        // another thread, and `Session` is `Send`.
        unsafe { (self.enter)(inside, (&raw mut state).cast()) };
        Ok(())
    }

    fn serve(&mut self, policy: &str, clients: Clients<'_>) -> Result<()> {
        let number = self.runtime.number(self.runtime.policies, policy)?;
        let foreign = &*self;
        from_threads(
            (0..clients.count).map(|_| Requests { foreign, number }),
            clients,
        );
        Ok(())
    }

    fn enter_joins(&mut self, policy: &str, session: JoinSession<'_>) -> Result<()> {
        let number = self.runtime.number(self.runtime.joins, policy)?;
        let mut state = State {
            foreign: self,
            policy: number,
            session,
        };
        // SAFETY: as in `enter`.
        unsafe { (self.enter_joins)(inside_joins, (&raw mut state).cast()) };
        Ok(())
    }

    fn version(&self) -> Option<&str> {
        Some(self.version)
    }
}

impl Runtime {
    /// The glue's number for `name`.
    fn number(&self, names: &[&str], name: &str) -> Result<c_int> {
        match names.iter().position(|&known| known == name) {
            Some(number) => Ok(number as c_int),
            None => bail!("{} has no policy `{name}`", self.glue.name),
        }
    }
}

struct State<'a, S> {
    foreign: &'a Foreign,
    policy: c_int,
    session: S,
}

unsafe extern "C" fn inside(state: *mut c_void) {
    // SAFETY: `enter` passed this pointer.
    let state = unsafe { &mut *state.cast::<State<'_, Session<'_>>>() };
    (state.session)(&mut Policy {
        foreign: state.foreign,
        number: state.policy,
    });
}

unsafe extern "C" fn inside_joins(state: *mut c_void) {
    // SAFETY: `enter_joins` passed this pointer.
    let state = unsafe { &mut *state.cast::<State<'_, JoinSession<'_>>>() };
    (state.session)(&mut Policy {
        foreign: state.foreign,
        number: state.policy,
    });
}

struct Policy<'a> {
    foreign: &'a Foreign,
    number: c_int,
}

impl Loops for Policy<'_> {
    fn call(&mut self, n: usize, task: Task<'_>) {
        let (function, context) = task.parts();
        // SAFETY: the glue calls the function on `0..n` and returns after all calls. A task can run
        // on any thread.
        unsafe { (self.foreign.call)(self.number, n, function, context) }
    }

    fn trivial(&mut self, n: usize) {
        // SAFETY: the function accepts any length.
        unsafe { (self.foreign.trivial)(self.number, n) }
    }

    fn tiny(&mut self, n: usize) {
        // SAFETY: the function accepts any length.
        unsafe { (self.foreign.tiny)(self.number, n) }
    }
}

/// The loops of one client, which runs beside others on a thread outside the runtime.
struct Requests<'a> {
    foreign: &'a Foreign,
    number: c_int,
}

impl Loops for Requests<'_> {
    fn call(&mut self, n: usize, task: Task<'_>) {
        let (function, context) = task.parts();
        // SAFETY: as in `Policy::call`, and several threads can call it at once.
        unsafe { (self.foreign.request)(self.number, n, function, context) }
    }

    fn trivial(&mut self, n: usize) {
        self.call(n, tasks::empty());
    }

    fn tiny(&mut self, n: usize) {
        self.call(n, tasks::tiny());
    }
}

impl Joins for Policy<'_> {
    fn empty(&mut self, levels: u32) {
        // SAFETY: the session is inside `glue_enter_joins`.
        unsafe { (self.foreign.empty)(self.number, levels) }
    }

    fn fib(&mut self, n: u32) -> u64 {
        // SAFETY: as above.
        unsafe { (self.foreign.fib)(self.number, n) }
    }

    fn sum(&mut self, node: &Node) -> u64 {
        // SAFETY: as above, and the tree lives until the call returns.
        unsafe { (self.foreign.sum)(self.number, node) }
    }
}
