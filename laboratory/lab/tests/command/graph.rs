//! `manycore study graph`, on a small graph and few cores.

use crate::Bench;
use crate::barrier::{meta, records};

const SMALL: &str = "study graph --cores 4 --set scale=6";

fn run(bench: &Bench, more: &str) -> crate::Run {
    bench.run(&format!("{SMALL} {more}"))
}

#[test]
fn every_discipline_finds_the_same() {
    let csv = run(&Bench::new(), "--format csv").ok().out();
    let head = "world,machine,cores,program,scale,edge_factor,discipline,time_median,";
    assert!(csv.starts_with(head), "{csv}");
    let rows = records(&csv);
    assert!(rows.len() >= 10, "{csv}");
    for program in ["breadth-first", "components", "triangles"] {
        let mut rows = rows.iter().filter(|row| &row[3] == program);
        let found = &rows.next().unwrap()[11];
        assert!(found.parse::<f64>().unwrap() > 0.0);
        assert!(rows.all(|row| &row[11] == found), "{csv}");
    }
}

#[test]
fn runs_repeat_their_hash_and_another_seed_changes_it() {
    let hash = |more: &str| {
        let bench = Bench::new();
        run(&bench, more).ok();
        meta(&bench, "graph")["hash"].as_str().unwrap().to_owned()
    };
    let first = hash("");
    assert_eq!(hash(""), first);
    assert_ne!(hash("--seed 2"), first);
}

#[test]
fn impossible_requests_are_refused() {
    let bench = Bench::new();
    run(&bench, "--only rand").refused("--only | `rand` | offer-cas");
    run(&bench, "--set programs=depth-first").refused("--set programs | components");
    run(&bench, "--set scale=40").refused("--set scale");
    assert!(bench.names("").is_empty());
}
