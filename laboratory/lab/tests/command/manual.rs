//! The command's own documentation for users and shells: lists, completions, the manual.

use crate::Bench;
use serde_json::Value;
use std::fs;

#[test]
fn listed_presets_and_studies_are_accepted() {
    let bench = Bench::new();
    for (list, key, some) in [
        ("presets", "cores", "tr3970x"),
        ("studies", "question", "packing"),
    ] {
        let text = bench.run(list).ok().out();
        let json = bench.run(&format!("{list} --format json")).ok().out();
        let json: Value = serde_json::from_str(&json).unwrap();
        let rows = json.as_array().unwrap();
        assert!(rows.iter().any(|row| row["name"] == some), "{json}");
        for row in rows {
            assert!(text.contains(row["name"].as_str().unwrap()), "{text}");
            assert!(!row[key].is_null(), "{row}");
        }
    }
    // Errors name all listed values.
    let names = |list: &str| {
        let json = bench.run(&format!("{list} --format json")).ok().out();
        let rows: Vec<Value> = serde_json::from_str(&json).unwrap();
        let names = rows
            .iter()
            .map(|row| row["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>().join(", ")
    };
    bench.run("machine --on x").refused(&names("presets"));
    bench.run("study x").refused(&names("studies"));
}

#[test]
fn published_numbers_of_a_preset_are_listed() {
    let bench = Bench::new();
    let text = bench.run("presets --errors skylake-6700hq").ok().out();
    let json = "presets --errors skylake-6700hq --format json";
    let json: Value = serde_json::from_str(&bench.run(json).ok().out()).unwrap();
    let rows = json[0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 8, "{json}");
    for row in rows {
        let simulated = row["simulated"].as_f64().unwrap();
        assert!(text.contains(row["what"].as_str().unwrap()), "{text}");
        assert!(text.contains(&format!(" {simulated:.1} ")), "{text}");
    }
    bench
        .run("presets --errors tr3970x nobody")
        .refused("--errors nobody | expected some of atac-64");
    bench.run("presets tr3970x").refused("--errors");
}

#[test]
fn completions_name_commands_flags_studies_and_presets() {
    let bench = Bench::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = bench.run(&format!("completions {shell}")).ok().out();
        for word in ["predict", "fresh", "completions"] {
            assert!(script.contains(word), "{shell} lacks {word}");
        }
        // Only some shells' scripts know the values of flags, and of arguments without a flag.
        let values: &[&str] = match shell {
            "bash" | "zsh" => &["graviton2-64", "native", "stealing"],
            "fish" => &["graviton2-64", "native"],
            _ => &[],
        };
        for value in values {
            assert!(script.contains(value), "{shell} lacks {value}");
        }
    }
    bench.run("completions csh").refused("csh");
}

#[test]
fn the_manual_has_a_page_for_each_command_and_its_flags() {
    let bench = Bench::new();
    bench.run("man --out pages").ok();
    let pages = bench.names("pages");
    for page in [
        "manycore.1",
        "manycore-study.1",
        "manycore-model-fit.1",
        "manycore-man.1",
    ] {
        assert!(pages.contains(&page.to_owned()), "{pages:?}");
    }
    let page = bench.read("pages/manycore-study.1");
    for word in ["fresh", "Numbers of threads", "transport"] {
        assert!(page.contains(word), "{page}");
    }
    fs::write(bench.path("file"), "").unwrap();
    bench
        .run("man --out file/pages")
        .refused("--out file/pages");
}
