//! Functions of the C library's, behind functions of the same name here.

use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Relaxed;

/// The function of a name, once found.
pub(crate) struct Behind {
    name: &'static CStr,
    /// Relaxed: an address of code, which every thread finds alike.
    found: AtomicPtr<c_void>,
}

impl Behind {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            found: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Its address. The first call asks the loader, which takes locks: it is made when this library is loaded.
    #[inline]
    pub(crate) fn find(&self) -> Option<NonNull<c_void>> {
        NonNull::new(self.found.load(Relaxed)).or_else(|| self.ask())
    }

    #[cold]
    fn ask(&self) -> Option<NonNull<c_void>> {
        // SAFETY: a name that ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.found.store(found, Relaxed);
        NonNull::new(found)
    }
}
