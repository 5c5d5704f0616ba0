//! The whole of it, on the document's data.

use super::configuration::{Configuration, ITERATIONS};
use super::eval::Score;
use super::parameters::Parameters;
use super::*;
use manycore::cost::{self, Machine, Task};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// On the document's latencies.
static FIT: LazyLock<FitReport> = LazyLock::new(|| fit(&ModelOptions::default()).unwrap());
static EVAL: LazyLock<EvalReport> = LazyLock::new(|| eval(&ModelOptions::default()).unwrap());

fn score<'a>(report: &'a EvalReport, model: &str) -> &'a Score {
    let found = report.scores.iter().find(|score| score.model == model);
    found.unwrap_or_else(|| panic!("no {model}"))
}

fn mean(report: &EvalReport, model: &str) -> f64 {
    score(report, model).mean_regret.unwrap()
}

fn at_64_threads(read: u64, write: u64) -> Configuration {
    Configuration {
        machine: "AMD 3970X".into(),
        core_groups: 8,
        threads: 64,
        unit_read: read,
        unit_write: write,
        unit_comp: 1,
        n: ITERATIONS,
    }
}

#[test]
fn the_shipped_prices_are_what_the_shipped_latencies_give() {
    let (fitted, shipped) = (&FIT.parameters, Parameters::shipped());
    assert!(fitted.byte_ns.keys().eq(shipped.byte_ns.keys()));
    let prices = |p: &Parameters| {
        let mut all = vec![p.claim_ns, p.handoff_ns, p.crossing_ns, p.wake_ns];
        all.extend(p.byte_ns.values());
        all
    };
    // The runtime carries the prices rounded to two digits.
    let carried = Machine::new(2, 2);
    let rounded = [
        carried.claim_ns,
        carried.handoff_ns,
        carried.crossing_ns,
        carried.wake_ns,
    ];
    for ((fitted, shipped), rounded) in prices(fitted)
        .iter()
        .zip(prices(&shipped))
        .zip(rounded.map(Some).into_iter().chain([None; 2]))
    {
        assert!((fitted / shipped - 1.0).abs() < 1e-3, "{fitted} {shipped}");
        assert!(rounded.is_none_or(|rounded| (rounded / shipped - 1.0).abs() < 0.01));
    }
}

#[test]
fn regrets_on_the_documents_cells() {
    let report = &*EVAL;
    let near = |model, expected: f64| (mean(report, model) - expected).abs() < 0.0005;
    assert!(near("published", 0.0437));
    assert!(near("constant-16", 0.0286));
    // Better than the document's formula, its refit, and every constant,
    // without having seen the cell.
    assert!(mean(report, "ours") < 0.027);
    assert!(mean(report, "ours-cross-validated") < 0.027);
    assert_eq!(score(report, "taskflow-guided").cells, 6);
    let others = report
        .scores
        .iter()
        .filter(|score| !score.model.starts_with("ours"));
    for other in others {
        assert!(other.mean_regret.unwrap() > 0.027, "{}", other.model);
    }
}

#[test]
fn the_models_by_name() {
    let json = serde_json::to_value(&*EVAL).unwrap();
    let rows = json.as_array().unwrap();
    let mut names = vec!["published".to_owned()];
    names.extend((0..11).map(|shift| format!("constant-{}", 1 << shift)));
    names.extend(
        [
            "taskflow-guided",
            "refitted",
            "ours",
            "ours-cross-validated",
        ]
        .map(String::from),
    );
    let found: Vec<&str> = rows
        .iter()
        .map(|row| row["model"].as_str().unwrap())
        .collect();
    assert_eq!(found, names);
    for key in [
        "cells",
        "mean_regret",
        "median_regret",
        "p90_regret",
        "max_regret",
    ] {
        assert!(rows.iter().all(|row| row[key].is_number()), "{key}");
    }
}

