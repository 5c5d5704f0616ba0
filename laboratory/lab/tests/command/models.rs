//! `manycore study models`, on small loops.

use crate::Bench;

const SMALL: &str = "study models --threads 2 --set n=64 --set sizes=64,256 --format csv";

/// The rows of a run, which has `policies` in each of six loops.
fn rows(bench: &Bench, more: &str, policies: usize) -> Vec<csv::StringRecord> {
    let csv = bench.run(&format!("{SMALL} {more}")).ok().out();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    assert_eq!(
        (&header[8], &header[9], &header[10]),
        ("policy", "block_size", "latency_ns")
    );
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    // The loops have two sizes that are read, two that are written, and two computations.
    assert_eq!(rows.len(), 6 * policies);
    for row in &rows {
        assert!(row[10].parse::<f64>().unwrap() > 0.0, "{row:?}");
        let told = ["document", "published", "refitted", "ours"].contains(&&row[8]);
        assert_eq!(told, !row[9].is_empty(), "{row:?}");
    }
    rows
}

#[test]
fn every_model_runs_on_a_simulated_machine_and_repeats_its_numbers() {
    let on = "--on w3225r";
    let first = rows(&Bench::new(), on, 7);
    assert_eq!(first, rows(&Bench::new(), on, 7));
    let block = |policy: &str, read: &str| {
        let found = first
            .iter()
            .find(|row| (&row[8], &row[4]) == (policy, read));
        found.unwrap()[9].parse::<usize>().unwrap()
    };
    // Both formulas give larger blocks to smaller tasks.
    assert!(block("published", "64") > block("published", "256"));
    assert!(block("ours", "64") >= block("ours", "256"));
}

#[test]
fn native_runs_have_all_policies_but_the_documents() {
    let rows = rows(&Bench::new(), "--set runs=1", 6);
    assert!(
        rows.iter()
            .all(|row| &row[0] == "native" && &row[8] != "document")
    );
}

#[test]
fn impossible_requests_are_refused() {
    Bench::new().refuses(
        "study models",
        &[
            ("--only guess", "--only | guess | adaptive"),
            ("--threads 2,4", "--threads | expected one"),
            ("--cores 2", "--cores | --threads"),
            ("--on w3225r --threads 17", "--threads 17 | 16"),
            ("--on tr3970x --threads 64 --only document", "document"),
            ("--set sizes=1048576 --set n=16777216", "--set sizes"),
        ],
    );
}
