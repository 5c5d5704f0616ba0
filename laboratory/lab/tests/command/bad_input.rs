//! Bad input gives one line of error and exit status 2. Nothing is written.

use crate::Bench;
use std::fs;

#[test]
fn forms_of_figures_are_checked_before_anything_is_measured() {
    let bench = Bench::new();
    bench.refuses(
        "",
        &[
            (
                "study barrier --figure width=85",
                "--figure width=85 | from 60mm to 400mm",
            ),
            ("report --figure format=png", "--figure format=png | pdf"),
            ("report --on nowhere", "--on nowhere | atac-64"),
            ("figure none.svg", "none.svg | expected an SVG file"),
            ("figure none.csv", "none.csv | expected a CSV file"),
            ("merge .", "this is not a file | expected a journal"),
            ("figure", "FILE.svg"),
        ],
    );
    std::fs::write(bench.path("other.svg"), "<svg/>").unwrap();
    let refused = bench.run("figure other.svg");
    refused.refused("other.svg | that a study wrote");
    std::fs::write(bench.path("other.csv"), "machine,program\na,b\n").unwrap();
    let refused = bench.run("figure other.csv");
    refused.refused("other.csv | `threads` | mode, time, unit");
    assert_eq!(bench.names(""), ["other.csv", "other.svg"]);
}

/// A device may be a file without an end.
#[test]
#[cfg(unix)]
fn no_file_is_read_for_ever() {
    let bench = Bench::new();
    for command in [
        "figure",
        "merge",
        "model eval --data",
        "model predict --params",
        "machine --on",
    ] {
        let line = format!("{command} /dev/zero");
        bench.run(&line).refused("/dev/zero | expected");
    }
}

#[test]
fn usage_errors_are_one_line() {
    let bench = Bench::new();
    bench.refuses(
        "",
        &[
            ("", "machine | study | report"),
            ("model", "fit | predict | eval"),
            ("nonsense", "nonsense | expected one of machine, run, study"),
            ("study", "<NAME>"),
            ("study block-size --fast", "--fast | expected the flags"),
            (
                "report --seed -1",
                "'-1' | expected the flags and values that --help lists",
            ),
            (
                "report --quick --full",
                "'--quick' | '--full' | expected one of the two",
            ),
            (
                "study block-size --set tasks=tiny --only folded",
                "--only | --set tasks | no name in common",
            ),
            ("study block-size --quick --full", "--quick | --full"),
            ("study block-size --format xml", "xml | table | json | csv"),
            ("study block-size --seed -1", "-1"),
            (
                "study block-size --seed x",
                "x | --seed | expected a whole number",
            ),
            (
                "run --seed 18446744073709551616 x",
                "--seed | expected a whole number",
            ),
            ("machine --threads 0", "--threads | at least 1"),
            ("model guess", "guess | expected one of fit, predict, eval"),
        ],
    );
    assert!(bench.names("").is_empty());
}

#[test]
fn an_unknown_study_lists_the_known_ones() {
    Bench::new()
        .run("study blocksize")
        .refused("`blocksize` | block-size");
}

#[test]
fn an_impossible_simulated_machine_is_refused() {
    let bench = Bench::new();
    bench.refuses(
        "machine",
        &[
            ("--on chip64", "--on | chip64 | native | westmere-ex"),
            (
                "--on none.toml",
                "none.toml | cannot be read | expected native | FILE.toml",
            ),
            ("--on atac-64 --set cores", "--set cores"),
            ("--on atac-64 --set cores=0", "--set cores=0"),
            ("--on atac-64 --set l1.latencyy=2", "--set l1.latencyy=2"),
            ("--set cores=2", "--set cores=2 | --on"),
        ],
    );
    bench
        .run("study block-size --on chip64")
        .refused("--on chip64 | native | westmere-ex");
    fs::write(bench.path("part.toml"), "cores = 2\n").unwrap();
    bench.run("machine --on part.toml").refused("part.toml");
}

