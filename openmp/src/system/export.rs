//! The macro for the C functions that the library exports.

/// Exports functions of the C interface.
///
/// Compiled programs call these functions. The contract of each is that its pointers are as the compiler made them. If
/// a panic would leave such a function, it ends the program.
///
/// Under Miri the functions keep Rust's names, since Miri has its own functions for the C library's names.
macro_rules! export {
    ($($(#[$attribute:meta])* $visible:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {
        $(
            $(#[$attribute])*
            #[cfg_attr(not(miri), unsafe(no_mangle))]
            $visible extern "C" fn $name($($argument: $type),*) $(-> $result)? $body
        )*
    };
}
pub(crate) use export;
