//! `manycore study stealing`, on few cores and tasks.

use crate::Bench;
use crate::barrier::{meta, records};
use serde_json::Value;

const SMALL: &str = "study stealing --cores 4 --set tasks=4 --set task-cycles=5000";

fn run(bench: &Bench, more: &str) -> crate::Run {
    bench.run(&format!("{SMALL} {more}"))
}

#[test]
fn the_csv_is_tidy_and_nothing_beats_the_ideal() {
    let csv = run(&Bench::new(), "--format csv").ok().out();
    let head = "world,machine,cores,distribution,discipline,tasks,task_cycles,makespan,ideal,\
                steals,messages,unit,";
    assert!(csv.starts_with(head), "{csv}");
    // The rows have five disciplines in five distributions. Two disciplines with requests also have rows with prompt
    // answers. Two disciplines have rows in two distributions with twelve times as many tasks.
    let (many, rows): (Vec<_>, Vec<_>) =
        (records(&csv).into_iter()).partition(|row| &row[5] == "192");
    assert_eq!((rows.len(), many.len()), (5 * 5 + 2 * 5, 2 * 2), "{csv}");
    for row in &rows {
        assert_eq!((&row[0], &row[5], &row[11]), ("simulated", "16", "cycles"));
        let number = |column: usize| row[column].parse::<f64>().unwrap();
        assert_eq!(number(8), 16.0 * 5000.0 / 4.0);
        assert!(number(7) >= number(8), "{row:?}");
        assert!(number(7) < 4.0 * number(8), "nothing was shared: {row:?}");
    }
}

#[test]
fn runs_repeat_their_hash_and_another_seed_changes_it() {
    let hash = |more: &str| {
        let bench = Bench::new();
        let text = run(&bench, more).ok().out();
        let hash = meta(&bench, "stealing")["hash"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(text.contains(&hash), "{text}");
        hash
    };
    let first = hash("");
    assert_eq!(hash(""), first);
    assert_ne!(hash("--seed 2"), first);
}

#[test]
fn prompt_and_late_answers_are_measured() {
    let bench = Bench::new();
    let args = "study stealing --cores 16 --set tasks=8 --set task-cycles=50000 \
                --set distributions=half,quarter --only offer-cas,random --format csv";
    let rows = records(&bench.run(args).ok().out());
    let makespan = |distribution: &str, answers: &str| -> f64 {
        let mut all = rows.iter();
        let row = all.find(|row| {
            let is = (&row[3], &row[4], &row[row.len() - 1]);
            is == (distribution, "offer-cas", answers) && &row[5] == "128"
        });
        row.unwrap()[7].parse().unwrap()
    };
    for distribution in ["half", "quarter"] {
        let (late, prompt) = (makespan(distribution, ""), makespan(distribution, "500"));
        assert!(prompt < late, "{distribution}: {prompt} and {late}");
    }
}

#[test]
fn this_host_is_measured() {
    let args = "study stealing --on native --cores 2 --set runs=1 --set tasks=3 \
                --set task-cycles=20000 --set distributions=half --format json";
    let run = Bench::new().run(args);
    if run.err().contains("there are 1 CPUs") {
        return; // Two workers would share a CPU.
    }
    let json: Value = serde_json::from_str(&run.ok().out()).unwrap();
    for row in json["rows"].as_array().unwrap() {
        assert_eq!(row["unit"], "ns");
        assert!(row["makespan"].as_f64() >= row["ideal"].as_f64(), "{row}");
    }
}

#[test]
fn impossible_requests_are_refused() {
    let bench = Bench::new();
    run(&bench, "--only rand").refused("--only | `rand` | offer-cas");
    run(&bench, "--set distributions=skew").refused("--set distributions | total-skew");
    run(&bench, "--set tasks=0").refused("--set tasks");
    run(&bench, "--threads 2").refused("--threads | --cores");
    let line = "study stealing --on native --cores 1000";
    bench.run(line).refused("--cores 1000 | CPUs");
    assert!(bench.names("").is_empty());
}
