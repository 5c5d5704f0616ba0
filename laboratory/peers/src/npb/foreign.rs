//! The programs in C.

use super::processor_seconds;
use anyhow::{Result, ensure};
use manycore_programs::spmd::{Class, Npb};
use std::ffi::{c_char, c_void};

/// A program's functions, as in `native/npb/npb.h`.
#[repr(C)]
pub struct Exported {
    make: extern "C" fn(class: c_char) -> *mut c_void,
    run: unsafe extern "C" fn(data: *mut c_void),
    error: unsafe extern "C" fn(data: *const c_void) -> f64,
    drop: unsafe extern "C" fn(data: *mut c_void),
}

/// Lists the programs. Each is a file in `native/npb` that exports the given name.
macro_rules! programs {
    ($($npb:ident: $exported:ident,)*) => {
        unsafe extern "C" {
            $(static $exported: Exported;)*
        }

        /// The programs with a version in C.
        pub fn programs() -> Vec<(Npb, Program)> {
            // SAFETY: these are constants, of the type in the header.
            unsafe { vec![$((Npb::$npb, Program { npb: Npb::$npb, exported: &$exported })),*] }
        }
    };
}

programs! {
    Bt: npb_bt,
    Cg: npb_cg,
    Ft: npb_ft,
}

/// A program in C.
pub struct Program {
    npb: Npb,
    exported: &'static Exported,
}

impl Program {
    /// Runs and verifies the program. Returns the seconds of the run.
    pub fn run(&self, class: Class) -> Result<f64> {
        let Self { npb, exported } = self;
        let letter = class.name().as_bytes()[0];
        let data = (exported.make)(letter as c_char);
        ensure!(!data.is_null(), "{npb} in C knows no class {class}");
        let start = processor_seconds();
        // SAFETY: the data are this program's, and run once.
        unsafe { (exported.run)(data) };
        let time = processor_seconds() - start;
        // SAFETY: as above, and the data are not used afterwards.
        let error = unsafe {
            let error = (exported.error)(data);
            (exported.drop)(data);
            error
        };
        // A NaN is wrong, too.
        let right = error <= 1.0;
        ensure!(
            right,
            "{npb} {class} in C has an error of {error} times the allowed error"
        );
        Ok(time)
    }
}
