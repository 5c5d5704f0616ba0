//! The functions of the C library that this library has defined anew.
//!
//! A program that was started with this library preloaded calls the definitions here. They call the next
//! ones in the loader's order, which are the C library's.

use std::ffi::{CStr, c_char, c_long, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicPtr};

/// A function, by its name.
pub(crate) struct Next {
    name: &'static CStr,
    /// The version that is asked for first. Without one the loader may find the oldest of several.
    version: Option<&'static CStr>,
    /// Relaxed: the address of code, which was there before this library.
    found: AtomicPtr<c_void>,
}

unsafe extern "C" {
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

impl Next {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            version: None,
            found: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// The same in this version, if it has several.
    pub(crate) const fn of_version(name: &'static CStr, version: &'static CStr) -> Self {
        let any = Self::new(name);
        Self {
            version: Some(version),
            ..any
        }
    }

    /// The function, if there is one. The first call asks the loader, which takes locks: it is made when this library
    /// is loaded.
    #[inline]
    pub(crate) fn find(&self) -> Option<NonNull<c_void>> {
        NonNull::new(self.found.load(Relaxed)).or_else(|| self.ask())
    }

    #[cold]
    fn ask(&self) -> Option<NonNull<c_void>> {
        // SAFETY: names that end with a zero.
        let found = unsafe {
            let versioned = self.version.map_or(ptr::null_mut(), |version| {
                dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), version.as_ptr())
            });
            if versioned.is_null() {
                libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr())
            } else {
                versioned
            }
        };
        self.found.store(found, Relaxed);
        NonNull::new(found)
    }

    /// The function's address. A function that is nowhere must not be called.
    #[inline]
    pub(crate) fn get(&self) -> *mut c_void {
        self.find().unwrap_or_else(|| self.is_missing()).as_ptr()
    }

    #[cold]
    fn is_missing(&self) -> ! {
        let name = self.name.to_string_lossy();
        super::report::fatal(format_args!(
            "{name}: not in the C library; expected it there"
        ))
    }
}

/// Called by the loader, before the program's first function.
pub(crate) fn find() {
    SYSCALL.find();
}

/// See [`is_preloaded`]. Relaxed: it is written when the library is loaded.
static IS_PRELOADED: AtomicBool = AtomicBool::new(false);

/// Notes whether the loader finds our function before the C library's. The loader calls this.
pub(crate) fn note_whether_preloaded(name: &CStr, ours: *const c_void) {
    // SAFETY: a name that ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    IS_PRELOADED.store(ptr::eq(found, ours), Relaxed);
}

/// Whether programs call the functions that this library defines anew: the loader finds them before the C library's.
pub(crate) fn is_preloaded() -> bool {
    IS_PRELOADED.load(Relaxed)
}

type Syscall = unsafe extern "C" fn(c_long, ...) -> c_long;

static SYSCALL: Next = Next::new(c"syscall");

/// The address of the C library's `syscall`.
pub(crate) fn syscall_address() -> usize {
    SYSCALL.get() as usize
}

/// A system call by its number, past this library's own definition of `syscall`.
///
/// # Safety
///
/// As the system call has it.
pub(crate) unsafe fn syscall(number: c_long, arguments: [usize; 6]) -> c_long {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the C library's function; the arguments are as the caller promises.
    unsafe {
        let next = std::mem::transmute::<*mut c_void, Syscall>(SYSCALL.get());
        next(number, a, b, c, d, e, f)
    }
}
