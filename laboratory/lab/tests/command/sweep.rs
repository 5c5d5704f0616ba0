//! Sweeps. One process and several shards measure the same table.

use crate::{Bench, Run, sealed, unsealed};
use std::fs;
use std::path::PathBuf;

const STUDY: &str = "study barrier --cores 4 --only sense,channel --set beside=none --sweep optical.transport=5,50,500";

fn sweep(bench: &Bench, more: &str) -> Run {
    bench.run(&format!("{STUDY} --sweep episodes=10,20 {more}"))
}

fn journal(bench: &Bench, folder: &str) -> PathBuf {
    let names = bench.names(folder);
    let journal = names.iter().find(|name| name.ends_with(".journal"));
    bench.path(folder).join(journal.expect("a journal is kept"))
}

#[test]
fn shards_give_the_table_of_one_process_although_one_died() {
    let bench = Bench::new();
    let whole = sweep(&bench, "--out whole --format csv").ok().out();
    let lines: Vec<&str> = whole.lines().collect();
    assert!(
        lines[0].starts_with("sweep.optical.transport,sweep.episodes,"),
        "{whole}"
    );
    for point in ["5,10,", "5,20,", "50,10,", "50,20,", "500,10,", "500,20,"] {
        assert!(lines.iter().any(|line| line.starts_with(point)), "{whole}");
    }
    for [shard, out] in [["1/2", "one"], ["2/2", "two"]] {
        let said = sweep(&bench, &format!("--shard {shard} --out {out}"))
            .ok()
            .out();
        assert!(said.contains("3 of 6 points"), "{said}");
    }
    let [one, two] = ["one", "two"].map(|folder| journal(&bench, folder));
    let [one, two] = [&one, &two].map(|path| path.to_str().unwrap());
    let merge = |journals: &[&str]| {
        let journals = journals.join(" ");
        bench.run(&format!("merge {journals} --out merged --format csv"))
    };
    merge(&[one]).refused("3 of 6 points | optical.transport=5, episodes=20");

    // The first shard's journal looks as if the process was killed while it wrote its third point.
    let text = fs::read_to_string(one).unwrap();
    fs::write(one, &text[..text.len() - 20]).unwrap();
    merge(&[one, two]).refused("1 of 6 points");
    sweep(&bench, "--shard 1/2 --out one").ok();
    assert_eq!(fs::read_to_string(one).unwrap(), text);
    // A journal that is named twice adds nothing.
    assert_eq!(merge(&[one, two, one]).ok().out(), whole);
    let read = |name: &str| bench.read(name);
    assert_eq!(read("merged/barrier.sweep.csv"), whole);
    // Another sweep replaces only the latest table.
    // The journal of a finished sweep is removed: the same command measures again.
    let names = bench.names("whole");
    assert!(
        names.iter().all(|name| !name.ends_with(".journal")),
        "{names:?}"
    );
    let kept = PathBuf::from(one).with_extension("csv");
    let kept = bench.path("whole").join(kept.file_name().unwrap());
    let line = format!("{STUDY} --sweep episodes=10 --out whole --format csv");
    let latest = bench.run(&line).ok().out();
    assert_eq!(read("whole/barrier.sweep.csv"), latest);
    assert_eq!(fs::read_to_string(&kept).unwrap(), whole);
    let meta = read(kept.with_extension("meta.json").to_str().unwrap());
    let meta: serde_json::Value = serde_json::from_str(&meta).unwrap();
    let units = &meta["columns"]["csv"];
    assert_eq!(units["sweep.episodes"], "as --sweep takes it");
    assert_eq!(units["exit_latency_median"], "column unit");
    assert_eq!(meta["origin"]["world"], "simulated");
    assert_eq!(meta["asked"]["cores"][0], 4);

    // Journals that do not belong together.
    let text = unsealed(&text);
    let other = text.replacen("\"5\"", "\"6\"", 1);
    fs::write(bench.path("other.journal"), sealed(&other)).unwrap();
    merge(&[one, "other.journal"]).refused("other.journal | another sweep");
    let build = text.replacen("\"build\":\"", "\"build\":\"x", 1);
    fs::write(bench.path("build.journal"), sealed(&build)).unwrap();
    merge(&[one, "build.journal"]).refused("build.journal | measured by build x");
    let result = text.replacen("\"hash\":\"", "\"hash\":\"x", 1);
    fs::write(bench.path("result.journal"), sealed(&result)).unwrap();
    merge(&[one, "result.journal"]).refused("result.journal | another result");
    let elsewhere = text.replacen("\"host\":null", "\"host\":\"elsewhere\"", 1);
    fs::write(bench.path("elsewhere.journal"), sealed(&elsewhere)).unwrap();
    merge(&["elsewhere.journal"]).refused("on elsewhere | the host that measured");
    // The same change, without new fingerprints.
    let damaged = fs::read_to_string(one).unwrap();
    let damaged = damaged.replacen("\"hash\":\"", "\"hash\":\"x", 1);
    fs::write(bench.path("damaged.journal"), damaged).unwrap();
    merge(&["damaged.journal"]).refused("damaged.journal, line 3 | damaged");
}

