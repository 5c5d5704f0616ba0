//! `manycore study packing`, on few cores and with short runs.

use crate::Bench;
use crate::barrier::{meta, records};
use std::fs;
use std::sync::OnceLock;

/// One coarse and one fine program on few cores, a few barriers each.
const SMALL: &str = "study packing --set threads=8 --cores 7,8 --set benchmarks=bt,cg --set programs=intervals \
                     --set intervals=5 --set sweep=1000 --only tp,tp-pinned";

/// The table of a run of [`SMALL`], for all tests.
fn first() -> &'static String {
    static FIRST: OnceLock<String> = OnceLock::new();
    FIRST.get_or_init(|| {
        Bench::new()
            .run(&format!("{SMALL} --format csv"))
            .ok()
            .out()
    })
}

/// The number of the column with this name.
fn column(csv: &str, name: &str) -> usize {
    let head = csv.lines().next().unwrap();
    let at = head.split(',').position(|column| column == name);
    at.unwrap_or_else(|| panic!("no column {name} in {head}"))
}

#[test]
fn packing_loses_what_the_system_model_says_and_every_run_is_verified() {
    let csv = first();
    let rows = records(csv);
    let of = |name: &str| column(csv, name);
    let (benchmark, cores, mode) = (of("benchmark"), of("cores"), of("mode"));
    let (settings, ratio, verified) = (of("settings"), of("ratio_tr"), of("verified"));
    assert!(
        rows.iter().all(|row| row[verified].ends_with("items")),
        "{csv}"
    );
    let ratio = |program: &str, on: &str, how: &str| -> f64 {
        let row = rows.iter().find(|row| {
            (&row[benchmark], &row[cores], &row[mode], &row[settings]) == (program, on, how, "")
        });
        row.unwrap_or_else(|| panic!("{program} on {on}, {how}: {csv}"))[ratio]
            .parse()
            .unwrap()
    };
    let ideal = 8.0 / 7.0;
    for program in ["bt", "cg"] {
        // If threads are bound, one core has two of them.
        let pinned = ratio(program, "7", "tp-pinned");
        assert!(
            (pinned / (ideal / 2.0) - 1.0).abs() < 0.03,
            "{program}: {pinned}"
        );
        let packed = ratio(program, "8", "tp");
        assert!((packed - 1.0).abs() < 0.03, "{program}: {packed}");
    }
    // If intervals are far longer than the time slice, idle cores pull threads. If they are shorter, threads stay as if
    // they were bound.
    let (coarse, fine) = (ratio("bt", "7", "tp"), ratio("cg", "7", "tp"));
    assert!((coarse / (ideal / 1.5) - 1.0).abs() < 0.05, "{coarse}");
    assert!((fine / (ideal / 2.0) - 1.0).abs() < 0.05, "{fine}");
}

#[test]
fn the_cores_time_is_all_accounted_for() {
    let csv = first();
    let counted = ["time", "user", "system", "idle", "io"];
    let columns = counted.map(|name| column(csv, &format!("counted_{name}")));
    let cores = column(csv, "cores");
    for row in records(csv).iter().filter(|row| !row[cores].contains('>')) {
        let [time, parts @ ..] = columns.map(|at| row[at].parse::<f64>().unwrap());
        let whole = time * row[cores].parse::<f64>().unwrap();
        let sum: f64 = parts.iter().sum();
        assert!(
            (sum / whole - 1.0).abs() < 0.02,
            "{sum} of {whole}: {row:?}"
        );
    }
}

#[test]
fn runtimes_that_follow_the_number_of_cores_lose_almost_nothing() {
    let args = "study packing --cores 15 --set benchmarks=cg --set programs=intervals \
                --set intervals=10 --set sweep=1000 --only elastic,wrap --format csv";
    let csv = Bench::new().run(args).ok().out();
    let of = |name: &str| column(&csv, name);
    let (benchmark, ratio) = (of("benchmark"), of("ratio_tr"));
    for row in records(&csv).iter().filter(|row| &row[benchmark] == "cg") {
        let ratio: f64 = row[ratio].parse().unwrap();
        assert!(ratio > 0.95, "{row:?}");
    }
}

