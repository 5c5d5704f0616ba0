//! Loops that are divided among the teams of a league. The part of each team is divided among its members.

use super::loops::begin;
use super::static_loops::{Bounds, MODIFIERS, Part, division};
use super::{Place, export};
use crate::team::context::context;
use std::ffi::c_int;

/// The block of iterations of the calling thread's team.
fn of_team(bounds: Bounds) -> Part {
    let (team, teams) = context().league.get();
    bounds.part(team, teams, None)
}

/// Exports the functions for each type of loop. `$both` divides a loop among teams and members. `$chunks` divides it
/// among teams in chunks. `$dispatch` divides it among teams, and members get iterations while they run.
macro_rules! names {
    ($($number:ty, $signed:ty: $both:ident $chunks:ident $dispatch:ident;)*) => {
        $(export! {
            fn $both(
                _place: Place, _number: c_int, schedule: c_int, last: *mut c_int,
                lower: *mut $number, upper: *mut $number, team_upper: *mut $number,
                stride: *mut $signed, step: $signed, chunk: $signed,
            ) {
                let context = context();
                // SAFETY: the compiler passes the addresses of variables.
                unsafe {
                    let team = of_team(Bounds {
                        lower: i128::from(*lower),
                        upper: i128::from(*upper),
                        step: i128::from(step),
                    });
                    let of_team = Bounds { lower: team.lower, upper: team.upper, step: i128::from(step) };
                    let (id, size, chunk) = division(context, schedule, i128::from(chunk), of_team.trips());
                    let fits = |at| <$number>::try_from(at).is_ok();
                    let part = of_team.part(id, size, chunk).within(of_team.step, fits);
                    lower.write(part.lower as $number);
                    upper.write(part.upper as $number);
                    team_upper.write(team.upper as $number);
                    stride.write(part.stride as $signed);
                    if !last.is_null() {
                        last.write(c_int::from(part.is_last && team.is_last));
                    }
                }
            }

            fn $chunks(
                _place: Place, _number: c_int, last: *mut c_int, lower: *mut $number,
                upper: *mut $number, stride: *mut $signed, step: $signed, chunk: $signed,
            ) {
                let (team, teams) = context().league.get();
                // SAFETY: the compiler passes the addresses of variables.
                unsafe {
                    let bounds = Bounds {
                        lower: i128::from(*lower),
                        upper: i128::from(*upper),
                        step: i128::from(step),
                    };
                    let fits = |at| <$number>::try_from(at).is_ok();
                    let part = bounds.part(team, teams, Some(i128::from(chunk))).within(bounds.step, fits);
                    lower.write(part.lower as $number);
                    upper.write(part.upper as $number);
                    stride.write(part.stride as $signed);
                    if !last.is_null() {
                        last.write(c_int::from(part.is_last));
                    }
                }
            }

            fn $dispatch(
                _place: Place, _number: c_int, schedule: c_int, last: *mut c_int,
                lower: $number, upper: $number, step: $signed, chunk: $signed,
            ) {
                let bounds = Bounds {
                    lower: i128::from(lower),
                    upper: i128::from(upper),
                    step: i128::from(step),
                };
                let team = of_team(bounds);
                if !last.is_null() {
                    // SAFETY: the compiler passes the address of a variable.
                    unsafe { last.write(c_int::from(team.is_last)) };
                }
                let chunk = u64::try_from(chunk).unwrap_or(0);
                begin(schedule & !MODIFIERS, Bounds { lower: team.lower, upper: team.upper, ..bounds }, chunk);
            }
        })*
    };
}

names! {
    i32, i32: __kmpc_dist_for_static_init_4 __kmpc_team_static_init_4 __kmpc_dist_dispatch_init_4;
    u32, i32: __kmpc_dist_for_static_init_4u __kmpc_team_static_init_4u
        __kmpc_dist_dispatch_init_4u;
    i64, i64: __kmpc_dist_for_static_init_8 __kmpc_team_static_init_8 __kmpc_dist_dispatch_init_8;
    u64, i64: __kmpc_dist_for_static_init_8u __kmpc_team_static_init_8u
        __kmpc_dist_dispatch_init_8u;
}
