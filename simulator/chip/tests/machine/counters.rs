//! Properties of counters for every program and machine.

use super::support::program::Program;
use super::support::{machine, machines, spawn};
use fastrand::Rng;
use manycore_chip::config::{AtomicKind, Config};
use manycore_chip::{Activity, Counters, Simulated, Simulation, Statistics};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering::SeqCst, Platform};
use std::sync::Arc;

type U64 = <Simulated as Platform>::AtomicU64;

/// Properties of every run.
fn check(name: &str, statistics: &Statistics) {
    let counters = statistics.counters.as_ref().expect("asked for");
    assert_eq!(counters.cycles, statistics.cycles, "{name}");
    for (core, counted) in counters.cores.iter().enumerate() {
        // The stack adds up to the core's time, and is equal to the report's.
        let stack: u64 = counted.stack().iter().map(|(_, cycles)| cycles).sum();
        assert_eq!(stack, statistics.cycles, "{name}: core {core}");
        assert_eq!(
            counted.cycles, statistics.report.cores[core],
            "{name}: core {core}"
        );
        assert_eq!(
            counted.l1.misses,
            counted.l2.hits + counted.l2.misses,
            "{name}"
        );
        let answers = counted.group + counted.remote + counted.memory;
        assert_eq!(counted.l2.misses, answers, "{name}: core {core}");
    }
    let (total, latencies) = (counters.total(), &counters.latencies);
    assert_eq!(latencies.group.count(), total.group, "{name}");
    assert_eq!(latencies.remote.count(), total.remote, "{name}");
    assert_eq!(latencies.memory.count(), total.memory, "{name}");
    let use_of_links = counters.links.iter().map(|link| link.busy).sum::<u64>();
    assert!(
        use_of_links == 0 || latencies.network_wait.count() > 0,
        "{name}"
    );
    for controller in &counters.controllers {
        assert!(
            controller.lines <= controller.busy,
            "{name}: {controller:?}"
        );
    }
}

#[test]
fn counters_are_right_and_change_nothing() {
    for (name, machine) in machines() {
        for seed in 0..4 {
            let program = Program::random(seed, machine.cores as usize, 40);
            let run = |simulation: Simulation| program.run_on(&machine, simulation).unwrap();
            let without = run(Simulation::new(&machine));
            let with = run(Simulation::new(&machine).samples(500).timeline(50));
            assert_eq!(without.counters, None);
            assert_eq!(
                (with.hash, with.cycles, with.events),
                (without.hash, without.cycles, without.events),
                "{name}, seed {seed}"
            );
            check(&name, &with);
        }
    }
}

