//! The place, time and program of a result.

use super::processor::{Processor, cpu_model};
use serde::Serialize;
use std::fs;
use std::time::SystemTime;

/// The origin of a result, for its `meta.json`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Origin {
    pub(crate) world: &'static str,
    pub(crate) host: String,
    pub(crate) cpu: String,
    pub(crate) processor: Processor,
    pub(crate) kernel: String,
    pub(crate) versions: Versions,
    /// The command as a list of arguments.
    pub(crate) argv: Vec<String>,
    /// The end of the command, in UTC.
    pub(crate) finished: String,
    /// Whether the same configuration gives the same numbers again.
    pub(crate) determinism: &'static str,
}

/// The sources and tools of the lab's build.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Versions {
    pub(crate) manycore: &'static str,
    pub(crate) rustc: &'static str,
    /// The commit of the checkout. `None` if the lab was built outside a checkout.
    pub(crate) commit: Option<&'static str>,
    /// Whether sources had changed since that commit.
    pub(crate) dirty: Option<bool>,
    /// The fingerprint of sources, compiler and profile.
    pub(crate) build: &'static str,
}

impl Versions {
    /// The versions of this program.
    pub(crate) fn of_this_build() -> Self {
        let commit = env!("LAB_COMMIT");
        Self {
            manycore: env!("CARGO_PKG_VERSION"),
            rustc: env!("LAB_RUSTC_VERSION"),
            commit: (!commit.is_empty()).then_some(commit),
            dirty: env!("LAB_DIRTY").parse().ok(),
            build: env!("LAB_BUILD"),
        }
    }
}

impl Origin {
    /// The origin of a result that this host simulates now.
    pub(crate) fn simulated() -> Self {
        Self {
            world: "simulated",
            determinism: "the same configuration gives the same numbers and hashes on any host",
            ..Self::native()
        }
    }

    /// The origin of a result that this host measures now.
    pub(crate) fn native() -> Self {
        Self {
            world: "native",
            host: host_name(),
            cpu: cpu_model(),
            processor: Processor::detect(),
            kernel: format!(
                "{} {}",
                std::env::consts::OS,
                proc_file("sys/kernel/osrelease")
            ),
            versions: Versions::of_this_build(),
            argv: std::env::args_os()
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect(),
            finished: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            determinism: "none: native latencies differ from run to run, so the results have no hash; \
                          config_hash identifies the request, not the measurements",
        }
    }
}

/// The name of this host.
pub(crate) fn host_name() -> String {
    proc_file("sys/kernel/hostname")
}

/// The text of a file in `/proc`, or `unknown`.
fn proc_file(name: &str) -> String {
    fs::read_to_string(format!("/proc/{name}"))
        .map(|text| text.trim().to_owned())
        .unwrap_or_else(|_| "unknown".into())
}
