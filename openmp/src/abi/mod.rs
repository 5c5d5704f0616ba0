//! The interface: functions that compiled programs call, by the names that libgomp has for them.

pub(crate) mod affinity;
mod alloc;
mod device;
mod doacross;
mod fortran;
#[cfg(target_arch = "x86_64")]
pub(crate) mod kmp;
mod later;
mod locks;
mod loops;
mod loops_ull;
mod parallel;
mod query;
mod sections;
mod sync;
mod tasks;
mod teams;
mod unsupported;

/// Exports functions of the C interface.
///
/// They take what compiled programs hand them: pointers are as the compiler made them, which is
/// the contract of each. A panic ends the program where it would leave them.
macro_rules! export {
    ($($(#[$attribute:meta])* $visible:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {
        $(
            $(#[$attribute])*
            #[unsafe(no_mangle)]
            $visible extern "C" fn $name($($argument: $type),*) $(-> $result)? $body
        )*
    };
}
pub(crate) use export;
#[cfg(target_arch = "x86_64")]
pub(crate) use kmp::{Copies, Pushed, discard};

/// The task is dropped before it begins: only clang's programs have something to free.
///
/// # Safety
///
/// A task's function and its argument; nobody else has it.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) unsafe fn discard(_function: crate::team::Outlined, _data: *mut std::ffi::c_void) {}
