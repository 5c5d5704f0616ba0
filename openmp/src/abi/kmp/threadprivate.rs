//! `threadprivate` variables, for compilers that do not make thread-locals of them (`-fnoopenmp-use-tls`, and Intel's
//! compilers).
//!
//! The first thread of the program uses the variable itself, and other threads use copies. The first call of a thread
//! makes its copy, by the constructor of the variable or from the value that the variable had at the first call of any
//! thread. A copy lives as long as its thread.

use super::{Place, export};
use crate::team::context::context;
use crate::team::copies::{Copy, Destructor};
use crate::words::lock::Guarded;
use std::ffi::{c_int, c_void};
use std::ptr;

type Constructor = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
type CopyConstructor = unsafe extern "C" fn(*mut c_void, *mut c_void) -> *mut c_void;

/// The description of a variable.
#[derive(Clone, Copy)]
struct Variable {
    /// The variable's address.
    original: usize,
    constructor: Option<Constructor>,
    copy: Option<CopyConstructor>,
    destructor: Option<Destructor>,
    /// The bytes of the variable at the first call of any thread. These are never freed.
    first: Option<&'static [u8]>,
}

static VARIABLES: Guarded<Vec<Variable>> = Guarded::new(vec![]);

/// The description of the variable. The first call makes it and copies the variable's bytes.
fn variable(original: usize, bytes: usize) -> Variable {
    VARIABLES.with(|all| {
        let at = all.iter().position(|it| it.original == original);
        let at = at.unwrap_or_else(|| {
            all.push(Variable {
                original,
                constructor: None,
                copy: None,
                destructor: None,
                first: None,
            });
            all.len() - 1
        });
        let it = &mut all[at];
        if it.first.is_none() {
            // SAFETY: the program passes the variable's address and size. Only the first thread changes the variable.
            let first = unsafe { std::slice::from_raw_parts(original as *const u8, bytes) };
            it.first = Some(first.to_vec().leak());
        }
        *it
    })
}

/// Makes the calling thread's copy of the variable.
fn copy(variable: Variable, bytes: usize) -> Copy {
    let copy = Copy::new(bytes, variable.destructor);
    let (memory, first) = (copy.memory(), variable.first.unwrap_or_default());
    // SAFETY: the memory has this number of bytes. The compiler made the constructors for this variable.
    unsafe {
        ptr::copy_nonoverlapping(first.as_ptr(), memory, bytes.min(first.len()));
        match (variable.constructor, variable.copy) {
            (Some(constructor), _) => _ = constructor(memory.cast()),
            (None, Some(copy)) => _ = copy(memory.cast(), variable.original as *mut c_void),
            (None, None) => {}
        }
    }
    copy
}

export! {
    fn __kmpc_threadprivate_register(
        _place: Place, original: usize, constructor: Option<Constructor>,
        copy: Option<CopyConstructor>, destructor: Option<Destructor>,
    ) {
        VARIABLES.with(|all| {
            if !all.iter().any(|it| it.original == original) {
                all.push(Variable { original, constructor, copy, destructor, first: None });
            }
        });
    }

    fn __kmpc_threadprivate(
        _place: Place, _number: c_int, original: *mut u8, bytes: usize,
    ) -> *mut u8 {
        let context = context();
        if context.is_first {
            // If this is the first call, other threads begin with the present value of the variable.
            variable(original as usize, bytes);
            return original;
        }
        let known = context.copies.borrow().get(&(original as usize)).map(Copy::memory);
        known.unwrap_or_else(|| {
            // The copy is made while `copies` is not borrowed, since a constructor may use other such variables.
            let copy = copy(variable(original as usize, bytes), bytes);
            let memory = copy.memory();
            context.copies.borrow_mut().insert(original as usize, copy);
            memory
        })
    }

    fn __kmpc_threadprivate_cached(
        place: Place, number: c_int, original: *mut u8, bytes: usize, _cache: *mut c_void,
    ) -> *mut u8 {
        __kmpc_threadprivate(place, number, original, bytes)
    }
}
