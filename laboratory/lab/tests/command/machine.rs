//! `manycore machine` on simulated machines.

use crate::Bench;

#[test]
fn a_preset_is_shown_with_published_numbers() {
    let text = Bench::new().run("machine --on westmere-ex").ok().out();
    assert!(
        text.starts_with("simulated (preset westmere-ex, hash "),
        "{text}"
    );
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let row = |begin: &[&str]| {
        let mut rows = rows.iter();
        let found = rows.find(|row| row.get(1..).is_some_and(|row| row.starts_with(begin)));
        found
            .unwrap_or_else(|| panic!("no {begin:?} in {text}"))
            .clone()
    };
    // These columns are the published number and the error. They are `-` if nothing is published.
    let known = row(&["load", "M", "2", "hops"]);
    assert_eq!(known[6], "400");
    assert!(known[7].ends_with('%'), "{known:?}");
    assert_eq!(row(&["store", "I", "1", "hop"])[6..8], ["-", "-"]);
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("Error of load, store, CAS, FAA"), "{last}");
}

#[test]
fn json_has_the_machine_as_it_was_changed() {
    let json = "machine --on atac-64 --set cores=4 --threads 2,9 --format json";
    let text = Bench::new().run(json).ok().out();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["world"], "simulated");
    assert_eq!(report["cores"], 4);
    assert!(report["config"].as_str().unwrap().contains("cores = 4\n"));
    assert_eq!(report["hash"].as_str().unwrap().len(), 16);
    assert_eq!(report["contended"].as_array().unwrap().len(), 2);
    assert!(report["notes"][0].as_str().unwrap().contains("9 threads"));
    assert_eq!(report["latency_errors"], serde_json::Value::Null);
    // A second run prints the same bytes.
    assert_eq!(Bench::new().run(json).ok().out(), text);
}

/// The times of a quick measurement mean nothing. The test checks the form of the file and of the comparison.
#[test]
fn a_preset_of_this_host_is_written_once_and_compared() {
    let bench = Bench::new();
    if std::thread::available_parallelism().unwrap().get() < 2 {
        let refused = bench.run("machine --as-preset mine.toml --quick");
        return refused.refused("--as-preset: only one core | two or more");
    }
    bench.run("machine --as-preset mine.toml --quick").ok();
    let preset = std::fs::read_to_string(bench.path("mine.toml")).unwrap();
    let is_explained = |line: &str| match line.split_once(" = ") {
        Some((key, value)) => {
            value.contains(" # ") || value.starts_with("\"manycore machine") || key == "classes"
        }
        None => true,
    };
    let unexplained = preset.lines().find(|line| !is_explained(line));
    assert_eq!(unexplained, None);
    let again = bench.run("machine --as-preset mine.toml --quick");
    again.refused("mine.toml: this file exists | new file");
    bench.run("machine --on mine.toml").ok();

    let csv = bench
        .run("machine --check mine.toml --quick --format csv")
        .ok()
        .out();
    let mut rows = csv.lines();
    let header = "program,threads,native_ns,native_ns_q1,native_ns_q3,native_samples,simulated_ns,simulated_over_native,error";
    assert_eq!(rows.next(), Some(header));
    assert_eq!(rows.clone().count(), 10);
    assert!(rows.all(|row| row.split(',').nth(5) == Some("3")), "{csv}");
    let json = bench
        .run("machine --check mine.toml --quick --format json")
        .ok()
        .out();
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["preset"], "mine");
    assert!(report["worst_error"].as_f64() >= report["median_error"].as_f64());
    let table = bench.run("machine --check mine.toml --quick").ok().out();
    assert!(table.contains("Error: median "), "{table}");
}

#[test]
fn a_preset_that_cannot_be_written_or_compared_is_refused() {
    let bench = Bench::new();
    for (command, error) in [
        ("machine --as-preset mine", "--as-preset mine: | .toml"),
        (
            "machine --as-preset none/mine.toml",
            "none/mine.toml: cannot write | a folder to which this user can write",
        ),
        (
            "machine --as-preset mine.toml --on atac-64",
            "--as-preset | --on",
        ),
        (
            "machine --check native",
            "--check native: expected a preset or FILE.toml",
        ),
        ("machine --check none.toml", "none.toml"),
        ("machine --format csv", "--format csv | table or json"),
    ] {
        bench.run(command).refused(error);
    }
    assert!(!bench.path("mine.toml").exists());
}
