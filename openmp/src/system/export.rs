//! Functions of C's that the library exports.

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
