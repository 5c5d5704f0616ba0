//! The command as its user runs it: contests have names, contests without another test end in a
//! quick run, and the error for a flag out of its range names the range.

mod support;

use support::{folder, peers, refuses, rows, text};

#[test]
fn contests_are_named() {
    let output = peers(&["list"]);
    assert!(output.status.success());
    let said = text(&output.stdout);
    let names: Vec<_> = said
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let all = [
        "loops",
        "channels",
        "barriers",
        "npb",
        "quota",
        "server",
        "beside",
        "stealing",
        "mixtures",
        "iterators",
    ];
    assert_eq!(names, all);
    assert!(!peers(&["run", "tokio"]).status.success());
}

#[test]
fn channels_are_measured() {
    let asked = [
        "--rounds",
        "1",
        "--peers",
        "crossbeam",
        "--receivers",
        "1",
        "--format",
        "json",
    ];
    let (output, rows) = rows("channels", &folder("channels"), &asked);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let header: Vec<_> = rows[0].iter().collect();
    let columns = [
        "case",
        "waiting",
        "peer",
        "median_ns",
        "min_ns",
        "ratio_to_manycore",
    ];
    assert_eq!(header, columns);
    let sleeping = |case, peer| {
        let row = |row: &&csv::StringRecord| (&row[0], &row[1], &row[2]) == (case, "sleeps", peer);
        rows.iter().any(|it| row(&it))
    };
    for peer in ["manycore", "crossbeam"] {
        assert!(sleeping("one sender to 1", peer) && sleeping("round trip", peer));
    }
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(listed.as_array().expect("a list").len(), rows.len() - 1);
}

#[test]
fn iterators_are_measured_on_both() {
    let (output, rows) = rows("iterators", &folder("iterators"), &["--runs", "1"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let header: Vec<_> = rows[0].iter().collect();
    let columns = ["program", "threads", "peer", "p10_us", "p50_us", "p90_us"];
    assert_eq!(header, columns);
    assert_eq!(rows.len() - 1, 2 * 19);
}

#[test]
fn a_quota_is_kept_or_said_to_be_impossible_here() {
    let asked = ["--quick", "--quotas", "1", "--cpus", "1", "--time", "200"];
    let (output, rows) = rows("quota", &folder("quota"), &asked);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        rows.len() == 1 + 3 || said.starts_with("skipped: "),
        "{said}"
    );
}

#[test]
fn a_value_out_of_range_names_the_range() {
    refuses(
        "channels",
        &[
            (["--rounds", "0"], "1..=1000000"),
            (["--peers", "flume"], "`flume`"),
        ],
    );
    refuses(
        "iterators",
        &[
            (["--threads", "2000"], "1..=1024"),
            (["--runs", "0"], "--rounds"),
        ],
    );
    refuses(
        "quota",
        &[
            (["--quotas", "0"], "expected 0.01 to 10000"),
            (["--cpus", "0"], "--cpus"),
        ],
    );
}
