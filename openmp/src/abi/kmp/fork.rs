//! Parallel regions.

use super::super::teams::{NUM_TEAMS, change, league, or};
use super::{Place, export};
use crate::environment::icv::Bind;
use crate::environment::settings;
use crate::region::{self, Wanted};
use crate::team::context::{Context, context};
use crate::team::pushed::Pushed;
use std::ffi::{c_char, c_int, c_void};

/// The body of a region. Its arguments are the addresses of two numbers that identify the thread, and then the shared
/// variables.
type Body = unsafe extern "C" fn();

/// The number of arguments in registers after the two numbers.
const IN_REGISTERS: usize = 4;

/// The call that each member makes.
struct Call {
    body: Body,
    arguments: Vec<*mut c_void>,
}

/// What each member of a region runs.
unsafe extern "C" fn member(call: *mut c_void) {
    // SAFETY: each caller passes a `Call`, and drops it only after all members have returned.
    let call = unsafe { &*call.cast::<Call>() };
    let number = context().id().cast_signed();
    let count = call.arguments.len();
    // SAFETY: the function from the compiler takes this number of arguments.
    unsafe { invoke(call.body, &number, call.arguments.as_ptr(), count) };
}

/// Calls a body with its arguments: the first ones in registers, the others on the stack. `arguments` has at least
/// [`IN_REGISTERS`] elements.
#[unsafe(naked)]
unsafe extern "C" fn invoke(
    body: Body,
    number: *const c_int,
    arguments: *const *mut c_void,
    count: usize,
) {
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "mov rax, rdi",
        "mov r10, rdx",
        "mov r11, rcx",
        "sub r11, {in_registers}",
        "jbe 3f",
        // The ABI requires that the stack is aligned to 16 bytes at a call.
        "test r11, 1",
        "jz 2f",
        "sub rsp, 8",
        "2:",
        "push qword ptr [r10 + 8 * r11 + 24]",
        "dec r11",
        "jnz 2b",
        "3:",
        "mov rdi, rsi",
        "mov rdx, [r10]",
        "mov rcx, [r10 + 8]",
        "mov r8, [r10 + 16]",
        "mov r9, [r10 + 24]",
        "call rax",
        "leave",
        "ret",
        in_registers = const IN_REGISTERS,
    )
}

/// Runs a region. `first` has the first three arguments of its body, and `others` the rest.
unsafe extern "C" fn fork(
    count: c_int,
    body: Body,
    first: *const *mut c_void,
    others: *const *mut c_void,
) {
    // SAFETY: the naked function passes the program's arguments.
    begin(unsafe { Call::new(count, body, first, others) });
}

/// Like [`fork`], for a league of teams.
unsafe extern "C" fn fork_teams(
    count: c_int,
    body: Body,
    first: *const *mut c_void,
    others: *const *mut c_void,
) {
    // SAFETY: the naked function passes the program's arguments.
    let call = unsafe { Call::new(count, body, first, others) };
    let context = context();
    let (teams, limit) = context.pushed.take().teams;
    // If no number is given, programs that clang compiled get one team, as they do with LLVM's library.
    let teams = match teams {
        0 => or(&NUM_TEAMS, settings().num_teams).max(1),
        teams => teams,
    };
    // SAFETY: the compiler made the function for these arguments.
    league(context, teams, limit, || unsafe {
        member((&raw const call).cast_mut().cast());
    });
}

impl Call {
    /// # Safety
    ///
    /// There are `count` arguments: up to three in `first`, and the rest in `others`.
    unsafe fn new(
        count: c_int,
        body: Body,
        first: *const *mut c_void,
        others: *const *mut c_void,
    ) -> Self {
        let argument = |at: usize| match at {
            // SAFETY: the caller promises that `first` has three arguments.
            0..3 => unsafe { *first.add(at) },
            // SAFETY: the caller promises that `others` has the rest.
            _ => unsafe { *others.add(at - 3) },
        };
        let count = usize::try_from(count).unwrap_or(0);
        Self::with(body, (0..count).map(argument).collect())
    }

    fn with(body: Body, mut arguments: Vec<*mut c_void>) -> Self {
        arguments.resize(arguments.len().max(IN_REGISTERS), std::ptr::null_mut());
        Self { body, arguments }
    }
}

fn begin(mut call: Call) {
    let context = context();
    let Pushed {
        threads,
        strict,
        bind,
        ..
    } = context.pushed.take();
    let size = region::reserve(context, threads);
    if let Some((severity, message)) = strict.filter(|_| size < threads) {
        super::sync::__kmpc_error(std::ptr::null(), severity, message);
    }
    let site = call.body as usize;
    let wanted = Wanted {
        function: member,
        data: (&raw mut call).cast(),
        site,
        threads: size,
        exact: true,
        bind,
        group: None,
        share: None,
    };
    region::run(context, wanted);
}

