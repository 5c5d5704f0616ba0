//! `OMP_DISPLAY_ENV` and `omp_display_env`.

use super::icv::{Bind, Kind};
use super::parse::Variable;
use super::{Settings, settings};
use crate::system::report::raw;
use std::fmt::Write;

fn bind(bind: Bind) -> &'static str {
    match bind {
        Bind::False => "FALSE",
        Bind::True => "TRUE",
        Bind::Primary => "PRIMARY",
        Bind::Close => "CLOSE",
        Bind::Spread => "SPREAD",
    }
}

/// Prints the settings if `OMP_DISPLAY_ENV` asks for that. The value `verbose` prints `is_preloaded` too.
pub(crate) fn display(is_preloaded: bool) {
    let variable = Variable::new("OMP_DISPLAY_ENV");
    match variable.text().as_deref() {
        None | Some("" | "false") => {}
        Some("true" | "1") => show(settings(), None),
        Some("verbose") => show(settings(), Some(is_preloaded)),
        Some(_) => variable.complain("true, false or verbose"),
    }
}

/// Writes the settings to standard error, in the form of the specification. If `is_preloaded` is given, also writes the
/// settings that `verbose` asks for.
pub(crate) fn show(settings: &Settings, is_preloaded: Option<bool>) {
    let mut text = String::from("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP = '201511'\n");
    let mut put = |name: &str, value: &str| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  [host] {name} = '{value}'");
    };
    let truth = |it: bool| if it { "TRUE" } else { "FALSE" };
    let icv = &settings.icv;
    let list = |numbers: &[u32]| {
        let numbers: Vec<_> = numbers.iter().map(u32::to_string).collect();
        numbers.join(",")
    };
    put("OMP_DYNAMIC", truth(icv.dynamic));
    put("OMP_NESTED", truth(icv.max_active > 1));
    let threads = if settings.threads.is_empty() {
        icv.threads().to_string()
    } else {
        list(&settings.threads)
    };
    put("OMP_NUM_THREADS", &threads);
    let kind = match icv.schedule.kind {
        Kind::Static => "STATIC",
        Kind::Dynamic => "DYNAMIC",
        Kind::Guided => "GUIDED",
        Kind::Auto => "AUTO",
    };
    // The default of static loops is a block for each member, and not a chunk of 1.
    let chunk = match (icv.schedule.kind, icv.schedule.chunk) {
        (_, 0) | (Kind::Dynamic | Kind::Guided, 1) => String::new(),
        (_, chunk) => format!(",{chunk}"),
    };
    let modifier = match (icv.schedule.kind, icv.schedule.monotonic) {
        (Kind::Static, false) => "NONMONOTONIC:",
        (Kind::Static, true) | (_, false) => "",
        (_, true) => "MONOTONIC:",
    };
    put("OMP_SCHEDULE", &format!("{modifier}{kind}{chunk}"));
    let binds: Vec<_> = if settings.binds.is_empty() {
        vec![bind(icv.bind)]
    } else {
        settings.binds.iter().copied().map(bind).collect()
    };
    put("OMP_PROC_BIND", &binds.join(","));
    put("OMP_PLACES", &settings.places.to_string());
    put(
        "OMP_STACKSIZE",
        &settings.stack_size.unwrap_or(0).to_string(),
    );
    let policy = match settings.active_wait {
        Some(true) => "ACTIVE",
        _ => "PASSIVE",
    };
    put("OMP_WAIT_POLICY", policy);
    put("OMP_THREAD_LIMIT", &icv.thread_limit.to_string());
    put("OMP_MAX_ACTIVE_LEVELS", &icv.max_active.to_string());
    put("OMP_NUM_TEAMS", &settings.num_teams.to_string());
    put(
        "OMP_TEAMS_THREAD_LIMIT",
        &settings.teams_thread_limit.to_string(),
    );
    put("OMP_CANCELLATION", truth(settings.cancellation));
    put("OMP_DEFAULT_DEVICE", &icv.default_device.to_string());
    put(
        "OMP_MAX_TASK_PRIORITY",
        &settings.max_task_priority.to_string(),
    );
    put("OMP_DISPLAY_AFFINITY", truth(settings.display_affinity));
    put("OMP_AFFINITY_FORMAT", &settings.affinity_format);
    put(
        "OMP_ALLOCATOR",
        super::parse::name_of_allocator(icv.allocator),
    );
    let offload = if settings.target_mandatory {
        "MANDATORY"
    } else {
        "DEFAULT"
    };
    put("OMP_TARGET_OFFLOAD", offload);
    if let Some(is_preloaded) = is_preloaded {
        put(
            "GOMP_SPINCOUNT",
            &match settings.patience {
                Some(patience) => format!("{patience:?}"),
                None => "200µs, 1µs if crowded".into(),
            },
        );
        put("MANYCORE_VERSION", env!("CARGO_PKG_VERSION"));
        // If the library is preloaded, it notices changes of signal masks and handlers. Otherwise it asks the kernel at
        // each switch between ranks (carried threads).
        put("MANYCORE_PRELOADED", truth(is_preloaded));
    }
    text.push_str("OPENMP DISPLAY ENVIRONMENT END\n");
    raw(text.as_bytes());
}
