//! Functions of C's that the library exports.

/// Exports functions of the C interface.
///
/// They take what compiled programs hand them: pointers are as the compiler made them, which is
/// the contract of each. A panic ends the program where it would leave them.
///
/// Not under Miri, which has functions of its own for the C library's names.
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
