//! `manycore study sleep`, on small inputs.

use crate::barrier::records;
use crate::{Bench, Run, sealed, unsealed};
use serde_json::Value;
use std::fs;

const SIMULATED: &str = "study sleep --on dahu --threads 3 --set runs=1";

fn simulated(bench: &Bench, more: &str) -> Run {
    bench.run(&format!("{SIMULATED} {more}"))
}

#[test]
fn the_csvs_are_tidy() {
    let bench = Bench::new();
    let only = "--only string-split,packed,split-padded --format csv";
    let csv = simulated(&bench, only).ok().out();
    let head = "world,machine,algorithm,policy,threads,time_median,unit,speedup,wakeups,cpu_time,";
    assert!(csv.starts_with(head), "{csv}");
    let rows = records(&csv);
    assert_eq!(rows.len(), 2 * 2);
    for row in &rows {
        assert_eq!(
            (&row[0], &row[1], &row[2]),
            ("simulated", "dahu", "string-split")
        );
        assert_eq!((&row[6], &row[10]), ("cycles", "sound"));
        let number = |column: usize| row[column].parse::<f64>().unwrap();
        let (time, cpu_time) = (number(5), number(9));
        assert!(time > 0.0 && cpu_time >= 0.9 * time, "{row:?}");
        // Speedups are relative to the fastest policy on one thread.
        assert!(&row[4] == "3" || number(7) <= 1.0, "{row:?}");
    }
    let lines = bench.read("out/sleep.lines.csv");
    let lines = records(&lines);
    let own = |policy: &str, word: &str| {
        let mut all = lines.iter();
        all.any(|row| &row[3] == policy && &row[5] == "3" && row[6].contains(word))
    };
    assert!(own("packed", "sleep: packed word"), "{lines:?}");
    assert!(own("split-padded", "sleep: inactive"), "{lines:?}");
}

#[test]
fn runs_repeat_their_hash_and_another_seed_changes_it() {
    let run = |more: &str| {
        let bench = Bench::new();
        let line = format!("--only quick-sort,packed,no-inactive {more}");
        let text = simulated(&bench, &line).ok().out();
        let meta = bench.read("out/sleep.meta.json");
        let meta: Value = serde_json::from_str(&meta).unwrap();
        let hash = meta["hash"].as_str().unwrap().to_owned();
        assert!(text.contains(&hash), "{text}");
        (hash, meta)
    };
    let (hash, meta) = run("");
    assert!(
        meta["config"]["chip"]
            .as_str()
            .unwrap()
            .contains("interrupt")
    );
    assert_eq!(
        meta["hashes"]["quick-sort, 3 threads"]["packed"]
            .as_str()
            .unwrap()
            .len(),
        16
    );
    assert_eq!(run("").0, hash);
    assert_ne!(run("--seed 2").0, hash);
}

#[test]
fn the_table_shows_both_baselines_and_the_document() {
    let only = "--only merge-sort,packed,nojec-padded --set mode=sound,as-published";
    let text = simulated(&Bench::new(), only).ok().out();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "The columns of 2022",
        "nojec-padded (as-published)",
        "recovered",
        "geometric",
        "out/sleep.lines.csv",
    ] {
        assert!(words.contains(part), "{text}\nlacks {part}");
    }
}

