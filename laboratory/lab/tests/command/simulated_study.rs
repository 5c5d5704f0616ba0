//! `manycore study block-size --on PRESET`, on small loops.

use crate::{Bench, Run};
use serde_json::Value;
use std::fs;

const SMALL: &str = "study block-size --on w3225r --threads 1,2 --set n=64 --set blocks=1,8,64 --set reads=64 --set writes=64";

fn small(bench: &Bench, more: &str) -> Run {
    bench.run(&format!("{SMALL} {more}"))
}

fn meta(bench: &Bench) -> Value {
    let text = bench.read("out/block-size.meta.json");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn the_csv_has_the_same_columns_in_cycles() {
    let bench = Bench::new();
    let csv = small(&bench, "--format csv").ok().out();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(reader.headers().unwrap().len(), 16);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    // The rows have 3 blocks under manycore's pool and under the document's pool, and 7 partitioners.
    assert_eq!(rows.len(), 2 * (3 + 3 + 7));
    for row in &rows {
        assert_eq!((&row[0], &row[1], &row[2]), ("simulated", "w3225r", "1"));
        assert_eq!((&row[7], &row[13], &row[15]), ("folded", "cycles", "64"));
        // 64 iterations of 64 bytes take more than a cycle a byte on two cores.
        assert!(row[10].parse::<f64>().unwrap() > 2048.0, "{row:?}");
    }
    let blocks = rows.iter().filter(|row| &row[8] == "document");
    let blocks: Vec<&str> = blocks.map(|row| &row[9]).collect();
    assert_eq!(blocks, ["1", "8", "64", "1", "8", "64"]);
}

#[test]
fn runs_repeat_their_hash_and_another_machine_changes_it() {
    let first = Bench::new();
    small(&first, "").ok();
    let meta = meta(&first);
    let hash = meta["hash"].as_str().unwrap();
    assert_eq!(hash.len(), 16, "{meta}");
    let of_cell = &meta["hashes"]["folded 64/64/1024, 2 threads"];
    assert_eq!(of_cell["document=8"].as_str().unwrap().len(), 16);
    // The configuration has the whole machine with its changes.
    let chip = meta["config"]["chip"].as_str().unwrap();
    assert!(chip.contains("threads-per-core = 2"), "{chip}");

    let second = Bench::new();
    let text = small(&second, "").ok().out();
    assert!(text.contains(hash), "{text}");
    assert_eq!(self::meta(&second)["hashes"], meta["hashes"]);

    let other = Bench::new();
    small(&other, "--set os.futex-wake=20000").ok();
    assert_ne!(self::meta(&other)["hash"], meta["hash"]);
}

#[test]
fn given_tables_are_compared_with_the_simulation() {
    let bench = Bench::new();
    let mut csv = String::from(
        "machine,core_groups,threads,unit_read,unit_write,unit_comp,n,block_size,latency_clocks\n",
    );
    // A single block takes longest, since one thread idles.
    for (block, latency) in [(1, 200), (8, 100), (64, 900)] {
        csv += &format!("W-3225R,1,2,64,64,1024,64,{block},{latency}\n");
    }
    fs::write(bench.path("tables.csv"), csv).unwrap();
    let text = small(&bench, "--set tables=tables.csv").ok().out();
    let ranks = "rank correlation of the latencies";
    assert!(text.contains(ranks), "{text}");
    // Without tables there is no comparison.
    let text = small(&bench, "").ok().out();
    assert!(!text.contains(ranks), "{text}");
}

#[test]
fn what_a_machine_cannot_do_is_refused() {
    let bench = Bench::new();
    bench.refuses(
        "study block-size",
        &[
            ("--on w3225r --threads 9", "--threads 9 | 8 cores"),
            (
                "--on w3225r --set seconds=3",
                "--set seconds | --set rounds",
            ),
            ("--on w3225r --set os.wake=3", "os.wake"),
            ("--on w3225r --set tables=none.csv", "none.csv"),
            ("--set tables=none.csv", "--set tables | --on"),
        ],
    );
    assert!(bench.names("").is_empty());
}
