//! Results state their origin, and nothing overwrites them. The tests are about names by machine, locks, journals, and
//! killed processes.

use crate::{Bench, sealed, unsealed};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

/// A study that takes an instant.
const STUDY: &str = "study block-size --threads 1 --seed 7 --set n=8 --set reads=64 --set \
                     writes=64 --set comps=64 --set rounds=1 --set blocks=1,2";

/// The first cell of this study takes an instant, the second takes minutes.
pub(crate) const LONG: &str = "study block-size --threads 1 --set n=8 --set tasks=folded,tiny --set \
                    tiny-n=2^24 --set blocks=1,2 --set reads=64 --set comps=64 --set writes=64 \
                    --set seconds=1000000";

fn start(bench: &Bench, line: &str) -> Child {
    let mut command = bench.command(line);
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Kills a process as `kill -9` does.
fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Waits until a journal with this beginning of its name has `count` records.
fn wait_for_records(bench: &Bench, name: &str, count: usize) -> PathBuf {
    loop {
        let entries = fs::read_dir(bench.path("out")).into_iter().flatten();
        let mut paths = entries.flatten().map(|entry| entry.path());
        let journal = paths.find(|path| {
            let file = path.file_name().unwrap().to_string_lossy();
            file.starts_with(name) && file.ends_with(".journal")
        });
        if let Some(path) = journal.filter(|path| records(path).len() >= count) {
            return path;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The complete lines of a journal after its first line.
fn records(journal: &PathBuf) -> Vec<String> {
    let text = fs::read_to_string(journal).unwrap_or_default();
    unsealed(&text).lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn two_machines_leave_both_results() {
    let bench = Bench::new();
    let on = |machine: &str, more: &str| {
        let line = format!("{STUDY} --on {machine} {more} --format csv");
        bench.run(&line).ok().out()
    };
    let first = on("w3225r", "");
    let second = on("gold5225r", "");
    let changed = on("gold5225r", "--set ghz=1");
    let read = |name: &str| bench.read(name);
    assert_eq!(read("out/block-size.w3225r.csv"), first);
    assert_eq!(read("out/block-size.gold5225r.csv"), second);
    // The last result is the latest. A changed machine is another machine.
    assert_eq!(read("out/block-size.csv"), changed);
    let names = bench.names("out");
    let tables = names.iter().filter(|name| name.ends_with(".csv"));
    assert_eq!(tables.count(), 4, "{names:?}");
}

#[test]
fn a_folder_belongs_to_one_process_until_the_process_ends() {
    let bench = Bench::new();
    let first = start(&bench, LONG);
    wait_for_records(&bench, "block-size", 1);
    let process = format!("process {}", first.id());
    let second = || bench.run(STUDY);
    second().refused(&format!("--out out | {process} | study block-size"));
    bench.run(&format!("{STUDY} --out other")).ok();
    // The lock of a killed process does not block another.
    kill(first);
    second().ok();
}

#[test]
fn a_journal_of_another_build_is_refused() {
    let bench = Bench::new();
    let first = start(&bench, LONG);
    let path = wait_for_records(&bench, "block-size", 1);
    kill(first);
    let text = unsealed(&fs::read_to_string(&path).unwrap());
    let (_, rest) = text.split_once('\n').unwrap();
    let other = format!("{{\"build\":\"0123\",\"host\":null}}\n{rest}");
    fs::write(&path, sealed(&other)).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    bench
        .run(LONG)
        .refused(&format!("{name} | build 0123 | --fresh"));
}

/// Journals keep the machine and the first cell of the first study. The next process begins with the second cell.
#[test]
fn a_killed_report_loses_only_the_current_cell() {
    let bench = Bench::new();
    let first = start(&bench, "report --quick");
    wait_for_records(&bench, "block-size", 1);
    kill(first);
    // The page has its first section, and lists the unfinished studies.
    let page = bench.read("out/report.html");
    for part in ["id=\"the-machine\"", "Still being measured: block-size, "] {
        assert!(page.contains(part), "{page} lacks {part}");
    }
    let machine = wait_for_records(&bench, "machine", 1);
    let study = wait_for_records(&bench, "block-size", 1);
    let before = (records(&machine), records(&study));

    let second = start(&bench, "report --quick");
    wait_for_records(&bench, "block-size", before.1.len() + 1);
    kill(second);
    let after = (records(&machine), records(&study));
    assert_eq!(after.0, before.0);
    assert_eq!(after.1[..before.1.len()], before.1);
    let cells = after.1.iter().map(|record| {
        let record: Value = serde_json::from_str(record).unwrap();
        record["cell"].to_string()
    });
    let mut cells: Vec<String> = cells.collect();
    cells.sort();
    let count = cells.len();
    cells.dedup();
    assert_eq!(cells.len(), count);
}
