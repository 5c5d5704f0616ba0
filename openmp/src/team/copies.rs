//! The copies that a thread has of `threadprivate` variables, for compilers that do not make these variables
//! thread-local.

use crate::system::report::fatal;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::collections::HashMap;
use std::ffi::c_void;

pub(crate) type Destructor = unsafe extern "C" fn(*mut c_void);

/// The alignment of each copy, in bytes: enough for any variable.
const ALIGN: usize = 64;

/// The copies of a thread, by the addresses of the variables.
pub(crate) type Copies = HashMap<usize, Copy>;

/// The memory of a copy. The caller fills it.
pub(crate) struct Copy {
    memory: *mut u8,
    layout: Layout,
    destructor: Option<Destructor>,
}

impl Copy {
    pub(crate) fn new(bytes: usize, destructor: Option<Destructor>) -> Self {
        let Ok(layout) = Layout::from_size_align(bytes.max(1), ALIGN) else {
            fatal(format_args!(
                "a variable of {bytes} bytes for each thread; expected fewer"
            ));
        };
        // SAFETY: the layout has at least one byte.
        let memory = unsafe { alloc(layout) };
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        Self {
            memory,
            layout,
            destructor,
        }
    }

    pub(crate) fn memory(&self) -> *mut u8 {
        self.memory
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // SAFETY: `new` allocated the memory with this layout, and only this value owns it. The program registered the
        // destructor for this variable.
        unsafe {
            if let Some(destructor) = self.destructor {
                destructor(self.memory.cast());
            }
            dealloc(self.memory, self.layout);
        }
    }
}