/// Several cores load, store and add on a few lines. Returns the counters, the number of accesses, and the instructions
/// between them.
fn walk(machine: &Config, seed: u64) -> (Counters, u64, u64) {
    let cores = machine.cores.min(6) as usize;
    let simulation = Simulation::new(machine).counters();
    let run = simulation.run(|| {
        let words: Vec<_> = (0..300).map(|_| CachePadded::new(U64::new(0))).collect();
        let words = Arc::new(words);
        let before = Simulated::counters().expect("asked for");
        let threads = (0..cores).map(|core| {
            let words = Arc::clone(&words);
            spawn(core, move || {
                let mut rng = Rng::with_seed(seed + core as u64);
                for _ in 0..400 {
                    // Some lines are for all cores, and some for one core.
                    let near = 40 + 40 * core..80 + 40 * core;
                    let at = if rng.bool() {
                        rng.usize(0..4)
                    } else {
                        rng.usize(near)
                    };
                    match rng.u8(..4) {
                        0 => words[at].store(1, SeqCst),
                        1 => drop(words[at].fetch_add(1, SeqCst)),
                        _ => drop(words[at].load(SeqCst)),
                    }
                    Simulated::compute(3);
                }
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().for_each(Simulated::join);
        Simulated::counters().expect("asked for").since(&before)
    });
    let run = run.unwrap();
    // This is a copy, because a value in the simulated machine's memory keeps all of that memory.
    (run.value.clone(), 400 * cores as u64, 1200 * cores as u64)
}

#[test]
fn every_access_is_a_hit_or_a_miss_of_each_level_that_it_reaches() {
    for (name, machine) in machines() {
        if machine.atomics.kind == AtomicKind::Llsc {
            continue; // An addition is two accesses or more.
        }
        for seed in [1, 20] {
            let (counters, accesses, computed) = walk(&machine, seed);
            let total = counters.total();
            assert_eq!(total.l1.hits + total.l1.misses, accesses, "{name}");
            assert_eq!(total.instructions, accesses + computed, "{name}");
            let asked: u64 = counters
                .shared
                .iter()
                .map(|llc| llc.hits + llc.misses)
                .sum();
            let misses = if machine.llc.is_some() {
                total.l2.misses
            } else {
                0
            };
            match machine.core.overlap {
                None => assert_eq!(asked, misses, "{name}"),
                // Requests for lines that no core waits for are counted, too.
                Some(_) => assert!(asked >= misses, "{name}: {asked}, {misses}"),
            }
            let queued = counters.latencies.home_queue.count();
            match machine.core.overlap {
                None => assert_eq!(queued, total.l2.misses, "{name}"),
                Some(_) => assert!(queued >= total.l2.misses, "{name}"),
            }
        }
    }
}

#[test]
fn lines_that_are_fought_over_serialise() {
    let mut machine = Config::preset("atac-64").unwrap();
    machine.set("cores=16").unwrap();
    let run = Simulation::new(&machine).counters().run(|| {
        let word = Arc::new(U64::new(0));
        let add = |core| {
            let word = Arc::clone(&word);
            spawn(core, move || {
                for _ in 0..200 {
                    word.fetch_add(1, SeqCst);
                }
            })
        };
        let threads: Vec<_> = (0..16).map(add).collect();
        threads.into_iter().for_each(Simulated::join);
    });
    let counters = run.unwrap().statistics.counters.unwrap();
    let stack = counters.total().stack();
    let cycles = |name: &str| stack.iter().find(|(what, _)| *what == name).unwrap().1;
    // 16 cores queue for one word, so an access is mostly waiting.
    assert!(
        cycles("serialised") > 4 * (cycles("group") + cycles("remote")),
        "{stack:?}"
    );
    assert!(counters.latencies.home_queue.quantile(0.5) >= 8);
    assert!(counters.latencies.home_queue.most() <= 16);
}

#[test]
fn samples_are_bounded_and_end_where_the_run_does() {
    let machine = Config::preset("atac-64").unwrap();
    let run = Simulation::new(&machine).samples(10).run(|| {
        for _ in 0..5_000 {
            Simulated::compute(5);
            Simulated::yield_now();
        }
    });
    let run = run.unwrap();
    let samples = &run.samples;
    assert!((512..=1024).contains(&samples.len()), "{}", samples.len());
    assert!(samples.is_sorted_by(|one, next| one.at < next.at));
    for sample in samples {
        assert_eq!(sample.total.cycles.sum(), 64 * sample.at);
    }
    let last = samples.last().unwrap();
    let all = run.statistics.counters.unwrap().total();
    assert!(last.total.instructions <= all.instructions);
    assert!(last.total.cycles[Activity::Compute] > all.cycles[Activity::Compute] * 9 / 10);
}

#[test]
fn a_timeline_shows_sleeps_and_regions_of_threads() {
    use manycore_platform::Futex;
    let machine = Config::preset("dahu").unwrap();
    let run = Simulation::new(&machine).timeline(100).run(|| {
        let word = Arc::new(<Simulated as Platform>::Futex::new(0));
        Simulated::name(&*word, "bell");
        let sleeper = {
            let word = Arc::clone(&word);
            spawn(1, move || {
                Simulated::region("at work", || word.wait(0, None))
            })
        };
        Simulated::compute(500_000);
        word.store(1, SeqCst);
        word.wake(1);
        Simulated::join(sleeper);
    });
    let mut file = Vec::new();
    run.unwrap().write_timeline(&mut file).unwrap();
    let file: serde_json::Value = serde_json::from_slice(&file).unwrap();
    let events = file["traceEvents"].as_array().unwrap();
    let span = |name: &str| {
        let span = events.iter().find(|event| event["name"] == name);
        let span = span.unwrap_or_else(|| panic!("no {name}"));
        let at = span["ts"].as_f64().unwrap();
        (at, at + span["dur"].as_f64().unwrap())
    };
    let (region, sleep) = (span("at work"), span("sleep on bell"));
    assert!(
        region.0 < sleep.0 && sleep.1 < region.1,
        "{region:?} {sleep:?}"
    );
    assert!(sleep.1 - sleep.0 > 10.0, "{sleep:?}");
}

/// A directory that has lost count of a line's readers asks all tiles, also if some readers have dropped the line since.
#[test]
fn an_overflowed_list_of_sharers_stays_overflowed() {
    let flits = |directory: &str| {
        let settings = [
            "cores=16",
            "l1.ways=1",
            "l1.size=128",
            "l2.ways=1",
            "l2.size=256",
            "coherence.pointers=4",
            directory,
        ];
        let machine = machine("atac-64", &settings);
        let run = Simulation::new(&machine).counters().run(|| {
            let lines: Arc<Vec<CachePadded<U64>>> =
                Arc::new((0..40).map(|_| CachePadded::new(U64::new(0))).collect());
            // Six tiles read line 0, and then four of them evict it.
            for (core, lines_read) in (1..7)
                .map(|core| (core, 0..1))
                .chain((1..5).map(|core| (core, 1..40)))
            {
                let lines = Arc::clone(&lines);
                Simulated::join(spawn(core, move || {
                    for line in &lines[lines_read] {
                        line.load(SeqCst);
                    }
                }));
            }
            let before = Simulated::counters().expect("asked for");
            lines[0].store(1, SeqCst);
            let after = Simulated::counters().expect("asked for");
            let links = after.since(&before).links;
            links.iter().map(|link| link.busy).sum::<u64>()
        });
        run.unwrap().value
    };
    let [named, asked] = [
        "coherence.directory=full-map",
        "coherence.directory=ackwise",
    ]
    .map(flits);
    // A message to each of 15 tiles, and not to the two that still have the line.
    assert!(asked > named + 15, "{asked}, {named}");
}

/// Without last-level caches, another tile of several hardware threads is another group.
#[test]
fn a_tile_that_answers_is_remote() {
    let mut config = machine("dahu-smt", &[]);
    (config.cores, config.group_cores, config.llc) = (8, 2, None);
    if let manycore_chip::config::Network::Groups { distance, .. } = &mut config.network {
        *distance = (0..4)
            .map(|a| (0..4).map(|b| u32::from(a != b)).collect())
            .collect();
    }
    let run = Simulation::new(&config).counters().run(|| {
        let word = Arc::new(CachePadded::new(U64::new(0)));
        let read = |core| {
            let word = Arc::clone(&word);
            Simulated::join(spawn(core, move || _ = word.load(SeqCst)));
        };
        // Tile 1 has the line clean, beside a second tile. Then tile 2 reads it.
        [2, 6].into_iter().for_each(read);
        let before = Simulated::counters().expect("asked for");
        read(4);
        let read = Simulated::counters().expect("asked for").since(&before);
        (read.cores[4].group, read.cores[4].remote)
    });
    let (group, remote) = run.unwrap().value;
    assert_eq!(group, 0, "{remote} remote");
}

/// Another core's long computation counts only as far as it has come.
#[test]
fn cpu_time_leaves_out_the_future() {
    let machine = machine("dahu", &[]);
    let run = Simulation::new(&machine).run(|| {
        let other = spawn(3, || Simulated::compute(1_000_000_000));
        Simulated::compute(200_000);
        let mut looks = vec![Simulated::cpu_time()];
        for _ in 0..5 {
            Simulated::compute(10_000);
            looks.push(Simulated::cpu_time());
        }
        let now = Simulated::now();
        Simulated::join(other);
        (looks, now)
    });
    let (looks, now) = run.unwrap().value;
    assert!(looks[5] <= 2 * now, "{looks:?} at {now}");
    // Two cores compute.
    let steps = looks.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(steps.eq([10_000; 5]), "{looks:?}");
}
