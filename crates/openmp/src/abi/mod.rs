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
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {
        $(
            $(#[$attribute])*
            #[unsafe(no_mangle)]
            extern "C" fn $name($($argument: $type),*) $(-> $result)? $body
        )*
    };
}
pub(crate) use export;
#[cfg(target_arch = "x86_64")]
pub(crate) use kmp::Pushed;
