//! `--stats` and `--timeline` of studies and machines.

use crate::Bench;
use serde_json::Value;
use std::collections::BTreeMap;

const SMALL: &str = "study barrier --cores 2,4 --only sense,futex --set episodes=5";

/// The rows of a file of statistics: simulation, part, which, quantity and value.
fn rows(text: &str) -> Vec<(String, String, String, String, f64)> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head: Vec<&str> = reader.headers().unwrap().iter().collect();
    let expected = ["simulation", "part", "which", "quantity", "value", "unit"];
    assert_eq!(head, expected);
    let rows = reader.records().map(|row| {
        let row = row.unwrap();
        let text = |at: usize| row[at].to_owned();
        (text(0), text(1), text(2), text(3), row[4].parse().unwrap())
    });
    rows.collect()
}

#[test]
fn a_study_counts_each_simulation_and_its_results_stay_the_same() {
    let (plain, counted) = (Bench::new(), Bench::new());
    let hash = |bench: &Bench| {
        let text = bench.read("out/barrier.meta.json");
        let meta: Value = serde_json::from_str(&text).unwrap();
        meta["hash"].as_str().unwrap().to_owned()
    };
    plain.run(SMALL).ok();
    let text = counted.run(&format!("{SMALL} --stats")).ok().out();
    assert!(text.contains("barrier.stats.csv"), "{text}");
    assert_eq!(hash(&plain), hash(&counted));
    let csv = counted.read("out/barrier.stats.csv");
    let mut stacks: BTreeMap<(String, String), (f64, f64)> = BTreeMap::new();
    for (simulation, part, which, quantity, value) in rows(&csv) {
        if part == "machine" && quantity == "length" {
            stacks.entry((simulation, part)).or_default().1 = value;
        } else if part == "machine" && quantity.starts_with("cycles-") {
            stacks.entry((simulation, part)).or_default().0 += value;
        } else if part == "llc" || part == "link" || part == "controller" {
            assert!(value > 0.0, "{which}");
        }
    }
    // Two barriers on two machines, each in a loop and in two single waits.
    assert!(stacks.len() >= 4, "{stacks:?}");
    for (cell, (sum, length)) in stacks {
        let cores = sum / length;
        // The study's machines for comparison keep their 64 and 80 cores.
        assert!(
            [2.0, 4.0, 64.0, 80.0].contains(&cores),
            "{cell:?}: {sum} of {length}"
        );
    }
    let svg = counted.read("out/barrier.stats.svg");
    assert!(
        svg.contains("serialised") && svg.contains("Cycle stack"),
        "{svg}"
    );
    assert!(!plain.path("out/barrier.stats.csv").exists());
}

#[test]
fn a_timeline_is_json_for_perfetto_and_is_bounded() {
    let bench = Bench::new();
    let asked = format!("{SMALL} --timeline all.json");
    let text = bench.run(&asked).ok().out();
    assert!(text.contains("wrote all.json"), "{text}");
    let file = bench.read("all.json");
    let file: Value = serde_json::from_str(&file).unwrap();
    let runs = file["otherData"]["runs"].as_array().unwrap();
    assert!((4..=16).contains(&runs.len()), "{}", runs.len());
    let events = file["traceEvents"].as_array().unwrap();
    let mut last = BTreeMap::new();
    for event in events.iter().filter(|event| event["cat"] != "region") {
        // Segments of a core do not overlap.
        if let (Some(pid), Some(at)) = (event["pid"].as_u64(), event["ts"].as_f64())
            && pid % 2 == 1
        {
            let end = last.entry((pid, event["tid"].as_u64())).or_insert(0.0);
            assert!(at >= *end - 1e-9, "{event}");
            *end = at + event["dur"].as_f64().unwrap();
        }
    }
    assert!(last.len() >= 8, "{last:?}");
    is_a_trace_event_file(&file);
}

