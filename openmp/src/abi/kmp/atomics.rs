//! Functions for atomic changes, which Intel's compilers call. Clang inlines such changes.
//!
//! A name contains the type and the operation. With `cpt` the function returns the value from before or after the
//! change. With `rev` the operands are exchanged.

use super::super::sync::{begin_atomic, end_atomic};
use super::{Place, export};
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

/// Numbers of one, two, four or eight bytes.
trait Number: Copy {
    /// Replaces the number by the result of `new` for it. Returns the old and the new number.
    ///
    /// # Safety
    ///
    /// `at` is the address of a number of the program. All threads change this number only atomically.
    unsafe fn change(at: *mut Self, new: impl Fn(Self) -> Self) -> (Self, Self);
}

macro_rules! numbers {
    ($($number:ty, $word:ty: $from:expr, $to:expr;)*) => {
        $(impl Number for $number {
            unsafe fn change(at: *mut Self, new: impl Fn(Self) -> Self) -> (Self, Self) {
                // SAFETY: as the caller promises. The word has the size of the number.
                let word = unsafe { &*at.cast::<$word>() };
                let mut old = word.load(Relaxed);
                loop {
                    let value = new($from(old));
                    // Sequentially consistent, since the construct may ask for that order, and the call does not say
                    // whether it does.
                    match word.compare_exchange_weak(old, $to(value), SeqCst, Relaxed) {
                        Ok(_) => return ($from(old), value),
                        Err(now) => old = now,
                    }
                }
            }
        })*
    };
}

numbers! {
    i8, AtomicU8: u8::cast_signed, i8::cast_unsigned;
    i16, AtomicU16: u16::cast_signed, i16::cast_unsigned;
    i32, AtomicU32: u32::cast_signed, i32::cast_unsigned;
    i64, AtomicU64: u64::cast_signed, i64::cast_unsigned;
    u8, AtomicU8: u8::from, u8::from;
    u16, AtomicU16: u16::from, u16::from;
    u32, AtomicU32: u32::from, u32::from;
    u64, AtomicU64: u64::from, u64::from;
    f32, AtomicU32: f32::from_bits, f32::to_bits;
    f64, AtomicU64: f64::from_bits, f64::to_bits;
}

/// Exports two functions, with the given names, for each operation on the old value and the operand. The second
/// function returns the old or the new value.
macro_rules! changes {
    ($type:literal $number:ty, $by:ty; $($name:literal $captured:literal $new:expr;)*) => {
        $(const _: () = {
            #[unsafe(export_name = concat!("__kmpc_atomic_", $type, $name))]
            extern "C" fn change(_place: Place, _number: c_int, at: *mut $number, by: $by) {
                let new: fn($number, $by) -> $number = $new;
                // SAFETY: the compiler passes a variable that threads change only atomically.
                unsafe { Number::change(at, |old| new(old, by)) };
            }

            #[unsafe(export_name = concat!("__kmpc_atomic_", $type, $captured))]
            extern "C" fn capture(
                _place: Place, _number: c_int, at: *mut $number, by: $by, is_new: c_int,
            ) -> $number {
                let new: fn($number, $by) -> $number = $new;
                // SAFETY: the compiler passes a variable that threads change only atomically.
                let (old, new) = unsafe { Number::change(at, |old| new(old, by)) };
                if is_new == 0 { old } else { new }
            }
        };)*
    };
}

/// Exports functions that read, write and exchange.
macro_rules! accesses {
    ($($type:literal $number:ty;)*) => {
        $(const _: () = {
            #[unsafe(export_name = concat!("__kmpc_atomic_", $type, "_rd"))]
            extern "C" fn read(_place: Place, _number: c_int, at: *mut $number) -> $number {
                // SAFETY: the compiler passes a variable that threads change only atomically.
                unsafe { Number::change(at, |old| old) }.0
            }

            #[unsafe(export_name = concat!("__kmpc_atomic_", $type, "_wr"))]
            extern "C" fn write(_place: Place, _number: c_int, at: *mut $number, value: $number) {
                // SAFETY: the compiler passes a variable that threads change only atomically.
                unsafe { Number::change(at, |_| value) };
            }

            #[unsafe(export_name = concat!("__kmpc_atomic_", $type, "_swp"))]
            extern "C" fn exchange(
                _place: Place, _number: c_int, at: *mut $number, value: $number,
            ) -> $number {
                // SAFETY: the compiler passes a variable that threads change only atomically.
                unsafe { Number::change(at, |_| value) }.0
            }
        };)*
    };
}