#[test]
fn orders_of_events_give_the_studys_own_results_with_intervals() {
    let bench = Bench::new();
    let line = "study sleep --on dahu --threads 2,3 --only life,packed,split,nojec --set size=quick --set runs=1";
    let told = bench.run(&format!("{line} --orders 2-4")).ok().out();
    assert!(told.contains("(95% intervals of 3 orders)"), "{told}");
    assert!(told.contains("paired by order"), "{told}");
    let csv = bench.read("out/sleep.csv");
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let at = |name: &str| header.iter().position(|&column| column == name).unwrap();
    for row in records(&csv) {
        let number = |name: &str| row[at(name)].parse::<f64>().unwrap();
        assert_eq!(&row[at("orders")], "3");
        assert!(number("speedup_low") <= number("speedup_high"), "{row:?}");
        let ratio = ["_low", "", "_high"].map(|end| number(&format!("ratio_packed{end}")));
        assert!(ratio.is_sorted(), "{row:?}");
    }
    let meta: Value = serde_json::from_str(&bench.read("out/sleep.meta.json")).unwrap();
    assert_eq!(meta["config"]["orders"], serde_json::json!([2, 3, 4]));
    let chip = meta["config"]["chip"].as_str().unwrap();
    assert!(chip.contains("perturb = "), "{chip}");
    assert!(bench.read("out/sleep.speedup.svg").contains("fill-opacity"));
    // Ratios of chosen rows need a sweep.
    let swept = bench.run(&format!(
        "{line} --orders 2 --versus policy=packed --out swept"
    ));
    swept.ok();
    assert!(bench.read("swept/sleep.sweep.ratios.csv").contains("split"));
}

#[test]
fn this_host_is_measured() {
    let bench = Bench::new();
    let args = "study sleep --threads 2 --only fibonacci,packed,split --set runs=2 --format json";
    let json: Value = serde_json::from_str(&bench.run(args).ok().out()).unwrap();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * 2);
    for row in rows {
        assert_eq!((&row["unit"], &row["runs"]), (&"us".into(), &2.into()));
        assert!(row["time_median"].as_f64().unwrap() > 0.0, "{row}");
    }
    let names = bench.latest("out", "sleep");
    assert_eq!(names, ["sleep.csv", "sleep.meta.json", "sleep.svg"]);
    let svg = bench.read("out/sleep.svg");
    let svg = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<&str> = svg.descendants().filter_map(|node| node.text()).collect();
    assert!(
        texts.contains(&"fibonacci") && texts.contains(&"split"),
        "{texts:?}"
    );
}

#[test]
#[cfg(unix)]
fn an_interrupted_study_continues_where_it_stopped() {
    let bench = Bench::new();
    // A short cell, then a long one.
    let args = "study sleep --on dahu --threads 1 --only join-recursively,quick-sort,packed,split \
                --set runs=50 --format csv";
    let (path, _) = crate::study::interrupted(&bench, args);

    // The journal's contents are kept. The test marks them, and finds the mark in the results.
    let text = unsealed(&fs::read_to_string(&path).unwrap());
    let (measurer, lines) = text.split_once('\n').unwrap();
    let mut first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["cell"]["algorithm"], "join-recursively");
    assert_eq!(first["complete"], true);
    for policy in first["policies"].as_array_mut().unwrap() {
        for run in policy["runs"].as_array_mut().unwrap() {
            run["time"] = 123_456.0.into();
        }
    }
    fs::write(&path, sealed(&format!("{measurer}\n{first}\n"))).unwrap();
    let rows = records(&bench.run(args).ok().out());
    let marked = |row: &csv::StringRecord| &row[5] == "123456.0";
    assert_eq!(
        rows.iter().map(marked).collect::<Vec<_>>(),
        [true, true, false, false]
    );
    assert!(!path.exists());
}

#[test]
fn impossible_requests_are_refused() {
    let bench = Bench::new();
    bench.refuses(
        "study sleep",
        &[
            (
                "--only lief",
                "--only | `lief` | merge-sort | nojec-sleepers",
            ),
            ("--set mode=fast", "--set mode | as-published"),
            ("--set runs=0", "--set runs"),
            ("--on dahu --threads 64", "--threads 64 | 32 cores"),
            ("--on dahu --set os.ipi=-1", "os.ipi"),
            ("--orders 3", "--orders | --on PRESET"),
            ("--on dahu --orders 3 --set perturb=0", "perturb is 0"),
            ("--on dahu --orders 2-1002", "--orders | 1000 orders"),
            ("--on dahu --orders 3 --stats", "--stats and --timeline"),
            (
                "--on dahu --orders 3 --timeline t.json",
                "--stats and --timeline",
            ),
            (
                "--on dahu --orders 3 --set perturb-seed=2",
                "no perturb-seed",
            ),
        ],
    );
    assert!(bench.names("").is_empty());
}
