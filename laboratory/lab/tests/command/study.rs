//! `manycore study block-size`, on small loops.

#[cfg(unix)]
use crate::provenance::LONG;
use crate::{Bench, Run, sealed, unsealed};
use serde_json::Value;
use std::fs;
#[cfg(unix)]
use std::{path::PathBuf, process::Stdio};

/// A study of every task that takes an instant.
const TINY: &str = "study block-size --threads 1,2 --seed 7 --set n=40 --set reads=64 --set writes=64,128 --set comps=64,2^60 --set rounds=4";

fn tiny(bench: &Bench, more: &str) -> Run {
    bench.run(&format!("{TINY} {more}"))
}

#[test]
fn the_table_shows_blocks_threads_and_regrets() {
    let text = tiny(&Bench::new(), "").ok().out();
    // Paragraphs are broken into lines.
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "block size",
        "1 thread",
        "2 threads",
        "64/128/64",
        "adaptive",
        "fixed-block (auto)",
        "*",
        "Regret",
        "spread",
        "They cannot have been executed",
        "out/block-size.csv",
    ] {
        assert!(words.contains(part), "{text}\nlacks {part}");
    }
}

#[test]
fn the_csv_is_tidy() {
    let bench = Bench::new();
    let printed = tiny(&bench, "--out results --format csv").ok().out();
    assert_eq!(
        bench.latest("results", "block-size"),
        ["block-size.csv", "block-size.meta.json", "block-size.svg"]
    );
    let csv = bench.read("results/block-size.csv");
    assert_eq!(printed, csv);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header: Vec<String> = reader.headers().unwrap().iter().map(String::from).collect();
    assert_eq!(
        header[..15],
        [
            "world",
            "machine",
            "core_groups",
            "threads",
            "unit_read",
            "unit_write",
            "unit_comp",
            "task",
            "partitioner",
            "block_size",
            "latency_median",
            "latency_p10",
            "latency_p90",
            "unit",
            "runs"
        ]
    );
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    // There are 3 folded and 2 opaque unit tasks, 3 irregular tasks, and the tiny one. Of 2 x 2 sizes the star leaves
    // out the task that varies both. An opaque task cannot do 2^60 additions. Each task has 6 blocks (1 to 32) and 7
    // partitioners.
    let cells = (3 + 2 + 3 + 1) * 2;
    assert_eq!(rows.len(), cells * 13);
    for row in &rows {
        assert_eq!((&row[0], &row[13], &row[14]), ("native", "us", "4"));
        let number = |column: usize| row[column].parse::<f64>().unwrap();
        assert!(
            number(11) <= number(10) && number(10) <= number(12),
            "{row:?}"
        );
        assert!(number(10) >= 0.0);
        let fixed = &row[8] == "fixed-block" && !row[9].is_empty();
        assert!(fixed || row[9].is_empty(), "{row:?}");
    }
}

#[test]
fn json_holds_everything_and_the_figure_is_well_formed() {
    let bench = Bench::new();
    let printed = tiny(&bench, "--only folded,adaptive,static --format json").ok();
    let json: Value = serde_json::from_str(&printed.out()).unwrap();
    assert_eq!(json["study"], "block-size");
    // There are 3 tasks and 2 numbers of threads, each with 6 blocks and 2 partitioners.
    assert_eq!(json["rows"].as_array().unwrap().len(), 3 * 2 * 8);
    assert_eq!(json["regrets"].as_array().unwrap().len(), 3 * 2 * 2);
    let names = ["partitioner", "geometric_mean_regret", "worst"];
    assert!(
        names
            .iter()
            .all(|name| json["overall"][0].get(name).is_some())
    );

    let meta = bench.read("out/block-size.meta.json");
    let meta: Value = serde_json::from_str(&meta).unwrap();
    assert_eq!(meta, json["meta"]);
    assert_eq!(meta["seed"], 7);
    assert_eq!(meta["config"]["threads"], serde_json::json!([1, 2]));
    assert_eq!(meta["config_hash"].as_str().unwrap().len(), 16);
    let origin = &meta["origin"];
    for key in ["world", "host", "cpu", "kernel", "determinism"] {
        assert!(origin[key].is_string(), "{key}: {origin}");
    }
    for key in ["governor", "smt", "turbo", "microcode"] {
        assert!(origin["processor"].get(key).is_some(), "{key}: {origin}");
    }
    for key in ["manycore", "rustc", "commit", "dirty", "build"] {
        assert!(origin["versions"].get(key).is_some(), "{key}: {origin}");
    }
    let argv = origin["argv"].as_array().unwrap();
    assert_eq!(argv[1..3], ["study", "block-size"]);
    // Every column has a unit.
    assert_eq!(meta["columns"]["csv"]["unit_read"], "bytes an iteration");

    let svg = bench.read("out/block-size.svg");
    let document = roxmltree::Document::parse(&svg).unwrap();
    assert_eq!(document.root_element().tag_name().name(), "svg");
    assert!(document.root_element().attribute("viewBox").is_some());
    let texts: Vec<&str> = document
        .descendants()
        .filter_map(|node| node.text())
        .collect();
    for label in [
        "latency (us)",
        "block size (iterations)",
        "1 thread",
        "2 threads",
    ] {
        assert!(texts.contains(&label), "{label}");
    }
}