/// Exports functions that replace a value if it equals the expected value. A `bool` function returns whether it has
/// replaced the value, and a `val` function returns the value from before. With `cpt`, a `bool` function that fails
/// also stores the value that it found, and a `val` function also stores the value from after the change.
macro_rules! comparisons {
    ($($bytes:literal $number:ty;)*) => {
        $(const _: () = {
            #[unsafe(export_name = concat!("__kmpc_atomic_bool_", $bytes, "_cas"))]
            extern "C" fn succeeds(
                _place: Place, _number: c_int, at: *mut $number, expected: $number, new: $number,
            ) -> bool {
                found(at, expected, new) == expected
            }

            #[unsafe(export_name = concat!("__kmpc_atomic_val_", $bytes, "_cas"))]
            extern "C" fn finds(
                _place: Place, _number: c_int, at: *mut $number, expected: $number, new: $number,
            ) -> $number {
                found(at, expected, new)
            }

            #[unsafe(export_name = concat!("__kmpc_atomic_bool_", $bytes, "_cas_cpt"))]
            extern "C" fn succeeds_or_tells(
                _place: Place, _number: c_int, at: *mut $number, expected: $number, new: $number,
                other: *mut $number,
            ) -> bool {
                let old = found(at, expected, new);
                if old != expected {
                    // SAFETY: the compiler passes a variable that only this caller uses.
                    unsafe { *other = old };
                }
                old == expected
            }

            #[unsafe(export_name = concat!("__kmpc_atomic_val_", $bytes, "_cas_cpt"))]
            extern "C" fn finds_and_tells(
                _place: Place, _number: c_int, at: *mut $number, expected: $number, new: $number,
                after: *mut $number,
            ) -> $number {
                let old = found(at, expected, new);
                // SAFETY: the compiler passes a variable that only this caller uses.
                unsafe { *after = if old == expected { new } else { old } };
                old
            }

            /// Returns the value from before.
            fn found(at: *mut $number, expected: $number, new: $number) -> $number {
                // SAFETY: the compiler passes a variable that threads change only atomically.
                unsafe { Number::change(at, |old| if old == expected { new } else { old }) }.0
            }
        };)*
    };
}

comparisons! {
    "1" i8;
    "2" i16;
    "4" i32;
    "8" i64;
}

accesses! {
    "fixed1" i8;
    "fixed2" i16;
    "fixed4" i32;
    "fixed8" i64;
    "float4" f32;
    "float8" f64;
}

macro_rules! integers {
    ($($type:literal $number:ident, $unsigned:literal $natural:ident;)*) => {
        $(
            changes! { $type $number, $number;
                "_add" "_add_cpt" |old, by| old.wrapping_add(by);
                "_sub" "_sub_cpt" |old, by| old.wrapping_sub(by);
                "_sub_rev" "_sub_cpt_rev" |old, by| by.wrapping_sub(old);
                "_mul" "_mul_cpt" |old, by| old.wrapping_mul(by);
                "_div" "_div_cpt" |old, by| old.wrapping_div(by);
                "_div_rev" "_div_cpt_rev" |old, by| by.wrapping_div(old);
                "_andb" "_andb_cpt" |old, by| old & by;
                "_orb" "_orb_cpt" |old, by| old | by;
                "_xor" "_xor_cpt" |old, by| old ^ by;
                "_neqv" "_neqv_cpt" |old, by| old ^ by;
                "_eqv" "_eqv_cpt" |old, by| !(old ^ by);
                "_andl" "_andl_cpt" |old, by| $number::from(old != 0 && by != 0);
                "_orl" "_orl_cpt" |old, by| $number::from(old != 0 || by != 0);
                "_min" "_min_cpt" |old, by| old.min(by);
                "_max" "_max_cpt" |old, by| old.max(by);
                "_shl" "_shl_cpt" |old, by| old.wrapping_shl(by as u32);
                "_shl_rev" "_shl_cpt_rev" |old, by| by.wrapping_shl(old as u32);
                "_shr" "_shr_cpt" |old, by| old.wrapping_shr(by as u32);
                "_shr_rev" "_shr_cpt_rev" |old, by| by.wrapping_shr(old as u32);
            }
            changes! { $unsigned $natural, $natural;
                "_div" "_div_cpt" |old, by| old.wrapping_div(by);
                "_div_rev" "_div_cpt_rev" |old, by| by.wrapping_div(old);
                "_shr" "_shr_cpt" |old, by| old.wrapping_shr(by as u32);
                "_shr_rev" "_shr_cpt_rev" |old, by| by.wrapping_shr(old as u32);
            }
            changes! { $type $number, f64;
                "_mul_float8" "_mul_float8_cpt" |old, by| (old as f64 * by) as $number;
                "_div_float8" "_div_float8_cpt" |old, by| (old as f64 / by) as $number;
            }
        )*
    };
}

