//! oneTBB's work stealing, behind C: `build.rs` compiles it into a shared object.

use super::contestants::Contestant;
use super::piles::Piles;
use crate::glue::{Glue, glue};
use anyhow::Result;
use std::ffi::{c_int, c_void};

pub static TBB: Glue = glue!("oneTBB", "STEALING_TBB");

type FillFunction = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void);
type TaskFunction = unsafe extern "C" fn(*mut c_void, c_int);
type RunFunction = unsafe extern "C" fn(FillFunction, TaskFunction, *mut c_void);
type PutFunction = unsafe extern "C" fn(*mut c_void, c_int);

/// An arena of oneTBB's. There is one in a process.
pub struct Tbb {
    run: RunFunction,
    put: PutFunction,
}

impl Tbb {
    /// # Errors
    ///
    /// When it was not there when this was built, or is not there now.
    pub fn open(workers: usize) -> Result<Self> {
        let library = TBB.load()?;
        // SAFETY: the types are as in `native/stealing.h`.
        unsafe {
            let open = library.get::<unsafe extern "C" fn(c_int)>("stealing_open")?;
            open(c_int::try_from(workers)?);
            Ok(Self {
                run: *library.get::<RunFunction>("stealing_run")?,
                put: *library.get::<PutFunction>("stealing_put")?,
            })
        }
    }
}

struct State<'a> {
    piles: &'a Piles,
    put: PutFunction,
}

impl Contestant for Tbb {
    fn run(&mut self, piles: &Piles) -> Result<()> {
        let state = State {
            piles,
            put: self.put,
        };
        // SAFETY: `fill` and `task` only read `state`, all its parts can be shared, and all their
        // calls have returned when this does.
        unsafe { (self.run)(fill, task, (&raw const state).cast_mut().cast()) };
        Ok(())
    }
}

unsafe extern "C" fn fill(state: *mut c_void, rank: c_int, pile: *mut c_void) {
    // SAFETY: the pointer that `run` passed, alive until all have returned; no thread writes it.
    let state = unsafe { &*state.cast::<State<'_>>() };
    state.piles.fill(rank.unsigned_abs() as usize, |own| {
        // SAFETY: this thread's pile, while the run that it belongs to goes on.
        own.for_each(|number| unsafe { (state.put)(pile, number as c_int) });
    });
}

unsafe extern "C" fn task(state: *mut c_void, number: c_int) {
    // SAFETY: as above.
    let state = unsafe { &*state.cast::<State<'_>>() };
    state.piles.run(number.unsigned_abs() as usize);
}
