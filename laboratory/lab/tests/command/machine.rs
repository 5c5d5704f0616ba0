//! `manycore machine` on simulated machines.

use crate::Bench;

#[test]
fn a_preset_is_shown_beside_what_was_published() {
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
    // Published and error; simulated only where nothing is published.
    let known = row(&["load", "M", "2", "hops"]);
    assert_eq!(known[6], "400");
    assert!(known[7].ends_with('%'), "{known:?}");
    assert_eq!(row(&["store", "I", "1", "hop"])[6..8], ["-", "-"]);
    let last = text.lines().last().unwrap();
    assert!(
        last.starts_with("Error over load, store, CAS, FAA"),
        "{last}"
    );
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
    // The same again, to the byte.
    assert_eq!(Bench::new().run(json).ok().out(), text);
}