#[test]
fn machines_and_seeds_are_swept() {
    let bench = Bench::new();
    let line = "study models --only adaptive --set sizes=64 --threads 2 \
                --sweep on=w3225r,tr3970x --sweep seed=1,2 --format csv";
    let csv = bench.run(line).ok().out();
    for point in ["w3225r,1,", "w3225r,2,", "tr3970x,1,", "tr3970x,2,"] {
        assert!(csv.lines().any(|line| line.starts_with(point)), "{csv}");
    }
}

#[test]
fn numbers_that_depend_on_the_seed_have_intervals() {
    let bench = Bench::new();
    let line = "study stealing --on atac-64 --cores 4 --sweep seed=1,2,3 --format csv";
    let csv = bench.run(line).ok().out();
    let seeds = bench.read("out/stealing.sweep.seeds.csv");
    let lines: Vec<Vec<&str>> = seeds
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!(lines[0][0], "seeds");
    // There are as many rows as one seed has. Each row is the mean of three seeds.
    assert_eq!(3 * (lines.len() - 1), csv.lines().count() - 1, "{seeds}");
    assert!(lines[1..].iter().all(|row| row[0] == "3"), "{seeds}");
    let mean = lines[0].iter().position(|name| *name == "makespan");
    let mean = mean.expect("thieves choose at random");
    assert_eq!(lines[0][mean + 1..][..2], ["makespan.low", "makespan.high"]);
    for row in &lines[1..] {
        let [mean, low, high] = [0, 1, 2].map(|at| row[mean + at].parse::<f64>().unwrap());
        assert!(low <= mean && mean <= high, "{row:?}");
    }
}

#[test]
fn orders_of_events_give_a_sentence_with_intervals_and_end_when_it_is_decided() {
    let bench = Bench::new();
    let line = "study barrier --cores 4 --only sense,channel,mcs --set beside=none";
    let told = bench
        .run(&format!("{line} --orders 4 --versus barrier=sense"))
        .ok()
        .out();
    assert!(told.contains("On 4 cores a wait takes"), "{told}");
    assert!(told.contains("(95% intervals of 4 orders)"), "{told}");
    let means = bench.read("out/barrier.sweep.orders.csv");
    assert!(means.starts_with("orders,"), "{means}");
    let ratios = bench.read("out/barrier.sweep.ratios.csv");
    // A header, and a row for each barrier except `sense`. Rows of single episodes have no time to compare.
    assert_eq!(ratios.lines().count(), 3, "{ratios}");
    let channel = ratios
        .lines()
        .find(|row| row.starts_with("channel,loop,4,"));
    assert!(
        channel.is_some_and(|row| row.ends_with(",faster")),
        "{ratios}"
    );

    // In another order of events, a search finds another number of tasks. The rows are compared nevertheless.
    let search = "study graph --cores 4 --set scale=6 --set programs=components --only random,ours";
    let search = format!("{search} --orders 3 --versus discipline=random --out search");
    bench.run(&search).ok();
    let ratios = bench.read("search/graph.sweep.ratios.csv");
    assert!(ratios.contains("\nours,3,"), "{ratios}");

    let until = bench
        .run(&format!("{line} --orders until:30 --format csv"))
        .ok()
        .out();
    let orders = until
        .lines()
        .skip(1)
        .map(|row| row.split(',').next().unwrap());
    let mut orders: Vec<&str> = orders.collect();
    orders.dedup();
    assert!((3..30).contains(&orders.len()), "{orders:?}");
    bench
        .run(&format!("{line} --on native --orders 2"))
        .refused("--orders | simulated");
    bench
        .run(&format!("{line} --orders until:9 --shard 1/2"))
        .refused("until:N | --shard");
    bench
        .run("report --on native --orders 3")
        .refused("--orders | simulated machine");
}

#[test]
fn bad_sweeps_are_refused_before_anything_is_measured() {
    let bench = Bench::new();
    bench.refuses(
        "study barrier",
        &[
            ("--sweep episodes", "--sweep episodes | KEY=A,B"),
            ("--sweep episodes=1,1", "--sweep episodes=1,1 | differ"),
            ("--sweep episodes=1,,2", "empty"),
            ("--sweep episodes=1 --set episodes=2", "already"),
            ("--sweep seed=x", "seed=x | whole number"),
            ("--sweep on=nowhere", "nowhere"),
            ("--sweep episodes=10,0", "episodes"),
            ("--sweep episodes=10 --shard 3/2", "--shard | I/N"),
            ("--shard 1/2", "--sweep"),
            (
                "--sweep episodes=8,2^3",
                "episodes=8 and episodes=2^3 | measure the same",
            ),
            ("--sweep seed=1,01", "seed=1 and seed=01"),
            ("--sweep order=1,2", "--orders N"),
            ("--sweep perturb-seed=1,2 --orders 3", "no perturb-seed"),
            ("--set perturb-seed=1 --orders 3", "no perturb-seed"),
            ("--set perturb=0 --orders 3", "perturb is 0"),
            ("--sweep perturb=0,4 --orders 3", "perturb is 0"),
        ],
    );
    assert!(!bench.path("out").exists());
    fs::write(bench.path("empty"), "").unwrap();
    bench.run("merge empty").refused("empty | not of a sweep");
    bench.run("merge nowhere").refused("nowhere");
}