#[test]
fn settings_are_checked_before_anything_is_made() {
    let bench = Bench::new();
    bench.refuses(
        "study block-size --set",
        &[
            ("n", "--set n | KEY=VALUE"),
            ("speed=1", "`speed` | partitioners | rounds"),
            ("n=0", "--set n | from 1"),
            ("n=-5", "--set n | `-5`"),
            ("n=NaN", "--set n | `NaN`"),
            ("n=1e6", "--set n | `1e6`"),
            ("n=", "--set n"),
            ("n=2^63", "--set n | 2^28"),
            ("blocks=1,0,4", "--set blocks | `0`"),
            ("blocks=inf", "--set blocks | `inf`"),
            ("reads=0", "--set reads | `0`"),
            ("comps=-1", "--set comps | `-1`"),
            ("comps=2^99", "--set comps | `2^99`"),
            ("rounds=0", "--set rounds"),
            ("seconds=0.5", "--set seconds"),
            ("tasks=easy", "`easy` | folded | heavy-tailed"),
            ("partitioners=fair", "`fair` | guided"),
            ("partitioners=fixed-block=0", "fixed-block | at least 1"),
            ("partitioners=guided=4", "guided | no block size"),
            ("grid=circle", "`circle` | star | cross"),
        ],
    );
    let twice = "study block-size --set n=1 --set n=2";
    bench.run(twice).refused("twice");
    assert!(bench.names("").is_empty());
}

#[test]
fn an_unknown_key_lists_the_keys_of_study_and_machine_separately() {
    let bench = Bench::new();
    bench
        .run("study barrier --set episode=3")
        .refused("--set episode=3: unknown key `episode`, perhaps `episodes` | the study's episodes, beside, runs, seconds, pin, or of the machine's name, | cores | os.*");
    let native = "study block-size --set cores=2";
    bench
        .run(native)
        .refused("`cores` | simulated machine | one of n,");
    let machine = "machine --on atac-64 --set core=2";
    bench.run(machine).refused("--set core=2 | core: ");
    let machine = "machine --on atac-64 --set core.cpu=2";
    bench
        .run(machine)
        .refused("core.cpu | `cpi` | `spin-period`");
    let machine = "machine --on atac-64 --set corse=2";
    bench
        .run(machine)
        .refused("`corse`, perhaps `cores` | the machine's name,");
}

#[test]
fn a_simulated_machine_that_is_too_large_is_refused_before_it_is_made() {
    let bench = Bench::new();
    bench.refuses(
        "machine --on atac-64 --set",
        &[
            ("os.balance-busy=0", "os.balance-busy: 0 | from 1 to 1024"),
            ("l1.size=1000000000000", "l1.size | from 1 to 4294967296"),
            ("l2.size=1073741824", "l2.size | 64 caches | 67108864"),
            ("l1.latency=1000000000", "l1.latency | from 1 to 1000000"),
            ("memory.latency=1e9", "memory.latency | 1000000"),
            ("core.cpi=1e-308", "core.cpi | 1e-308 | from 0.01 to 1000"),
            ("optical.transport=1099511627776", "optical.transport"),
        ],
    );
    let sweep = "study robustness --set transport=1000001";
    bench
        .run(sweep)
        .refused("--set transport | from 0 to 1000000");
}

#[test]
fn products_of_numbers_have_limits() {
    let bench = Bench::new();
    bench.refuses(
        "study",
        &[
            ("block-size --set n=2^28", "n: by bytes of reads | 2^36"),
            (
                "block-size --set n=64 --set writes=2^24 --threads 128",
                "writes | 2^30",
            ),
            ("block-size --threads 1025", "--threads 1025 | 1024"),
            ("block-size --threads 4097", "--threads | 4096"),
            ("stealing --set tasks=100000", "tasks | 64 | 2^22"),
            ("stealing --cores 65,1024 --set tasks=5000", "tasks | 2^22"),
        ],
    );
    let list = |most: usize| {
        (1..=most)
            .map(|n| n.to_string())
            .collect::<Vec<_>>()
            .join(",")
    };
    bench
        .run(&format!("study barrier --cores {}", list(65)))
        .refused("--cores | 65 counts | 64");
    let lists = ["reads", "writes", "comps"].map(|key| format!("--set {key}={}", list(64)));
    let cross = format!("study block-size --set grid=cross {}", lists.join(" "));
    bench.run(&cross).refused("cells | 100000");
}

