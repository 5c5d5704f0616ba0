//! `manycore study robustness` and `streamcluster`, on small teams.

use crate::Bench;
use crate::barrier::{meta, records};

#[test]
fn a_slower_network_shows() {
    let args = "study robustness --cores 4 --only loop,sense --set episodes=10 \
                --set transport=200,20000 --set controller=20 --set check=30 --format csv";
    let csv = Bench::new().run(args).ok().out();
    let head = "world,machine,cores,app,parameter,value,total_cycles,barrier,";
    assert!(csv.starts_with(head), "{csv}");
    let rows = records(&csv);
    let total = |parameter: &str, value: &str| -> f64 {
        let mut all = rows.iter();
        let row = all.find(|row| (&row[4], &row[5]) == (parameter, value));
        row.unwrap_or_else(|| panic!("{csv}"))[6].parse().unwrap()
    };
    // Each wait gets longer by the message's additional time.
    let own = total("transport", "5");
    let longer = total("transport", "20000") - own;
    // The tolerance is for the last member's beginning.
    assert!((longer / (10.0 * 19_995.0) - 1.0).abs() < 1e-3, "{longer}");
    assert_eq!(total("controller", "10"), own);
    assert!(total("controller", "20") > own + 250.0);
    assert!(total("check", "30") > own);
    // A slow receiver looks for each of 3 messages, each time for a third of the cycles that the transport adds.
    let (near, far) = (
        total("slow-receivers", "5"),
        total("slow-receivers", "20000"),
    );
    assert!((1.8..2.05).contains(&(far / near)), "{near} and {far}");
    // The barrier for comparison has one row.
    let others = rows.iter().filter(|row| &row[4] == "none");
    assert_eq!(
        others.map(|row| row[7].to_owned()).collect::<Vec<_>>(),
        ["sense"]
    );
}

#[test]
fn the_thesis_numbers_are_shown_together() {
    let args = "study robustness --cores 64 --only loop,sense --set episodes=10 \
                --set transport=200,20000 --set controller=200 --set check=3";
    let bench = Bench::new();
    let text = bench.run(args).ok().out();
    let row = |parameter: &str, value: &str| -> Vec<&str> {
        let mut rows = text.lines().map(|line| line.trim_matches(['│', ' ']));
        let is = |row: &&str| row.split_whitespace().take(2).eq([parameter, value]);
        let row = rows.find(is).unwrap_or_else(|| panic!("{text}"));
        row.split_whitespace().collect()
    };
    // A wait takes 638 cycles, as the closed form says for 64 cores.
    assert_eq!(row("transport", "5")[3], "638");
    // The total relative to the sense-reversing barrier's.
    assert_eq!(row("controller", "200")[5], "1.70");
    assert_eq!(
        meta(&bench, "robustness")["hash"].as_str().unwrap().len(),
        16
    );
}

#[test]
fn streamclusters_answer_is_everywhere_the_same() {
    let run = |more: &str| {
        let args = format!("study streamcluster --only channel,sense --format csv {more}");
        let bench = Bench::new();
        let csv = bench.run(&args).ok().out();
        (csv, meta(&bench, "streamcluster")["hash"].clone())
    };
    let (csv, hash) = run("--cores 2,4");
    let head =
        "world,machine,cores,barrier,input,total_cycles,exit_latency_median,output_hash,unit,";
    assert!(csv.starts_with(head), "{csv}");
    let rows = records(&csv);
    assert_eq!(rows.len(), 2 * 2);
    assert!(
        rows.iter()
            .all(|row| row[7] == rows[0][7] && row[7].len() == 16),
        "{csv}"
    );
    // PARSEC itself counts 1,107 waits of each member.
    assert!(rows.iter().all(|row| &row[9] == "1107"), "{csv}");
    assert_eq!(run("--cores 2,4").1, hash);
    let (native, _) = run("--cores 2 --on native --set runs=1");
    let native = records(&native);
    assert!(
        native
            .iter()
            .all(|row| row[7] == rows[0][7] && &row[8] == "ns")
    );
}

#[test]
fn impossible_requests_are_refused() {
    let bench = Bench::new();
    bench.refuses(
        "study",
        &[
            (
                "robustness --on native",
                "--on | broadcast network | atac-64",
            ),
            ("robustness --on kunpeng-920", "--on | atac-64"),
            ("robustness --cores 2,4", "--cores | one number"),
            ("robustness --set check=x", "--set check | `x`"),
            ("robustness --only lop", "--only | `lop`"),
            (
                "streamcluster --set input=native",
                "--set input | native | simdev",
            ),
        ],
    );
    assert!(bench.names("").is_empty());
}
