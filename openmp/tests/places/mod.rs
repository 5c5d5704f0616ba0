//! The places of members: as with GCC's library for random masks, variables and sizes.

use super::random::Random;
use super::{built, number, run_with, text};
use std::path::{Path, PathBuf};

/// The number of cases in a run; each lasts some 12 ms.
const CASES: u64 = 100;

fn cpus() -> Vec<usize> {
    let status = std::fs::read_to_string("/proc/self/status").expect("the kernel has this file");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .expect("the file contains the mask");
    line.trim().split(',').flat_map(range).collect()
}

fn range(text: &str) -> Vec<usize> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.parse::<usize>().expect("CPUs are numbers");
    (number(first)..=number(last)).collect()
}

struct Case {
    /// The CPUs in the format of `taskset`.
    mask: String,
    ranks: usize,
    variables: Vec<(&'static str, String)>,
}

impl Case {
    fn random(random: &mut Random, all: &[usize]) -> Self {
        let mut mask: Vec<usize> = all
            .iter()
            .copied()
            .filter(|_| random.below(3) > 0)
            .collect();
        if mask.is_empty() {
            mask.push(all[random.below(all.len() as u64) as usize]);
        }
        let mut variables = vec![];
        if random.below(4) > 0 {
            let words = [
                "true",
                "false",
                "close",
                "spread",
                "primary",
                "spread,close",
            ];
            variables.push(("OMP_PROC_BIND", random.one_of(&words).to_owned()));
        }
        match random.below(4) {
            0 => {}
            1 => variables.push(("OMP_PLACES", named(random))),
            2 => variables.push(("OMP_PLACES", list(random, all))),
            _ => variables.push(("GOMP_CPU_AFFINITY", affinity(random, &mask))),
        }
        let mask: Vec<_> = mask.iter().map(usize::to_string).collect();
        Self {
            mask: mask.join(","),
            ranks: 1 + random.below(7) as usize,
            variables,
        }
    }

    fn run(&self, program: &Path, ours: bool) -> String {
        // While another process keeps a core busy, the library could carry the outer regions: workers on other cores
        // would execute their members.
        let heed = ("MANYCORE_OMP_HEED", "false");
        let own = self.variables.iter();
        let own = own.map(|(name, value)| (*name, value.as_str()));
        let variables: Vec<_> = own.chain([heed]).collect();
        let mask = PathBuf::from(&self.mask);
        let arguments = [Path::new("-c"), &mask, program];
        text(&run_with(
            Path::new("taskset"),
            &arguments,
            self.ranks,
            &variables,
            ours,
        ))
    }
}

fn named(random: &mut Random) -> String {
    let name = random.one_of(&["threads", "cores", "sockets"]);
    match random.below(3) {
        0 => format!("{name}({})", 1 + random.below(3)),
        _ => name.to_owned(),
    }
}

/// Random places, and a last place with all CPUs, since the mask may empty any other.
fn list(random: &mut Random, all: &[usize]) -> String {
    let mut places = vec![];
    for _ in 0..random.below(4) {
        let cpu = all[random.below(all.len() as u64) as usize];
        places.push(match random.below(3) {
            0 => format!("{{{cpu}}}"),
            1 => format!("{{{cpu}}},{{{}}}", all[0]),
            _ => format!("{{{}:{}}}", all[0], all.len()),
        });
    }
    places.push(format!(
        "{{{}:{}}}",
        all[0],
        all[all.len() - 1] + 1 - all[0]
    ));
    places.join(",")
}

/// Random CPUs of the mask. GCC's library also makes places of CPUs outside the mask, where it then cannot
/// start threads.
fn affinity(random: &mut Random, mask: &[usize]) -> String {
    let count = 1 + random.below(4);
    let cpus: Vec<_> = (0..count)
        .map(|_| {
            let cpu = mask[random.below(mask.len() as u64) as usize];
            random.one_of(&["", "-"]).replace('-', &format!("{cpu}-")) + &cpu.to_string()
        })
        .collect();
    cpus.join(random.one_of(&[" ", ","]))
}

#[test]
fn members_are_where_libgomps_are() {
    let Some(program) = built(&[], "places", "binding.c") else {
        return;
    };
    let all = cpus();
    let first = number("MANYCORE_SEED").unwrap_or(1);
    for seed in first..first + CASES * number("MANYCORE_SCHEDULES").unwrap_or(1) {
        let mut random = Random(seed);
        // Skips the first numbers, which are similar for neighbouring seeds.
        (0..4).for_each(|_| _ = random.below(2));
        let case = Case::random(&mut random, &all);
        let theirs = case.run(&program, false);
        let ours = case.run(&program, true);
        assert_eq!(
            ours, theirs,
            "MANYCORE_SEED={seed}: mask {}, {} ranks, {:?}",
            case.mask, case.ranks, case.variables
        );
    }
}

#[test]
fn members_are_displayed_when_libgomps_are() {
    let Some(program) = built(&[], "places", "affinity.c") else {
        return;
    };
    for bind in ["false", "true", "close", "primary", "spread"] {
        for ranks in [1, 2, 3, 5] {
            let variables = [
                ("OMP_DISPLAY_AFFINITY", "true"),
                ("OMP_AFFINITY_FORMAT", "%n of %N in %a at level %L: %A"),
                ("OMP_PROC_BIND", bind),
            ];
            // Members print in any order.
            let lines = |ours| {
                let text = text(&run_with(&program, &[], ranks, &variables, ours));
                let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
                lines.sort_unstable();
                lines
            };
            assert_eq!(lines(true), lines(false), "{bind} with {ranks} ranks");
        }
    }
}