#[test]
fn the_file_that_is_judged_is_not_fitted_to() {
    // Latencies that no model expects: the longer the block the better.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("strange.csv");
    let mut text = String::from(
        "machine,core_groups,threads,unit_read,unit_write,unit_comp,block_size,latency_clocks\n",
    );
    for block in [1, 16, 1024] {
        text += &format!("Gold 5225R,1,24,1024,1024,1,{block},{}\n", 2_000 - block);
    }
    fs::write(&path, text).unwrap();
    let options = ModelOptions {
        data: Some(path),
        params: None,
    };
    let report = eval(&options).unwrap();
    assert!((mean(&report, "ours") - (1984.0 / 976.0 - 1.0)).abs() < 0.1);
    assert_eq!(mean(&report, "constant-1024"), 0.0);
    // What cannot be said is left out, not made up.
    assert_eq!(score(&report, "constant-2").cells, 0);
    assert_eq!(score(&report, "constant-2").mean_regret, None);
    assert_eq!(score(&report, "taskflow-guided").cells, 0);
    assert!(
        report
            .scores
            .iter()
            .all(|score| score.model != "ours-cross-validated")
    );
}

#[test]
fn prices_survive_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prices.json");
    let options = ModelOptions {
        data: None,
        params: Some(path.clone()),
    };
    FIT.parameters.save(&path).unwrap();
    assert_eq!(Parameters::load(&path).unwrap(), FIT.parameters);
    assert!(!predict(&options).unwrap().predictions.is_empty());

    for (text, complaint) in [
        ("{", "EOF while parsing"),
        (r#"{"claim_ns":1}"#, "missing field `handoff_ns`"),
        (
            r#"{"claim_ns":-1,"handoff_ns":1,"crossing_ns":1,"wake_ns":1,"byte_ns":{"m":1}}"#,
            "`claim_ns` is -1; expected a number above 0",
        ),
        (
            r#"{"claim_ns":1,"handoff_ns":1,"crossing_ns":1,"wake_ns":1,"byte_ns":{}}"#,
            "`byte_ns` is empty",
        ),
    ] {
        fs::write(&path, text).unwrap();
        let error = eval(&options).unwrap_err().to_string();
        assert!(
            error.starts_with(&path.display().to_string()) && error.contains(complaint),
            "{error}"
        );
    }

    let nowhere = FIT.parameters.save(Path::new("/nowhere/prices.json"));
    let error = nowhere.unwrap_err().to_string();
    assert!(
        error.starts_with("cannot write /nowhere/prices.json"),
        "{error}"
    );
}

#[test]
fn every_report_has_a_text() {
    assert!(FIT.to_string().contains("gives 26 of the 27 blocks"));
    assert!(EVAL.to_string().contains("ours-cross-validated"));
    let predicted = predict(&ModelOptions::default()).unwrap();
    assert!(predicted.to_string().contains("Gold 5225R"));
}

/// The document's comparison with Taskflow was not fitted to: the third
/// machine, 64 threads on 32 cores.
#[test]
fn the_third_machines_latencies_are_about_right() {
    let ours = Parameters::shipped();
    let mut logs = Vec::new();
    for (read, write, block, measured) in [
        (64, 1024, 13, 269_600.0),
        (256, 1024, 11, 182_100.0),
        (1024, 1024, 9, 320_000.0),
        (4096, 1024, 8, 337_500.0),
        (16_384, 1024, 7, 1_382_500.0),
        (65_536, 1024, 6, 4_541_800.0),
        (1024, 64, 13, 199_000.0),
        (1024, 256, 11, 183_500.0),
        (1024, 4096, 8, 320_300.0),
        (1024, 16_384, 7, 1_569_900.0),
        (1024, 65_536, 6, 8_368_800.0),
    ] {
        let ratio = ours.latency(&at_64_threads(read, write), block) / measured;
        assert!((0.4..=2.1).contains(&ratio), "{read} {write}: {ratio}");
        logs.push(f64::ln(ratio));
    }
    let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    assert!((0.7..=1.4).contains(&mean), "{mean}");
}

#[test]
fn the_configuration_reaches_the_model() {
    let ours = Parameters::shipped();
    let at = at_64_threads(1024, 1024);
    let between = (ours.byte_ns["W-3225R"] * ours.byte_ns["Gold 5225R"]).sqrt();
    let machine = Machine {
        threads: 64,
        outside: 7.0 / 8.0,
        ..ours.machine(&at)
    };
    let expected = cost::best_block(&machine, &Task::new(1024.0 * between), ITERATIONS);
    assert_eq!(ours.block(&at), expected);
}
