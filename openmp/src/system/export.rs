//! The macro for the C functions that the library exports.

/// Exports functions of the C interface.
///
/// Compiled programs call these functions. The contract of each function is that its pointers are as the compiler made
/// them. If a panic would leave such a function, it ends the program. With `abi "C-unwind";` in front, the C library
/// may unwind the functions' frames: it does so if a thread is cancelled in a function that blocks.
///
/// Under Miri the functions keep their mangled Rust names, since Miri has its own functions with the names of the C
/// library.
macro_rules! export {
    (abi $abi:literal; $($(#[$attribute:meta])* $visible:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {
        $(
            $(#[$attribute])*
            #[cfg_attr(not(miri), unsafe(no_mangle))]
            $visible extern $abi fn $name($($argument: $type),*) $(-> $result)? $body
        )*
    };
    ($($all:tt)*) => { $crate::system::export! { abi "C"; $($all)* } };
}
pub(crate) use export;