/// The rules of "Trace Event Format" for complete and metadata events, and further rules of Perfetto's reader. An event
/// has no array. Two processes do not share the number of a thread. Slices of a thread, with times in whole
/// nanoseconds, are separate or nested.
fn is_a_trace_event_file(file: &Value) {
    assert!(file["otherData"].is_object());
    let mut owners = BTreeMap::new();
    let mut slices: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    for event in file["traceEvents"].as_array().unwrap() {
        let fields = event.as_object().unwrap();
        assert!(!fields.values().any(Value::is_array), "{event}");
        let number = |key: &str| event[key].as_u64().filter(|&number| number > 0);
        let pid = number("pid").unwrap_or_else(|| panic!("{event}"));
        let name = event["name"].as_str().unwrap();
        match event["ph"].as_str().unwrap() {
            "M" => {
                assert!(event["args"]["name"].is_string(), "{event}");
                if name == "thread_name" {
                    let tid = number("tid").unwrap_or_else(|| panic!("{event}"));
                    assert_eq!(owners.insert(tid, pid), None, "{event}");
                } else {
                    assert_eq!(name, "process_name");
                }
            }
            "X" => {
                let tid = number("tid").unwrap_or_else(|| panic!("{event}"));
                assert_eq!(owners.get(&tid), Some(&pid), "not named before: {event}");
                assert!(!name.is_empty() && event["cat"].is_string(), "{event}");
                // Perfetto keeps three decimals of a microsecond, so a time must not have more.
                let ns = |key: &str| {
                    let us = event[key].as_f64().filter(|us| *us >= 0.0);
                    let ns = us.unwrap_or_else(|| panic!("{event}")) * 1e3;
                    assert!((ns - ns.round()).abs() < 1e-3, "{event}");
                    ns.round() as u64
                };
                let start = ns("ts");
                slices
                    .entry(tid)
                    .or_default()
                    .push((start, start + ns("dur")));
            }
            other => panic!("{other}: {event}"),
        }
    }
    for (tid, slices) in slices {
        let mut open: Vec<u64> = Vec::new();
        for (start, end) in slices {
            while open.last().is_some_and(|&last| last <= start) {
                open.pop();
            }
            assert!(
                open.last().is_none_or(|&last| end <= last),
                "thread {tid}: {start} to {end}"
            );
            open.push(end);
        }
    }
}

#[test]
fn a_machine_is_counted_probe_by_probe() {
    let bench = Bench::new();
    let args = "machine --on atac-64 --set cores=4 --threads 2 --stats";
    bench.run(args).ok();
    let csv = bench.read("out/machine.stats.csv");
    // The file of another machine does not replace it.
    bench.run(&args.replace("cores=4", "cores=8")).ok();
    let kept = bench.names("out").into_iter();
    let kept = kept.filter(|name| name.starts_with("machine.atac-64-") && name.ends_with(".csv"));
    let kept: Vec<String> = kept
        .map(|name| bench.read(&format!("out/{name}")))
        .collect();
    assert!(kept.len() == 2 && kept.contains(&csv));
    let probes: std::collections::BTreeSet<String> =
        rows(&csv).into_iter().map(|row| row.0).collect();
    assert!(probes.contains("local loads"), "{probes:?}");
    assert!(
        probes.iter().any(|probe| probe.starts_with("contended")),
        "{probes:?}"
    );
}

#[test]
fn counts_without_a_simulation_are_refused() {
    let bench = Bench::new();
    bench.refuses(
        "",
        &[
            ("machine --stats", "--stats | --on"),
            ("study sleep --stats", "--stats | --on"),
            ("machine --timeline t.json", "--timeline | --on"),
        ],
    );
    bench.refuses(
        SMALL,
        &[
            ("--timeline no/such/t.json", "--timeline no/such/t.json"),
            ("--sweep seed=1,2 --stats", "--sweep | --stats"),
        ],
    );
}
