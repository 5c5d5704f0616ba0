//! Where, when and by what a result was made.

use serde::Serialize;
use std::fs;
use std::time::SystemTime;

/// What a result's `meta.json` says about its origin.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Origin {
    pub(crate) world: &'static str,
    pub(crate) host: String,
    pub(crate) cpu: String,
    pub(crate) kernel: String,
    pub(crate) versions: Versions,
    /// UTC.
    pub(crate) finished: String,
    /// Whether the same configuration gives the same numbers again.
    pub(crate) determinism: &'static str,
}

/// What the lab was built from.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Versions {
    pub(crate) manycore: &'static str,
    pub(crate) rustc: &'static str,
}

impl Origin {
    /// A result of simulations on this host, now.
    pub(crate) fn simulated() -> Self {
        Self {
            world: "simulated",
            determinism: "the same configuration gives the same numbers and hashes on any host",
            ..Self::native()
        }
    }

    /// A result measured on this host, now.
    pub(crate) fn native() -> Self {
        Self {
            world: "native",
            host: proc_file("sys/kernel/hostname"),
            cpu: crate::machine::cpu_model(),
            kernel: format!(
                "{} {}",
                std::env::consts::OS,
                proc_file("sys/kernel/osrelease")
            ),
            versions: Versions {
                manycore: env!("CARGO_PKG_VERSION"),
                rustc: env!("LAB_RUSTC_VERSION"),
            },
            finished: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            determinism: "none: native latencies differ from run to run, so the results have no \
                          hash; config_hash identifies what was asked, not what was measured",
        }
    }
}

/// One line from `/proc`, where there is one.
fn proc_file(name: &str) -> String {
    fs::read_to_string(format!("/proc/{name}"))
        .map(|text| text.trim().to_owned())
        .unwrap_or_else(|_| "unknown".into())
}