#[test]
fn a_file_without_an_end_is_refused() {
    let bench = Bench::new();
    let path = bench.path("endless.toml");
    let file = fs::File::create(&path).unwrap();
    // The file has ten terabytes without contents, if the file system supports that.
    if file.set_len(10 << 40).is_err() {
        return;
    }
    bench
        .run("machine --on endless.toml")
        .refused("endless.toml | 1048576 bytes");
    for command in ["predict --data", "fit --data", "predict --params"] {
        let line = format!("model {command} endless.toml");
        bench.run(&line).refused("endless.toml | 4194304 bytes");
    }
}

#[test]
fn opaque_additions_have_a_limit() {
    Bench::new()
        .run("study block-size --set tasks=opaque --set comps=2^21")
        .refused("--set comps | 2^20");
}

#[test]
fn thread_counts_are_checked() {
    let bench = Bench::new();
    for list in ["0", "1,0", "-2", "two", "1.5", "NaN", ""] {
        let line = format!("study block-size --threads={list}");
        bench.run(&line).refused("--threads");
    }
}

#[test]
fn only_knows_tasks_and_partitioners() {
    Bench::new()
        .run("study block-size --only tiny,slow")
        .refused("--only | `slow` | opaque | sharded");
}

#[test]
fn an_impossible_output_folder_is_noticed_before_the_measurements() {
    let bench = Bench::new();
    fs::write(bench.path("file"), "mine").unwrap();
    // The measurement would take a million seconds, so only a check before it returns.
    for command in ["study block-size --set seconds=1000000", "report --full"] {
        for out in ["file", "file/below"] {
            let line = format!("{command} --out {out}");
            bench.run(&line).refused(&format!("--out | {out}"));
        }
    }
    assert_eq!(bench.names(""), ["file"]);
    assert_eq!(bench.read("file"), "mine");
}

#[test]
#[cfg(unix)]
fn a_read_only_output_folder_is_noticed_before_the_measurements() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new();
    let folder = bench.path("locked");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(folder.join("probe"), "").is_ok() {
        // The superuser may write anywhere.
        return;
    }
    bench
        .run("study block-size --out locked")
        .refused("--out locked | cannot write");
    assert!(bench.names("locked").is_empty());
}

#[test]
fn help_and_version_are_no_errors() {
    let bench = Bench::new();
    assert!(bench.run("--version").ok().out().starts_with("manycore "));
    assert!(bench.run("--help").ok().out().contains("report"));
    let help = bench.run("study --help").ok().out();
    assert!(
        help.contains("block-size") && help.contains("partitioners"),
        "{help}"
    );
}

#[test]
fn a_closed_pipe_is_no_failure() {
    use std::process::Stdio;
    let bench = Bench::new();
    let mut child = bench
        .command("study --help")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty());
}

#[test]
fn an_argument_that_is_too_long_to_read_is_cut() {
    let bench = Bench::new();
    let word = "é".repeat(3000);
    let words = "all work ".repeat(400);
    for args in [
        "LONG",
        "study LONG",
        "study barrier --on LONG",
        "study barrier --on LONG.toml",
        "study barrier --cores LONG",
        "study barrier --only LONG",
        "study barrier --seed LONG",
        "study barrier --set LONG",
        "study barrier --set episodes=LONG",
        "study barrier --set l1.latency=LONG",
        "study barrier --sweep LONG=1,2",
        "study barrier --sweep episodes=1,LONG",
        "study barrier --shard LONG",
        "study barrier --figure width=LONG",
        "study barrier --timeline LONG/t",
        "study merge LONG",
        "machine --threads LONG",
        "machine --LONG=1",
        "model eval --data LONG",
        "model predict --params LONG",
        "new-program LONG",
        "presets --errors LONG",
        "report --on LONG",
        "figure LONG",
        "run LONG",
    ] {
        for long in [&word, &words] {
            let args = args.split(' ').map(|arg| arg.replace("LONG", long));
            let output = bench.command("").args(args).output().unwrap();
            let err = String::from_utf8(output.stderr).unwrap();
            assert!(err.starts_with("manycore: "), "{err}");
            assert!(err.len() < 2000, "{} bytes: {err}", err.len());
        }
    }
}