/// Begins a region of one member. The caller runs the body of the region itself.
fn begin_alone(context: &Context) {
    context.pushed.take();
    let wanted = Wanted {
        function: member,
        data: std::ptr::null_mut(),
        site: 0,
        threads: 1,
        exact: false,
        bind: None,
        group: None,
        share: None,
    };
    region::begin(context, wanted);
}

/// Functions of `(place, count, body, argument...)`, which Rust cannot declare. They store the argument registers in a
/// row for `$fork`.
macro_rules! variadic {
    ($($name:ident => $fork:ident;)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C" fn $name() {
                std::arch::naked_asm!(
                    "push rbp",
                    "mov rbp, rsp",
                    "sub rsp, 32",
                    "mov [rsp], rcx",
                    "mov [rsp + 8], r8",
                    "mov [rsp + 16], r9",
                    "mov edi, esi",
                    "mov rsi, rdx",
                    "mov rdx, rsp",
                    "lea rcx, [rbp + 16]",
                    "call {fork}",
                    "leave",
                    "ret",
                    fork = sym $fork,
                )
            }
        )*
    };
}

variadic! {
    __kmpc_fork_call => fork;
    __kmpc_fork_teams => fork_teams;
}

export! {
    fn __kmpc_fork_call_if(
        place: Place, _count: c_int, body: Body, condition: c_int, argument: *mut c_void,
    ) {
        let context = context();
        if condition == 0 {
            __kmpc_serialized_parallel(place, 0);
            let call = Call::with(body, vec![argument]);
            // SAFETY: the compiler made the function for this argument.
            unsafe { member((&raw const call).cast_mut().cast()) };
            region::end(context);
        } else {
            begin(Call::with(body, vec![argument]));
        }
    }

    fn __kmpc_serialized_parallel(_place: Place, _number: c_int) {
        begin_alone(context());
    }

    fn __kmpc_end_serialized_parallel(_place: Place, _number: c_int) {
        region::end(context());
    }

    fn __kmpc_push_num_threads(_place: Place, _number: c_int, threads: c_int) {
        let pushed = &context().pushed;
        let threads = u32::try_from(threads).unwrap_or(0);
        pushed.set(Pushed { threads, strict: None, ..pushed.get() });
    }

    fn __kmpc_push_num_threads_strict(
        place: Place, number: c_int, threads: c_int, severity: c_int, message: *const c_char,
    ) {
        __kmpc_push_num_threads(place, number, threads);
        let pushed = &context().pushed;
        pushed.set(Pushed { strict: Some((severity, message)), ..pushed.get() });
    }

    fn __kmpc_set_thread_limit(_place: Place, _number: c_int, limit: c_int) {
        if let Some(limit) = u32::try_from(limit).ok().filter(|&limit| limit > 0) {
            change(context(), |icv| icv.thread_limit = limit);
        }
    }

    fn __kmpc_push_num_teams(_place: Place, _number: c_int, teams: c_int, threads: c_int) {
        let pushed = &context().pushed;
        let number = |number: c_int| u32::try_from(number).unwrap_or(0);
        pushed.set(Pushed { teams: (number(teams), number(threads)), ..pushed.get() });
    }

    fn __kmpc_push_num_teams_51(
        place: Place, number: c_int, _least: c_int, most: c_int, threads: c_int,
    ) {
        __kmpc_push_num_teams(place, number, most, threads);
    }

    fn __kmpc_pop_num_threads(_place: Place, _number: c_int) {}

    fn __kmpc_pause_resource(_level: c_int) -> c_int {
        0
    }

    // The result 0 states that offloading to devices is disabled.
    fn __kmpc_get_target_offload() -> c_int {
        0
    }

    fn __kmpc_push_proc_bind(_place: Place, _number: c_int, bind: c_int) {
        let pushed = &context().pushed;
        let bind = match bind {
            2 => Some(Bind::Primary),
            3 => Some(Bind::Close),
            4 => Some(Bind::Spread),
            _ => None,
        };
        pushed.set(Pushed { bind, ..pushed.get() });
    }

    fn __kmpc_global_thread_num(_place: Place) -> c_int {
        context().id().cast_signed()
    }

    fn __kmpc_bound_thread_num(_place: Place) -> c_int {
        context().id().cast_signed()
    }

    fn __kmpc_global_num_threads(_place: Place) -> c_int {
        context().team().size.cast_signed()
    }

    fn __kmpc_bound_num_threads(_place: Place) -> c_int {
        context().team().size.cast_signed()
    }

    fn __kmpc_in_parallel(_place: Place) -> c_int {
        c_int::from(context().team().region().active_level > 0)
    }

    fn __kmpc_ok_to_fork(_place: Place) -> c_int {
        1
    }

    fn __kmpc_begin(_place: Place, _flags: c_int) {}

    fn __kmpc_end(_place: Place) {}
}
