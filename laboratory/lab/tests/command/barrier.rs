//! `manycore study barrier`, on small teams.

use crate::{Bench, Run, sealed, unsealed};
use serde_json::Value;
use std::fs;

const SMALL: &str = "study barrier --cores 2,8 --set episodes=5 --set beside=none";

fn small(bench: &Bench, more: &str) -> Run {
    bench.run(&format!("{SMALL} {more}"))
}

pub(crate) fn records(csv: &str) -> Vec<csv::StringRecord> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    reader.records().map(Result::unwrap).collect()
}

/// The parts of a run's `NAME.meta.json`.
pub(crate) fn meta(bench: &Bench, study: &str) -> Value {
    let path = bench.path(&format!("out/{study}.meta.json"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn the_thesis_barrier_costs_what_its_figures_say() {
    let only = "--only channel,sense --format csv";
    let csv = small(&Bench::new(), only).ok().out();
    let head =
        "world,machine,cores,barrier,episodes,episode_median,exit_latency_median,unit,arrivals,";
    assert!(csv.starts_with(head), "{csv}");
    let rows = records(&csv);
    // The rows have two sizes of two barriers, in a loop, together and apart. One more row has the thesis's barrier of
    // two members that compute for 200 cycles before they wait.
    assert_eq!(rows.len(), 2 * 2 * 3 + 1);
    for row in &rows {
        assert_eq!(
            (&row[0], &row[1], &row[7]),
            ("simulated", "atac-64", "cycles")
        );
        let (cores, exit): (f64, f64) = (row[2].parse().unwrap(), row[6].parse().unwrap());
        let messages = row[14].parse::<f64>().unwrap();
        let broadcasts = messages > 0.0;
        assert_eq!(broadcasts, &row[3] == "channel", "{row:?}");
        if broadcasts {
            let form = match &row[8] {
                // The transport takes 5 cycles, the controller 10 a message, and a check 3.
                "loop" | "after" | "together" => 5.0 + 10.0 * (cores - 1.0) + 3.0,
                // The last member sends, and checks all messages that have arrived.
                _ => f64::max(18.0, 1.0 + 3.0 * (cores - 1.0)),
            };
            assert_eq!(exit, form, "{row:?}");
        } else {
            assert!(exit > 100.0, "{row:?}");
        }
    }
}

#[test]
fn orders_that_the_thesis_reverses_are_tried() {
    let args = "study barrier --cores 2,4,16 --set episodes=20 --set beside=none \
                --only channel,sense,sense-on-a-line,futex,glibc-2011";
    let text = Bench::new().run(args).ok().out();
    let mut lines = text.lines();
    let caption = "Barriers that the thesis may have compared with";
    assert!(lines.any(|line| line.starts_with(caption)), "{text}");
    let mut wait = |name: &str| -> Vec<f64> {
        let row = lines.find_map(|line| line.strip_prefix('│')?.trim().strip_prefix(name));
        let row = row.unwrap_or_else(|| panic!("{text}\nlacks {name}"));
        let cells = row.trim_end_matches('│').split_whitespace();
        cells.map(|cell| cell.parse().unwrap()).collect()
    };
    let on_a_line = [wait("sense "), wait("sense-on-a-line ")];
    let sleeping = [wait("futex "), wait("glibc-2011 ")];
    let free = [
        wait("futex, os.switch=0 "),
        wait("glibc-2011, os.switch=0 "),
    ];
    // On 16 cores sleeping is slower. If switches are free, it is faster than the barrier on one line.
    assert!(sleeping[0][2] > on_a_line[0][2], "{text}");
    assert!(free[0][2] < on_a_line[1][2], "{text}");
}

#[test]
fn runs_repeat_their_hash_and_another_machine_changes_it() {
    let run = |more: &str| {
        let bench = Bench::new();
        let text = small(&bench, &format!("--only channel,dissemination {more}"));
        let (text, meta) = (text.ok().out(), meta(&bench, "barrier"));
        let hash = meta["hash"].as_str().unwrap().to_owned();
        assert!(text.contains(&hash), "{text}");
        (hash, meta)
    };
    let (hash, first) = run("");
    // One more simulation has the thesis's barrier of two members that compute before they wait.
    assert_eq!(first["hashes"].as_object().unwrap().len(), 2 * 2 * 3 + 1);
    let machine = first["config"]["machines"][0].as_str().unwrap();
    assert!(machine.contains("controller = 10"), "{machine}");
    let (again, second) = run("");
    assert_eq!((again, &second["hashes"]), (hash.clone(), &first["hashes"]));
    assert_ne!(run("--set optical.controller=20").0, hash);
}

#[test]
fn other_machines_get_the_network_too() {
    let args = "study barrier --cores 4 --set episodes=3 --set beside=kunpeng-920";
    let bench = Bench::new();
    let text = bench.run(args).ok().out();
    for part in [
        "How much of the thesis",
        "atac-64-mesi",
        "kunpeng-920-optical",
        "closed form",
        "On 4 cores a wait takes",
        "out/barrier.csv",
    ] {
        assert!(text.contains(part), "{text}\nlacks {part}");
    }
    let svg = bench.read("out/barrier.svg");
    let svg = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<&str> = svg.descendants().filter_map(|node| node.text()).collect();
    for part in ["cores", "time of a wait (cycles)", "dissemination"] {
        assert!(texts.contains(&part), "{texts:?} lacks {part}");
    }

    // Draws the figure again in another form, from its file.
    let args = "figure out/barrier.svg --figure width=85mm --figure format=pdf --figure \
                panels=single --out paper";
    let printed = bench.run(args).ok().out();
    assert!(printed.contains("paper/barrier.panel-1.pdf"), "{printed}");
    assert_eq!(bench.names("paper").len(), printed.lines().count());

    // Without the network the thesis's barrier goes through memory.
    let args = "study barrier --on kunpeng-920 --cores 4 --set episodes=3 --only channel \
                --format csv";
    let rows = records(&Bench::new().run(args).ok().out());
    assert!(rows.iter().all(|row| &row[14] == "0.0"), "{rows:?}");
}

#[test]
fn this_host_is_measured() {
    let args = "study barrier --on native --cores 2 --set runs=2 --set episodes=20 --format json";
    for pin in ["", "--set pin=no"] {
        let json = Bench::new().run(&format!("{args} {pin}")).ok().out();
        let json: Value = serde_json::from_str(&json).unwrap();
        let rows = json["rows"].as_array().unwrap();
        assert!(!rows.is_empty());
        for row in rows {
            assert_eq!((&row["unit"], &row["runs"]), (&"ns".into(), &2.into()));
            assert!(row["episode_median"].as_f64().unwrap() > 0.0, "{row}");
        }
        assert_eq!(json["meta"]["hash"], Value::Null);
    }
}

#[test]
#[cfg(unix)]
fn an_interrupted_study_continues_where_it_stopped() {
    let bench = Bench::new();
    let args = "study barrier --cores 16,32,64 --only channel,sense --set episodes=1000 \
                --set beside=none --format csv";
    let (path, _) = crate::study::interrupted(&bench, args);

    // The journal's contents are kept. The test marks them, and finds the mark in the results.
    let text = unsealed(&fs::read_to_string(&path).unwrap());
    let (measurer, lines) = text.split_once('\n').unwrap();
    let mut first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    first["outcome"]["total"] = 123_456.0.into();
    fs::write(&path, sealed(&format!("{measurer}\n{first}\n"))).unwrap();
    let rows = records(&bench.run(args).ok().out());
    assert_eq!(rows.len(), 3 * 2 * 3);
    let total = |row: &csv::StringRecord| {
        let number = |at: usize| row[at].parse::<f64>().ok();
        Some((number(4)? * number(5)?).round())
    };
    let marked: Vec<_> = rows
        .iter()
        .filter(|row| total(row) == Some(123_456.0))
        .collect();
    assert_eq!(marked.len(), 1);
    assert_eq!(Value::from(&marked[0][3]), first["trial"]["barrier"]);
    assert!(!path.exists());
}

#[test]
fn impossible_requests_are_refused() {
    let bench = Bench::new();
    bench.refuses(
        "study barrier",
        &[
            ("--only chanel", "--only | `chanel` | channel"),
            ("--threads 2", "--threads | --cores"),
            ("--on kunpeng-920 --cores 65", "--cores 65 | 64 cores"),
            ("--cores 100000", "--cores 100000"),
            ("--set seconds=3", "--set seconds | --on native"),
            ("--set episodes=0", "--set episodes"),
            ("--set episode=3", "episode"),
            ("--set beside=atac-65", "--set beside | atac-65"),
            ("--on native --set beside=kunpeng-920", "--set beside"),
            ("--on native --set pin=maybe", "--set pin | yes or no"),
        ],
    );
    bench
        .run("study sleep --cores 2")
        .refused("--cores | --threads");
    assert!(bench.names("").is_empty());
}
