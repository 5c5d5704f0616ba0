//! The C library's own versions of the functions that this library redefines.
//!
//! A program that was started with this library preloaded calls the definitions of this library. These call the next
//! definitions in the order of the loader, which are those of the C library.

use std::ffi::{CStr, c_char, c_long, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicPtr};

/// A function, by its name.
pub(crate) struct Next {
    name: &'static CStr,
    /// The symbol version to look for first. Without a version the loader may find the oldest of several.
    version: Option<&'static CStr>,
    /// The address, or null before the look-up. Accesses are relaxed: the code at the address was loaded before this
    /// library.
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

    /// Like [`new`](Self::new), but with this version of the function if there are several.
    pub(crate) const fn of_version(name: &'static CStr, version: &'static CStr) -> Self {
        let any = Self::new(name);
        Self {
            version: Some(version),
            ..any
        }
    }

    /// Returns the function, if the C library has it. The first call asks the loader, which takes locks. So that call
    /// is made when this library is loaded.
    #[inline]
    pub(crate) fn find(&self) -> Option<NonNull<c_void>> {
        NonNull::new(self.found.load(Relaxed)).or_else(|| self.ask())
    }

    #[cold]
    fn ask(&self) -> Option<NonNull<c_void>> {
        // SAFETY: the names end with a zero.
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

    /// The address of the function. If the C library does not have it, ends the program.
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

/// Looks up `syscall`. The loader calls this before the first function of the program.
pub(crate) fn find() {
    SYSCALL.find();
}

/// See [`is_preloaded`]. Accesses are relaxed: the value is written when the library is loaded.
static IS_PRELOADED: AtomicBool = AtomicBool::new(false);

/// Notes whether the loader finds `ours`, the function of this library, before that of the C library. The loader calls
/// this.
pub(crate) fn note_whether_preloaded(name: &CStr, ours: *const c_void) {
    // SAFETY: the name ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    IS_PRELOADED.store(ptr::eq(found, ours), Relaxed);
}

/// Whether the program's calls reach the functions that this library redefines, because the loader finds them before
/// those of the C library.
pub(crate) fn is_preloaded() -> bool {
    IS_PRELOADED.load(Relaxed)
}

type Syscall = unsafe extern "C" fn(c_long, ...) -> c_long;

static SYSCALL: Next = Next::new(c"syscall");

/// Makes a system call by its number. Calls `syscall` of the C library instead of that of this library.
///
/// # Safety
///
/// The caller promises what the system call requires.
pub(crate) unsafe fn syscall(number: c_long, arguments: [usize; 6]) -> c_long {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the address leads to the C library's function. The arguments are as the caller promises.
    unsafe {
        let next = std::mem::transmute::<*mut c_void, Syscall>(SYSCALL.get());
        next(number, a, b, c, d, e, f)
    }
}
