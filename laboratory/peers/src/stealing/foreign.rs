//! oneTBB's work stealing, behind C glue that `build.rs` compiles into a shared object.

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

/// An arena of oneTBB, the only one in its process.
pub struct Tbb {
    run: RunFunction,
    put: PutFunction,
}

impl Tbb {
    /// # Errors
    ///
    /// If the library was missing when this was built, or is missing now.
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
        // SAFETY: `fill` and `task` only read `state`. All parts of `state` can be shared, and all
        // calls of both return before this call does.
        unsafe { (self.run)(fill, task, (&raw const state).cast_mut().cast()) };
        Ok(())
    }
}

unsafe extern "C" fn fill(state: *mut c_void, rank: c_int, pile: *mut c_void) {
    // SAFETY: `run` passed this pointer. Its target is alive until all calls have returned, and no
    // thread writes it.
    let state = unsafe { &*state.cast::<State<'_>>() };
    state.piles.fill(rank.unsigned_abs() as usize, |own| {
        // SAFETY: the pile belongs to this thread and to the current run.
        own.for_each(|number| unsafe { (state.put)(pile, number as c_int) });
    });
}

unsafe extern "C" fn task(state: *mut c_void, number: c_int) {
    // SAFETY: as above.
    let state = unsafe { &*state.cast::<State<'_>>() };
    state.piles.run(number.unsigned_abs() as usize);
}