integers! {
    "fixed1" i8, "fixed1u" u8;
    "fixed2" i16, "fixed2u" u16;
    "fixed4" i32, "fixed4u" u32;
    "fixed8" i64, "fixed8u" u64;
}

macro_rules! floats {
    ($($type:literal $number:ident;)*) => {
        $(changes! { $type $number, $number;
            "_add" "_add_cpt" |old, by| old + by;
            "_sub" "_sub_cpt" |old, by| old - by;
            "_sub_rev" "_sub_cpt_rev" |old, by| by - old;
            "_mul" "_mul_cpt" |old, by| old * by;
            "_div" "_div_cpt" |old, by| old / by;
            "_div_rev" "_div_cpt_rev" |old, by| by / old;
            "_min" "_min_cpt" |old, by| if by < old { by } else { old };
            "_max" "_max_cpt" |old, by| if by > old { by } else { old };
        })*
    };
}

floats! {
    "float4" f32;
    "float8" f64;
}

changes! { "float4" f32, f64;
    "_add_float8" "_add_float8_cpt" |old, by| (f64::from(old) + by) as f32;
    "_sub_float8" "_sub_float8_cpt" |old, by| (f64::from(old) - by) as f32;
    "_mul_float8" "_mul_float8_cpt" |old, by| (f64::from(old) * by) as f32;
    "_div_float8" "_div_float8_cpt" |old, by| (f64::from(old) / by) as f32;
}

/// Combines the values at its second and third address, and writes the result to the first address.
type Combine = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void);

macro_rules! by_function {
    ($($name:ident $number:ty;)*) => {
        $(export! {
            fn $name(
                _place: Place, _number: c_int, at: *mut $number, by: *mut c_void, combine: Combine,
            ) {
                let new = |mut old: $number| {
                    let mut new = old;
                    // SAFETY: the function from the compiler takes values of this size.
                    unsafe { combine((&raw mut new).cast(), (&raw mut old).cast(), by) };
                    new
                };
                // SAFETY: the compiler passes a variable that threads change only atomically.
                unsafe { Number::change(at, new) };
            }
        })*
    };
}

by_function! {
    __kmpc_atomic_1 u8;
    __kmpc_atomic_2 u16;
    __kmpc_atomic_4 u32;
    __kmpc_atomic_8 u64;
}

/// Exports functions for larger values, which change under the lock of atomics.
macro_rules! by_lock {
    ($($name:ident)*) => {
        $(export! {
            fn $name(
                _place: Place, _number: c_int, at: *mut c_void, by: *mut c_void, combine: Combine,
            ) {
                begin_atomic();
                // SAFETY: the compiler made the function for these variables.
                unsafe { combine(at, at, by) };
                end_atomic();
            }
        })*
    };
}

by_lock! {
    __kmpc_atomic_10
    __kmpc_atomic_16
    __kmpc_atomic_20
    __kmpc_atomic_32
}

export! {
    fn __kmpc_atomic_start() {
        begin_atomic();
    }

    fn __kmpc_atomic_end() {
        end_atomic();
    }
}