#[test]
fn a_loop_may_have_one_iteration_and_one_round() {
    let bench = Bench::new();
    let line = "study block-size --threads 3 --set n=1 --set rounds=1 --set comps=64";
    let text = bench.run(line).ok().out();
    assert!(text.contains("3 threads"), "{text}");
}

#[test]
fn blocks_and_partitioners_can_be_chosen() {
    let bench = Bench::new();
    let more =
        "--only opaque --set blocks=3,5 --set partitioners=sharded=2,fixed-block=3 --format csv";
    let csv = tiny(&bench, more).ok().out();
    let mut policies: Vec<String> = csv
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>()[8..10].join("="))
        .collect();
    policies.sort();
    policies.dedup();
    assert_eq!(policies, ["fixed-block=3", "fixed-block=5", "sharded=2"]);
}

#[test]
#[cfg(unix)]
fn an_interrupted_study_continues_where_it_stopped() {
    let bench = Bench::new();
    let (path, err) = interrupted(&bench, LONG);
    assert!(err.contains("of 2 cells"), "{err}");

    // The journal's contents are kept. The test marks them, and finds the mark in the results.
    let text = unsealed(&fs::read_to_string(&path).unwrap());
    let (measurer, records) = text.split_once('\n').unwrap();
    let mut first: Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
    assert_eq!(first["cell"]["workload"]["task"], "folded");
    assert_eq!(first["complete"], true);
    for policy in first["policies"].as_array_mut().unwrap() {
        policy["latency"] = serde_json::json!([123_456.0]);
    }
    let mut tiny = first.clone();
    tiny["cell"]["workload"]["task"] = "tiny".into();
    tiny["cell"]["workload"]["n"] = (1 << 24).into();
    for key in ["read", "write"] {
        tiny["cell"]["workload"][key] = 0.into();
    }
    tiny["cell"]["workload"]["comp"] = 14.into();
    fs::write(&path, sealed(&format!("{measurer}\n{first}\n{tiny}\n"))).unwrap();
    let csv = bench.run(&format!("{LONG} --format csv")).ok().out();
    assert!(
        csv.lines().skip(1).all(|line| line.contains("123456")),
        "{csv}"
    );
    assert!(!path.exists());
}

/// Runs a study and presses ctrl-C once its journal has a record. Returns the journal's path, and the text on standard
/// error.
#[cfg(unix)]
pub(crate) fn interrupted(bench: &Bench, line: &str) -> (PathBuf, String) {
    let child = bench
        .command(line)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let journal = wait_for_journal(bench);
    interrupt(child.id());
    let ended = child.wait_with_output().unwrap();
    let err = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{err}");
    // On a slow machine there is progress before the last line.
    let last = err.lines().last().unwrap();
    assert!(last.contains(&journal), "{err}");
    // Only the journal exists, and no incomplete file.
    assert_eq!(bench.names("out"), [journal.as_str()]);
    (bench.path("out").join(&journal), err)
}

/// Waits until a record is in the journal.
#[cfg(unix)]
fn wait_for_journal(bench: &Bench) -> String {
    loop {
        let entries = fs::read_dir(bench.path("out")).into_iter().flatten();
        for entry in entries.flatten() {
            let name = entry.file_name().into_string().unwrap();
            let text = fs::read_to_string(entry.path()).unwrap_or_default();
            // The first line names the journal's owner.
            if name.ends_with(".journal") && text.lines().count() > 1 {
                return name;
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[cfg(unix)]
fn interrupt(process: u32) {
    let status = std::process::Command::new("kill")
        .args(["-INT", &process.to_string()])
        .status();
    assert!(status.unwrap().success());
}