#[test]
fn a_run_is_steady_and_a_short_program_is_run_whole() {
    let args = "study packing --cores 15 --set benchmarks=barnes,canneal --set programs=declared \
                --set sweep=1000 --only wrap --format csv";
    let csv = Bench::new().run(args).ok().out();
    let of = |name: &str| column(&csv, name);
    let [benchmark, class] = ["benchmark", "class"].map(of);
    let numbers = [
        "prelude",
        "interval",
        "program_time",
        "counted_barriers",
        "skipped",
        "skipped_time",
    ];
    let numbers = numbers.map(of);
    let (margin, steady) = (of("margin"), of("steady"));
    let rows = records(&csv);
    let all = |name: &'static str| {
        let native =
            move |row: &&csv::StringRecord| (&row[benchmark], &row[class]) == (name, "native");
        rows.iter().filter(native).map(|row| {
            let numbers = numbers.map(|at| row[at].parse::<f64>().unwrap());
            (numbers, row[margin].to_owned(), row[steady].to_owned())
        })
    };
    // The program has four steps of four phases, after it has made the bodies.
    for (numbers, margin, steady) in all("barnes") {
        let [prelude, interval, program, barriers, skipped, settling] = numbers;
        assert_eq!((barriers, skipped, settling), (16.0, 0.0, 0.0));
        assert_eq!((&*margin, &*steady), ("", ""));
        assert!((500.0..700.0).contains(&prelude), "{numbers:?}");
        assert!((program / (prelude + 16.0 * interval) - 1.0).abs() < 1e-6);
    }
    // The program has 6,000 steps of one phase, after it has read a file.
    for (numbers, margin, steady) in all("canneal") {
        let [prelude, interval, program, barriers, skipped, settling] = numbers;
        assert!(barriers == skipped && barriers < 1_000.0, "{numbers:?}");
        assert!(margin.parse::<f64>().unwrap() <= 0.5 && steady == "true");
        assert!((3_000.0..3_500.0).contains(&prelude), "{numbers:?}");
        // The steps before the program settles also count, with their own times.
        assert!(settling > 0.9 * skipped * interval, "{numbers:?}");
        let whole = prelude + settling + (6_000.0 - skipped) * interval;
        assert!((program / whole - 1.0).abs() < 1e-6, "{numbers:?}");
    }
    assert_eq!((all("barnes").count(), all("canneal").count()), (2, 2));
}

#[test]
fn runs_repeat_their_hash() {
    let run = || {
        let bench = Bench::new();
        let args = "study packing --set threads=4 --cores 3 --set benchmarks=bt --set programs=intervals \
                    --set intervals=2 --set sweep=100000 --only tp --format csv";
        let csv = bench.run(args).ok().out();
        let hash = meta(&bench, "packing")["hash"].as_str().unwrap().to_owned();
        (csv, hash)
    };
    assert_eq!(run(), run());
}

#[test]
fn impossible_requests_are_refused() {
    let bench = Bench::new();
    bench.refuses(
        "study packing",
        &[
            ("--only rotate", "--only | `rotate` | tp-pinned"),
            ("--cores 17", "--cores 17 | at most 16"),
            ("--threads 4", "--threads | --cores"),
            ("--set benchmarks=lu", "--set benchmarks | `lu` | canneal"),
            ("--set programs=some", "--set programs | `some` | declared"),
            ("--set barrier=futexes", "--set barrier | `futexes` | sense"),
            ("--set intervals=0", "--set intervals"),
            (
                "--on native --set programs=declared",
                "--set programs | simulated",
            ),
        ],
    );
    assert!(bench.names("").is_empty());
}

/// The user has three programs: one is correct, one lacks the expected output, and one is endless. A library claims to
/// be manycore's.
#[cfg(target_os = "linux")]
#[test]
fn compiled_programs_run_in_all_modes_and_are_verified() {
    let bench = Bench::new();
    let folder = bench.path("programs");
    std::fs::create_dir(&folder).unwrap();
    let compiled = |name: &str, flags: &[&str], text: &str| {
        let source = bench.path("source.c");
        std::fs::write(&source, text).unwrap();
        let mut gcc = std::process::Command::new("gcc");
        let output = gcc.args(["-O1", "-fopenmp", "-o", name]).arg(&source);
        let output = output.args(flags).current_dir(&folder).output();
        output.is_ok_and(|output| output.status.success())
    };
    let good = r#"#include <omp.h>
        #include <stdio.h>
        int main(void) {
          long sum = 0;
          #pragma omp parallel for reduction(+ : sum)
          for (int i = 1; i <= 100000; i++) sum += i;
          printf(sum == 5000050000 ? "Verification = SUCCESSFUL\n" : "no\n");
        }"#;
    if !compiled("good", &[], good) {
        return eprintln!("SKIPPED: no gcc with OpenMP");
    }
    assert!(compiled("mute", &[], "int main(void) { return 0; }"));
    assert!(compiled("stuck", &[], "int main(void) { for (;;) ; }"));
    let library = r#"#include <stdio.h>
        __attribute__((constructor)) static void shown(void) { puts("MANYCORE_VERSION"); }"#;
    assert!(compiled("../ours.so", &["-shared", "-fPIC"], library));
    let args = "study packing --set programs=openmp --set binaries=programs --set threads=3 --cores 1 \
                --set runs=1 --set limit=1 --set library=ours.so --only tp,tp-pinned,ours \
                --format csv";
    let csv = bench.run(args).ok().out();
    let rows = records(&csv);
    let of = |name: &str| column(&csv, name);
    let (program, mode, time) = (of("program"), of("mode"), of("time"));
    let (right, otherwise) = (of("right"), of("otherwise"));
    assert_eq!(rows.len(), 3 * 4, "{csv}");
    for row in &rows {
        let (count, end) = match &row[program] {
            "good" => ("1", ""),
            "mute" => ("0", "not verified"),
            _ => ("0", "timed out"),
        };
        assert_eq!((&row[right], &row[otherwise]), (count, end), "{row:?}");
        assert_eq!(row[time].is_empty(), count == "0", "{row:?}");
    }
    let modes: Vec<&str> = rows.iter().map(|row| &row[mode]).collect();
    assert!(
        ["tr", "tp", "tp-pinned", "ours"]
            .iter()
            .all(|way| modes.contains(way))
    );
    // A library that does not print `MANYCORE_VERSION` counts as not used.
    assert!(compiled(
        "../ours.so",
        &["-shared", "-fPIC"],
        "int nothing;"
    ));
    std::fs::remove_file(folder.join("stuck")).unwrap();
    let csv = bench.run(&format!("{args} --fresh")).ok().out();
    let unused = |row: &&csv::StringRecord| &row[otherwise] == "library not used";
    assert_eq!(records(&csv).iter().filter(unused).count(), 2, "{csv}");
}

