//! The runtimes behind C glue: GNU and LLVM OpenMP and oneTBB.
//!
//! `build.rs` compiles the glue of each into a shared object of its own, and it
//! is loaded only here: libgomp and libomp export the same names.

use super::{Loops, Peer, Session};
use crate::tasks::{Function, Task};
use anyhow::{Context, Result, anyhow, bail};
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_void};

/// A runtime's glue as `build.rs` left it.
pub(super) struct Glue {
    name: &'static str,
    path: Option<&'static str>,
    /// Why there is no path.
    missing: Option<&'static str>,
    /// In the order of the glue's numbers.
    policies: &'static [&'static str],
}

pub(super) const GOMP: Glue = Glue {
    name: "GNU OpenMP",
    path: option_env!("PEERS_GLUE_GOMP"),
    missing: option_env!("PEERS_MISSING_GOMP"),
    policies: &["static", "dynamic", "guided"],
};

pub(super) const LIBOMP: Glue = Glue {
    name: "LLVM OpenMP",
    path: option_env!("PEERS_GLUE_LIBOMP"),
    missing: option_env!("PEERS_MISSING_LIBOMP"),
    policies: &["static", "dynamic", "guided", "auto"],
};

pub(super) const TBB: Glue = Glue {
    name: "oneTBB",
    path: option_env!("PEERS_GLUE_TBB"),
    missing: option_env!("PEERS_MISSING_TBB"),
    policies: &["auto", "static", "affinity"],
};

type CallFunction = unsafe extern "C" fn(c_int, usize, Function, *const c_void);
type InlineFunction = unsafe extern "C" fn(c_int, usize);
type EnterFunction = unsafe extern "C" fn(unsafe extern "C" fn(*mut c_void), *mut c_void);

pub(super) struct Foreign {
    glue: &'static Glue,
    version: &'static str,
    enter: EnterFunction,
    call: CallFunction,
    trivial: InlineFunction,
    tiny: InlineFunction,
}

impl Foreign {
    pub(super) fn new(glue: &'static Glue, threads: usize) -> Result<Self> {
        let path = glue.path.ok_or_else(|| {
            let why = glue.missing.unwrap_or("no reason known");
            anyhow!(
                "{} was not there when this was built ({why}); see setup.sh",
                glue.name
            )
        })?;
        // SAFETY: our own shared object; its and its libraries' initialisers
        // may run on any thread.
        let library = unsafe { Library::new(path) }
            .with_context(|| format!("cannot load the glue of {}", glue.name))?;
        // The runtime's threads outlive every loop: it is never unloaded.
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY: the types are those of `native/glue.h`.
        unsafe {
            let version = library.get::<unsafe extern "C" fn() -> *const c_char>("glue_version")?;
            let open = library.get::<unsafe extern "C" fn(c_int)>("glue_open")?;
            open(c_int::try_from(threads)?);
            Ok(Self {
                glue,
                version: CStr::from_ptr(version()).to_str()?,
                enter: *library.get("glue_enter")?,
                call: *library.get("glue_call")?,
                trivial: *library.get("glue_trivial")?,
                tiny: *library.get("glue_tiny")?,
            })
        }
    }
}

impl Peer for Foreign {
    fn enter(&mut self, policy: &str, session: Session<'_>) -> Result<()> {
        let Some(number) = self.glue.policies.iter().position(|&name| name == policy) else {
            bail!("{} has no policy `{policy}`", self.glue.name);
        };
        let mut state = State {
            foreign: self,
            policy: number as c_int,
            session,
        };
        // SAFETY: the glue calls `inside` once with this pointer before it
        // returns, possibly on another thread, and `Session` may be sent.
        unsafe { (self.enter)(inside, (&raw mut state).cast()) };
        Ok(())
    }

    fn version(&self) -> Option<&str> {
        Some(self.version)
    }
}

struct State<'a> {
    foreign: &'a Foreign,
    policy: c_int,
    session: Session<'a>,
}

unsafe extern "C" fn inside(state: *mut c_void) {
    // SAFETY: what `enter` passed.
    let state = unsafe { &mut *state.cast::<State<'_>>() };
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
        // SAFETY: the glue calls the function on `0..n` and returns when all
        // calls have; a task may run on any thread.
        unsafe { (self.foreign.call)(self.number, n, function, context) }
    }

    fn trivial(&mut self, n: usize) {
        // SAFETY: any length will do.
        unsafe { (self.foreign.trivial)(self.number, n) }
    }

    fn tiny(&mut self, n: usize) {
        // SAFETY: any length will do.
        unsafe { (self.foreign.tiny)(self.number, n) }
    }
}
