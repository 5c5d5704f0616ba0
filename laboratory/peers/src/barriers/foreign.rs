//! The barriers in C and C++: GNU and LLVM OpenMP, the C++ standard library, the C library.
//! `build.rs` compiles each into a separate shared object.

use super::contestant::{Body, Member};
use crate::glue::{Glue, glue};
use anyhow::Result;
use std::ffi::{CStr, c_char, c_int, c_void};

pub static GOMP: Glue = glue!("GNU OpenMP", "BARRIER_GOMP");
pub static LIBOMP: Glue = glue!("LLVM OpenMP", "BARRIER_LIBOMP");
pub static CPP: Glue = glue!("C++20", "BARRIER_STD");
pub static PTHREAD: Glue = glue!("pthread_barrier", "BARRIER_PTHREAD");

type MemberFunction = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void);
type TeamFunction = unsafe extern "C" fn(c_int, MemberFunction, *mut c_void);
type WaitFunction = unsafe extern "C" fn(*mut c_void, u32);

/// Calls `body` on `threads` threads of a team with this barrier. Returns the library's version.
pub fn run(glue: &Glue, threads: usize, body: Body<'_>) -> Result<String> {
    let library = glue.load()?;
    // SAFETY: the types are as in `native/barrier.h`.
    let (version, team, wait) = unsafe {
        let version = library.get::<unsafe extern "C" fn() -> *const c_char>("barrier_version")?;
        (
            CStr::from_ptr(version()).to_str()?.to_owned(),
            *library.get::<TeamFunction>("barrier_team")?,
            *library.get::<WaitFunction>("barrier_wait")?,
        )
    };
    let state = State { body, wait };
    // SAFETY: `inside` only reads `state`. All parts of `state` can be shared, and all calls of
    // `inside` return before this call does.
    unsafe {
        team(
            c_int::try_from(threads)?,
            inside,
            (&raw const state).cast_mut().cast(),
        );
    }
    Ok(version)
}

struct State<'a> {
    body: Body<'a>,
    wait: WaitFunction,
}

unsafe extern "C" fn inside(state: *mut c_void, rank: c_int, barrier: *mut c_void) {
    // SAFETY: `run` passed this pointer. Its target is alive until all calls have returned, and no
    // thread writes it.
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
        // SAFETY: this is a thread of the team, with the barrier that the team passed, while the
        // team exists.
        unsafe { (self.wait)(self.barrier, episodes) }
    }
}
