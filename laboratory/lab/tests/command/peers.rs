//! `manycore study peers` on binaries that fail, and on bad input.

use crate::Bench;
use crate::barrier::records;

/// A program that writes "hello" and exits with 7.
fn hello() -> Vec<u8> {
    include!("../../../../simulator/riscv/examples/hello/program.rs")
}

/// A program that writes `text` and exits with 0.
fn printing(text: &str) -> Vec<u8> {
    let (mut file, old) = (hello(), "hello\n");
    file.truncate(file.len() - old.len());
    let mut change = |from: u32, to: u32| {
        let at = file.windows(4).position(|word| word == from.to_le_bytes());
        let at = at.expect("an instruction of the example");
        file[at..at + 4].copy_from_slice(&to.to_le_bytes());
    };
    // The length of the text, and the exit status.
    change(0x0060_0613, (text.len() as u32) << 20 | 0x0613);
    change(0x0070_0513, 0x0513);
    file.extend(text.bytes());
    // The segment's size in the file and in memory.
    let length = (file.len() as u64).to_le_bytes();
    file[96..104].copy_from_slice(&length);
    file[104..112].copy_from_slice(&length);
    file
}

#[test]
fn the_goals_are_printed() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("guests")).unwrap();
    let told =
        |first: u32, steady: u32| printing(&format!("first,0,{first}\nsteady,1,{steady}\nright\n"));
    for (name, file) in [
        ("serial", told(4_000, 4_000)),
        ("manycore", told(30_000, 1_000)),
        ("rayon", told(1, 4_000)),
        ("openmp", told(1, 500)),
    ] {
        std::fs::write(bench.path(&format!("guests/{name}")), file).unwrap();
    }
    let args = "study peers --on dahu --threads 2,8 --set folder=guests --set programs=mid \
                --set peers=rayon,manycore,gomp-static --set orders=2";
    let text = bench.run(args).ok().out();
    let line = |words: &str| {
        let found = text.lines().find(|line| line.contains(words));
        found
            .unwrap_or_else(|| panic!("{words}: {text}"))
            .to_owned()
    };
    // Both numbers of threads take the same time.
    let slower = line("best time with fewer threads");
    assert!(
        slower.contains("0 of 1 cells above") && slower.contains(" reached"),
        "{slower}"
    );
    // With 8 threads `manycore` is slower than a peer.
    let ahead = line("from 4 threads on");
    assert!(
        ahead.contains("1 of 2 cells") && ahead.contains("not reached"),
        "{ahead}"
    );
    let rayon = line("time of rayon with 64");
    assert!(
        rayon.contains("0.25") && !rayon.contains("not reached"),
        "{rayon}"
    );
    let best = line("time of the best peer with 64");
    assert!(
        best.contains("2.00") && best.contains("not reached"),
        "{best}"
    );
    let first = line("time of ten steady calls");
    assert!(first.contains("2 of 2 cells above; worst 3.0"), "{first}");
    // `figure` draws the table.
    bench.run(&format!("{args} --out out")).ok();
    bench.run("figure out/peers.csv --out drawn").ok();
    let figure = std::fs::read_to_string(bench.path("drawn/peers.svg")).unwrap();
    assert!(
        figure.contains("0.50 times as fast as the best peer"),
        "{figure}"
    );
}

#[test]
fn a_binary_that_fails_is_a_row_with_its_reason() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("guests")).unwrap();
    for (name, bytes) in [("serial", hello()), ("rayon", b"no program".to_vec())] {
        std::fs::write(bench.path(&format!("guests/{name}")), bytes).unwrap();
    }
    let args = "study peers --on dahu --threads 2 --set folder=guests --set programs=mid";
    let csv = bench.run(&format!("{args} --format csv")).ok().out();
    let rows = records(&csv);
    let names: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let reason = |peer: &str| -> String {
        let row = rows.iter().find(|row| &row[4] == peer);
        let row = row.unwrap_or_else(|| panic!("{csv}"));
        let of = |name| &row[names.iter().position(|other| *other == name).unwrap()];
        // No order succeeded, so there is no time.
        assert_eq!((of("orders"), of("steady_us")), ("0", ""), "{csv}");
        of("reason").to_owned()
    };
    assert!(reason("serial").starts_with("status 7"), "{csv}");
    assert!(reason("rayon").contains("guests/rayon"), "{csv}");
    let text = bench.run(args).ok().out();
    assert!(text.contains("Runs without a result"), "{text}");
    assert!(text.contains("left out: manycore, "), "{text}");
}

/// The programs of this test are shell scripts.
#[cfg(target_os = "linux")]
#[test]
fn programs_of_this_host_run_in_rounds() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new();
    std::fs::create_dir(bench.path("here")).unwrap();
    for (name, ns) in [("serial", 4_000), ("manycore", 2_000), ("rayon", 3_000)] {
        let script = format!("#!/bin/sh\necho first,0,{ns}\necho steady,10,{ns}\necho right\n");
        let path = bench.path(&format!("here/{name}"));
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let args =
        "study peers --on native --threads 1 --set folder=here --set programs=mid --set runs=3";
    let csv = bench.run(&format!("{args} --format csv")).ok().out();
    let rows = records(&csv);
    let names: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let row = rows.iter().find(|row| &row[4] == "rayon").unwrap();
    let of = |name| &row[names.iter().position(|other| *other == name).unwrap()];
    assert_eq!((of("world"), of("orders")), ("native", "3"), "{csv}");
    assert_eq!(
        (of("steady_us"), of("ratio_ours")),
        ("3.0", "0.6667"),
        "{csv}"
    );
    assert_eq!(of("ratio_serial"), "0.75", "{csv}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("empty")).unwrap();
    let refused = |args: &str, words: &str| {
        bench.run(&format!("study peers {args}")).refused(words);
    };
    refused("", "--set folder=target/guests | ci/guests.sh");
    refused("--set folder=empty", "--set folder=empty | ci/guests.sh");
    refused(
        "--on native",
        "folder=target/guests-native | ci/guests.sh --native",
    );
    refused("--on native --set orders=2", "--set orders | --on PRESET");
    std::fs::write(bench.path("empty/rayon"), hello()).unwrap();
    let folder = "--set folder=empty";
    refused(&format!("{folder} --set peers=nobody"), "nobody | chili");
    refused(
        &format!("{folder} --set programs=unit-0"),
        "unit-0 | mergesort",
    );
    refused(&format!("{folder} --set on=nowhere"), "--set on");
    refused(
        &format!("{folder} --threads 97 --on graviton2-64"),
        "--threads | 1 to 96",
    );
    refused(&format!("{folder} --cores 2"), "--cores | --threads");
}
