//! The command as its user runs it: every peer that is here runs every index
//! exactly once, figures come out whole, and bad input is one line.

mod support;

use support::{folder, refuses, rows, run, text};

#[test]
fn every_peer_runs_every_index_exactly_once() {
    let output = run("loops", &["--check", "--threads", "1,2,3,4"]);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}");
    let rust = [
        "manycore",
        "rayon",
        "rayon-in",
        "chili",
        "chili-held",
        "paralight",
    ];
    for peer in rust.into_iter().chain(["thread-scope"]) {
        for threads in 1..=4 {
            let line = format!("{peer}, threads {threads}: every index once");
            assert!(said.lines().any(|l| l == line), "no `{line}` in\n{said}");
        }
    }
    for peer in [
        "serial",
        "serial-right",
        "manycore",
        "rayon-in",
        "chili-held",
    ] {
        let line = format!("{peer}, threads 2: every join right");
        assert!(said.lines().any(|l| l == line), "no `{line}` in\n{said}");
    }
    // These need packages; without them there is a line that says so.
    for (runtime, join) in [
        ("gomp", "gomp-task"),
        ("libomp", "libomp-task"),
        ("tbb", "tbb-group"),
    ] {
        let lines = [
            format!("{runtime}-static, threads 2: every index once"),
            format!("{join}, threads 2: every join right"),
        ];
        let skipped = format!("skipped: {runtime}: ");
        assert!(
            said.lines().any(|l| l.starts_with(&skipped))
                || lines.iter().all(|line| said.lines().any(|l| l == line)),
            "{said}"
        );
    }
    // So does this one, and it has no joins.
    for peer in ["forkunion-static", "forkunion-dynamic"] {
        let line = format!("{peer}, threads 2: every index once");
        let skipped = |l: &str| l.starts_with("skipped: forkunion: ");
        assert!(said.lines().any(|l| l == line || skipped(l)), "{said}");
    }
}

#[test]
fn manycore_runs_every_index_under_every_partitioner() {
    let asked = "manycore-static,manycore-guided,manycore-factoring,manycore-sharded";
    let output = run(
        "loops",
        &["--check", "--threads", "1,2,4", "--peers", asked],
    );
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert_eq!(
        said.matches("every index once").count(),
        3 * (4 + 1),
        "{said}"
    );
}

#[test]
fn figures_are_printed_and_written() {
    let out = folder("figures");
    let asked = [
        "--quick",
        "--only",
        "launch",
        "--peers",
        "thread-scope",
        "--threads",
        "2",
    ];
    let (output, rows) = rows("loops", &out, &asked);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("ratio to serial"));

    let at = |name: &str| {
        rows[0]
            .iter()
            .position(|column| column == name)
            .expect(name)
    };
    let (median, runs, serial) = (at("median"), at("runs"), at("ratio_to_serial"));
    for row in &rows[1..] {
        assert!(row[median].parse::<f64>().expect("a number") > 0.0);
        assert!(row[serial].parse::<f64>().expect("a number") > 0.0);
        assert!(row[runs].parse::<usize>().expect("a count") > 0);
    }
    assert_eq!(rows.len() - 1, 6 * 2, "six cases, two peers");
    let files = std::fs::read_dir(&out).expect("a folder").count();
    assert_eq!(files, 1, "nothing half-written is left");
}

#[test]
fn join_loops_are_timed_by_the_join() {
    let asked = [
        "--only",
        "join",
        "--peers",
        "chili",
        "--threads",
        "1",
        "--rounds",
        "2",
    ];
    let (output, rows) = rows("loops", &folder("joins"), &asked);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let named = |row: &csv::StringRecord| (row[1].to_owned(), row[2].to_owned());
    let expected = ["serial", "serial-right", "chili-held"];
    assert_eq!(
        rows[1..].iter().map(named).collect::<Vec<_>>(),
        expected.map(|peer| ("empty join".to_owned(), peer.to_owned()))
    );
}

#[test]
fn bad_input_is_one_line_and_status_2() {
    let file = folder("a-file");
    std::fs::write(&file, "").expect("a place to write");
    let file = file.to_str().expect("plain text");
    let bad = [
        (["--peers", "tokio"], "`tokio`"),
        (["--only", "barrier"], "`barrier`"),
        (["--out", file], file),
    ];
    refuses("loops", &bad);
}
