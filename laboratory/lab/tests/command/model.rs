//! `manycore model`.

use crate::Bench;
use serde_json::Value;
use std::fs;

#[test]
fn eval_prints_a_list_of_scores() {
    let run = Bench::new().run("model eval --format json").ok();
    let scores: Value = serde_json::from_str(&run.out()).unwrap();
    let names: Vec<&str> = scores
        .as_array()
        .unwrap()
        .iter()
        .map(|score| score["model"].as_str().unwrap())
        .collect();
    for name in ["published", "constant-32", "ours"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for key in [
        "cells",
        "mean_regret",
        "median_regret",
        "p90_regret",
        "max_regret",
    ] {
        assert!(scores[0].get(key).is_some(), "{key}");
    }
}

#[test]
fn predict_and_fit_print_tables() {
    let bench = Bench::new();
    assert!(bench.run("model predict").ok().out().contains("ours"));
    assert!(bench.run("model fit").ok().out().contains("Shuai's paper"));
}

#[test]
fn errors_in_data_name_the_line() {
    let bench = Bench::new();
    let header = "machine,core_groups,threads,unit_read,unit_write,unit_comp,block_size,\
                  latency_clocks\n";
    let good = "m,1,2,64,64,64,1,100\n";
    for (text, parts) in [
        (String::new(), "data.csv"),
        (header.into(), "data.csv | no rows"),
        ("a,b\n1,2\n".into(), "data.csv | machine"),
        (
            format!("{header}{good}m,1,2,64,64,64,0,100\n"),
            "line 3 | block_size",
        ),
        (
            format!("{header}{good}m,1,2,64,64,64,2,NaN\n"),
            "line 3 | latency_clocks",
        ),
        (format!("{header}m,1,2,64\n"), "line 2"),
    ] {
        fs::write(bench.path("data.csv"), text).unwrap();
        for action in ["fit", "eval"] {
            let line = format!("model {action} --data data.csv");
            bench.run(&line).refused(parts);
        }
    }
    bench
        .run("model eval --data nowhere.csv")
        .refused("nowhere.csv");
}

/// The exponent in a file of `model fit` may be fitted to the same cells, so no cell is new to it.
#[test]
fn fitted_prices_have_no_regret_on_new_cells() {
    let bench = Bench::new();
    let data = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/data/faa_block_size_latency.csv"
    );
    fs::copy(data, bench.path("own.csv")).unwrap();
    bench.run("model fit --data own.csv --params p.json").ok();
    let run = bench.run("model eval --data own.csv --params p.json --format json");
    let scores: Value = serde_json::from_str(&run.ok().out()).unwrap();
    let mut scores = scores.as_array().unwrap().iter();
    let ours = scores
        .find(|score| score["model"] == "ours-params")
        .unwrap();
    for column in ["without_configuration", "without_machine"] {
        assert!(ours[column].is_null(), "{ours}");
    }
}
