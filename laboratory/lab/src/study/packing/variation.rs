//! Other settings of the operating system.

use manycore_chip::config::Os;

/// Changes to a machine, as for `--set`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variation {
    pub(super) name: String,
    pub(super) settings: Vec<String>,
}

/// Shorter and longer slices, more and less balancing than `os` has.
pub(super) fn variations(os: &Os) -> Vec<Variation> {
    let slice = |part: u64| Variation {
        name: format!("slices and ticks 1/{part} as long"),
        settings: vec![
            // With this order of settings, the latency is never less than the granularity.
            format!("os.min-granularity={}", os.min_granularity / part),
            format!("os.latency={}", os.latency / part),
            format!("os.wakeup-granularity={}", os.wakeup_granularity / part),
            format!("os.tick={}", (os.tick / part).max(1)),
        ],
    };
    let one = |name: &str, settings: &[String]| Variation {
        name: name.into(),
        settings: settings.to_vec(),
    };
    vec![
        slice(4),
        slice(16),
        slice(64),
        one(
            "slices 4 times as long",
            &[
                format!("os.latency={}", os.latency * 4),
                format!("os.min-granularity={}", os.min_granularity * 4),
            ],
        ),
        one(
            "busy cores balance as often as idle cores",
            &["os.balance-busy=1".into()],
        ),
        one(
            "all cores balance 8 times as often",
            &[format!("os.balance={}", (os.balance / 8).max(1))],
        ),
        one("no thread is too hot to be pulled", &["os.hot=0".into()]),
        one(
            "threads stay hot for 8 times as long",
            &[format!("os.hot={}", os.hot * 8)],
        ),
    ]
}
