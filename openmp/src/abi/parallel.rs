//! Parallel regions.

use super::export;
use super::loops::{Chunk, by_runtime, plan};
use crate::environment::icv::Bind;
use crate::region::{self, Wanted};
use crate::task::Outlined;
use crate::team::context::{Context, context};
use crate::team::share::{Deal, Plan, Space};
use std::ffi::{c_long, c_uint, c_void};

/// The `proc_bind` clause, from the low bits of a region's flags.
fn bind(flags: c_uint) -> Option<Bind> {
    Some(match flags & 7 {
        1 => Bind::True,
        2 => Bind::Primary,
        3 => Bind::Close,
        4 => Bind::Spread,
        _ => return None,
    })
}

fn wanted<'a>(
    function: Outlined,
    data: *mut c_void,
    threads: c_uint,
    flags: c_uint,
    share: Option<&'a dyn Fn(&mut Plan)>,
) -> Wanted<'a> {
    Wanted {
        function,
        data,
        site: function as usize,
        threads,
        exact: false,
        bind: bind(flags),
        group: None,
        share,
    }
}

export! {
    fn GOMP_parallel(function: Outlined, data: *mut c_void, threads: c_uint, flags: c_uint) {
        region::run(context(), wanted(function, data, threads, flags, None));
    }

    fn GOMP_parallel_start(function: Outlined, data: *mut c_void, threads: c_uint) {
        region::begin(context(), wanted(function, data, threads, 0, None));
    }

    fn GOMP_parallel_end() {
        region::end(context());
    }

    fn GOMP_parallel_sections(
        function: Outlined, data: *mut c_void, threads: c_uint, count: c_uint, flags: c_uint,
    ) {
        let share = |to: &mut Plan| super::sections::plan(to, count);
        region::run(context(), wanted(function, data, threads, flags, Some(&share)));
    }

    fn GOMP_parallel_sections_start(
        function: Outlined, data: *mut c_void, threads: c_uint, count: c_uint,
    ) {
        let share = |to: &mut Plan| super::sections::plan(to, count);
        region::begin(context(), wanted(function, data, threads, 0, Some(&share)));
    }

    fn GOMP_parallel_reductions(
        function: Outlined, data: *mut c_void, threads: c_uint, flags: c_uint,
    ) -> c_uint {
        let context = context();
        let size = region::reserve(context, threads);
        // SAFETY: the region's data begins with the address of the description of its reductions.
        let group = unsafe {
            crate::tasking::reduction::region_group(*data.cast::<*mut usize>(), size as usize)
        };
        let mut wanted = wanted(function, data, size, flags, None);
        wanted.group = Some(group);
        // There are no more members than parts.
        wanted.exact = true;
        region::run(context, wanted)
    }
}

/// A region that consists of a loop.
#[derive(Clone, Copy)]
struct Loop {
    function: Outlined,
    data: *mut c_void,
    threads: c_uint,
    flags: c_uint,
    space: Space,
}

impl Loop {
    fn with<R>(
        self,
        context: &Context,
        (deal, chunk): (Deal, Chunk),
        go: impl FnOnce(&Context, Wanted<'_>) -> R,
    ) -> R {
        let share = |to: &mut Plan| plan(to, self.space, deal, chunk);
        let Self {
            function,
            data,
            threads,
            flags,
            ..
        } = self;
        go(
            context,
            wanted(function, data, threads, flags, Some(&share)),
        )
    }
}

/// Regions that consist of a loop with a given schedule and chunk.
macro_rules! loops {
    ($($deal:expr => $whole:ident $(, $start:ident)?;)*) => {
        $(
            export! {
                fn $whole(
                    function: Outlined, data: *mut c_void, threads: c_uint,
                    start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint,
                ) {
                    let space = Space::signed(start, end, step);
                    let it = Loop { function, data, threads, flags, space };
                    it.with(context(), ($deal, Chunk::from(chunk)), region::run);
                }
            }
            $(export! {
                fn $start(
                    function: Outlined, data: *mut c_void, threads: c_uint,
                    start: c_long, end: c_long, step: c_long, chunk: c_long,
                ) {
                    let space = Space::signed(start, end, step);
                    let it = Loop { function, data, threads, flags: 0, space };
                    it.with(context(), ($deal, Chunk::from(chunk)), region::begin);
                }
            })?
        )*
    };
}

loops! {
    Deal::Static => GOMP_parallel_loop_static, GOMP_parallel_loop_static_start;
    Deal::Dynamic => GOMP_parallel_loop_dynamic, GOMP_parallel_loop_dynamic_start;
    Deal::Guided => GOMP_parallel_loop_guided, GOMP_parallel_loop_guided_start;
    Deal::Dynamic => GOMP_parallel_loop_nonmonotonic_dynamic;
    Deal::Guided => GOMP_parallel_loop_nonmonotonic_guided;
}

macro_rules! runtime_loops {
    ($($whole:ident)*) => {
        $(export! {
            fn $whole(
                function: Outlined, data: *mut c_void, threads: c_uint,
                start: c_long, end: c_long, step: c_long, flags: c_uint,
            ) {
                let space = Space::signed(start, end, step);
                let it = Loop { function, data, threads, flags, space };
                let context = context();
                it.with(context, by_runtime(context), region::run);
            }
        })*
    };
}

runtime_loops! {
    GOMP_parallel_loop_runtime
    GOMP_parallel_loop_nonmonotonic_runtime
    GOMP_parallel_loop_maybe_nonmonotonic_runtime
}

export! {
    fn GOMP_parallel_loop_runtime_start(
        function: Outlined, data: *mut c_void, threads: c_uint,
        start: c_long, end: c_long, step: c_long,
    ) {
        let space = Space::signed(start, end, step);
        let it = Loop { function, data, threads, flags: 0, space };
        let context = context();
        it.with(context, by_runtime(context), region::begin);
    }
}