#[cfg(target_os = "linux")]
#[test]
fn impossible_requests_for_compiled_programs_are_refused() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("empty")).unwrap();
    bench.refuses(
        "study packing --set",
        &[
            ("programs=openmp", "--set binaries=FOLDER"),
            ("binaries=empty", "--set binaries | --set programs=openmp"),
        ],
    );
    let openmp = "study packing --set programs=openmp --set";
    bench.refuses(
        openmp,
        &[
            ("binaries=none", "--set binaries=none | folder"),
            ("binaries=empty", "--set binaries=empty | executed"),
            (
                "binaries=empty --on e5-2640x2",
                "--set programs=openmp | --on native",
            ),
            ("binaries=empty --set sweep=10", "--set sweep | binaries"),
            (
                "binaries=empty --set says=(",
                "--set says=( | regular expression",
            ),
            ("binaries=empty --set limit=0", "--set limit"),
        ],
    );
    let program = bench.path("empty/program");
    std::fs::copy("/bin/true", &program).unwrap();
    bench.refuses(
        openmp,
        &[
            (
                "binaries=empty --set library=none.so",
                "--set library=none.so | libmanycore_gomp.so",
            ),
            ("binaries=empty --only wrap", "--only | `wrap` | tp-passive"),
        ],
    );
}

#[test]
fn a_figure_of_one_mode_has_a_title_that_is_a_sentence() {
    for mode in ["tr", "tp", "wrap"] {
        let bench = Bench::new();
        let args = "study packing --set threads=4 --cores 3 --set benchmarks=bt --set programs=intervals \
                    --set intervals=2 --set sweep=100000 --only";
        bench.run(&format!("{args} {mode}")).ok();
        let names = bench.names("out").into_iter();
        for name in names.filter(|name| name.ends_with(".svg")) {
            let svg = std::fs::read_to_string(bench.path("out").join(&name)).unwrap();
            let title = svg.split("<title>").nth(1).unwrap();
            let title = title.split("</title>").next().unwrap().trim_end();
            assert!(!title.ends_with([':', ',']), "{mode}, {name}: {title}");
        }
    }
}

/// A table as `ci/riscv-guests.sh` writes it.
#[test]
fn a_table_of_packed_programs_becomes_a_figure() {
    let bench = Bench::new();
    let mut table = String::from("world,machine,program,class,threads,cores,mode,time,unit,hash\n");
    for (cores, times) in [(8, [80, 100, 90]), (15, [43, 86, 45])] {
        for (mode, time) in ["tr", "tp", "ours"].into_iter().zip(times) {
            table += &format!("simulated,e5-2640x2,bt,S,16,{cores},{mode},{time},cycles,0\n");
        }
    }
    fs::write(bench.path("guests.csv"), &table).unwrap();
    let words = "figure guests.csv --figure width=85mm --figure format=svg,pdf";
    bench.run(words).ok();
    assert_eq!(bench.names("out"), ["guests.pdf", "guests.svg"]);
    let svg = bench.read("out/guests.svg");
    for part in [
        "tp 100.0% more and ours 4.7% more",
        "bt S",
        "simulated: e5-2640x2",
        "fair sharing",
    ] {
        assert!(svg.contains(part), "no {part}");
    }
    // A command does not replace a figure that it has written itself.
    fs::create_dir(bench.path("more")).unwrap();
    fs::write(bench.path("more/guests.csv"), &table).unwrap();
    bench
        .run("figure guests.csv more/guests.csv")
        .refused("two figures would have the name guests.svg | different names");
}
