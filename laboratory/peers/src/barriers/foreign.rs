//! The barriers behind C and C++: GNU's and LLVM's OpenMP, the C++ standard library's
//! and the C library's. `build.rs` compiles each into a shared object of its own.

use crate::contestant::{Body, Member};
use anyhow::{Context, Result, anyhow};
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_void};

/// A barrier as `build.rs` left it.
pub struct Glue {
    name: &'static str,
    path: Option<&'static str>,
    /// Why there is no path.
    missing: Option<&'static str>,
}

pub static GOMP: Glue = Glue {
    name: "GNU OpenMP",
    path: option_env!("PEERS_GLUE_BARRIER_GOMP"),
    missing: option_env!("PEERS_MISSING_BARRIER_GOMP"),
};

pub static LIBOMP: Glue = Glue {
    name: "LLVM OpenMP",
    path: option_env!("PEERS_GLUE_BARRIER_LIBOMP"),
    missing: option_env!("PEERS_MISSING_BARRIER_LIBOMP"),
};

pub static CPP: Glue = Glue {
    name: "C++20",
    path: option_env!("PEERS_GLUE_BARRIER_STD"),
    missing: option_env!("PEERS_MISSING_BARRIER_STD"),
};

pub static PTHREAD: Glue = Glue {
    name: "pthread_barrier",
    path: option_env!("PEERS_GLUE_BARRIER_PTHREAD"),
    missing: option_env!("PEERS_MISSING_BARRIER_PTHREAD"),
};

type MemberFunction = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void);
type TeamFunction = unsafe extern "C" fn(c_int, MemberFunction, *mut c_void);
type WaitFunction = unsafe extern "C" fn(*mut c_void, u32);

impl Glue {
    pub fn missing(&self) -> Option<String> {
        let why = self.missing.unwrap_or("no reason known");
        self.path.is_none().then(|| {
            format!(
                "{} was not there when this was built ({why}); see setup.sh",
                self.name
            )
        })
    }

    pub fn run(&self, threads: usize, body: Body<'_>) -> Result<String> {
        let path = self
            .path
            .ok_or_else(|| anyhow!(self.missing().unwrap_or_default()))?;
        // SAFETY: our own shared object; its and its libraries' initialisers
        // may run on any thread.
        let library = unsafe { Library::new(path) }
            .with_context(|| format!("cannot load the barrier of {}", self.name))?;
        // OpenMP's threads outlive the team: it is never unloaded.
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY: the types are those of `native/barrier.h`.
        let (version, team, wait) = unsafe {
            let version =
                library.get::<unsafe extern "C" fn() -> *const c_char>("barrier_version")?;
            (
                CStr::from_ptr(version()).to_str()?.to_owned(),
                *library.get::<TeamFunction>("barrier_team")?,
                *library.get::<WaitFunction>("barrier_wait")?,
            )
        };
        let state = State { body, wait };
        // SAFETY: `inside` only reads `state`, of which all parts can be shared, and
        // all its calls have returned when this does.
        unsafe {
            team(
                c_int::try_from(threads)?,
                inside,
                (&raw const state).cast_mut().cast(),
            );
        }
        Ok(version)
    }
}

struct State<'a> {
    body: Body<'a>,
    wait: WaitFunction,
}

unsafe extern "C" fn inside(state: *mut c_void, rank: c_int, barrier: *mut c_void) {
    // SAFETY: what `run` passed, alive until all have returned; nobody writes it.
    let state = unsafe { &*state.cast::<State<'_>>() };
    let mut member = ForeignMember {
        wait: state.wait,
        barrier,
    };
    (state.body)(rank.unsigned_abs() as usize, &mut member);
}

struct ForeignMember {
    wait: WaitFunction,
    barrier: *mut c_void,
}

impl Member for ForeignMember {
    fn wait(&mut self, episodes: u32) {
        // SAFETY: on a thread of the team, with the barrier it was given, while the
        // team is there.
        unsafe { (self.wait)(self.barrier, episodes) }
    }
}
