//! The command as its user runs it: every contestant that is here serves every request,
//! figures come out whole, and bad input is named.

mod support;

use support::{folder, refuses, rows, text};

#[test]
fn every_contestant_is_measured_or_said_to_be_missing() {
    // On a single thread no other thread spins beside it.
    let cell = [
        "--quick",
        "--rounds",
        "1",
        "--clients",
        "2",
        "--threads",
        "1",
    ];
    let (output, rows) = rows("server", &folder("server"), &cell);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "", "no server is left out");

    let at = |name: &str| {
        rows[0]
            .iter()
            .position(|column| column == name)
            .expect(name)
    };
    let rows = &rows[1..];
    for row in rows {
        for figure in ["p50_us", "p99_us", "p999_us", "processor_us", "p50_ratio"] {
            assert!(row[at(figure)].parse::<f64>().expect("a number") > 0.0);
        }
        assert_eq!(&row[at("requests")], "240");
    }
    let measured = |peer| rows.iter().any(|row| &row[at("peer")] == peer);
    for peer in ["manycore", "serial", "rayon"] {
        assert!(measured(peer), "{peer}:\n{said}");
    }
    for (peer, runtime) in [
        ("tbb", "tbb"),
        ("gomp-static", "gomp"),
        ("gomp-passive", "gomp-passive"),
        ("libomp-static", "libomp"),
        ("forkunion", "forkunion"),
        ("forkunion-own", "forkunion"),
    ] {
        let skipped = format!("skipped: {runtime}: ");
        let named = said.lines().any(|line| line.starts_with(&skipped));
        assert!(named != measured(peer), "{peer}:\n{said}");
    }
}

#[test]
fn json_is_one_list_of_all_rows() {
    let cell = [
        "--quick",
        "--rounds",
        "1",
        "--clients",
        "1",
        "--threads",
        "2",
    ];
    let asked = ["--peers", "serial", "--format", "json"];
    let (output, _) = rows(
        "server",
        &folder("server-json"),
        &[&cell[..], &asked].concat(),
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = rows.as_array().expect("a list");
    let peers: Vec<_> = rows.iter().map(|row| row["peer"].as_str()).collect();
    assert_eq!(peers, [Some("manycore"), Some("serial")]);
    assert_eq!(rows[0]["p50_ratio"], 1.0);
}

#[test]
fn bad_input_is_named_and_status_2() {
    let bad = [
        (["--peers", "tokio"], "`tokio`"),
        (["--loads", "1x1"], "`1x1`"),
        (["--clients", "0"], "--clients"),
        (["--format", "xml"], "xml"),
    ];
    refuses("server", &bad);
}
