//! Runs whole programs on simulated machines.

use super::*;
use crate::Simulation;
use crate::config::Config;
use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering::SeqCst, Platform, ThreadSpec};
use std::sync::Arc;

type U64 = <Simulated as Platform>::AtomicU64;
type Word = <Simulated as Platform>::Futex;

fn spawn(core: usize, body: impl FnOnce() + Send + 'static) -> SimulatedThread {
    let spec = ThreadSpec {
        cpus: vec![core],
        ..ThreadSpec::default()
    };
    Simulated::spawn(spec, Box::new(body)).unwrap()
}

fn machine(name: &str) -> Config {
    Config::preset(name).unwrap()
}

#[test]
fn a_counter_counts_on_every_preset() {
    for name in crate::config::preset_names() {
        let machine = machine(name);
        let threads = machine.cores.min(16) as usize;
        let run = Simulation::new(&machine)
            .limit(1 << 32)
            .run(|| {
                let counter = Arc::new(U64::new(0));
                let team: Vec<_> = (0..threads)
                    .map(|core| {
                        let counter = Arc::clone(&counter);
                        spawn(core, move || {
                            for _ in 0..100 {
                                counter.fetch_add(1, SeqCst);
                            }
                        })
                    })
                    .collect();
                team.into_iter().for_each(Simulated::join);
                counter.load(SeqCst)
            })
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(run.value, 100 * threads as u64, "{name}");
        let statistics = &run.statistics;
        for core in &statistics.report.cores {
            assert_eq!(core.sum(), statistics.cycles, "{name}");
        }
    }
}

#[test]
fn a_home_invalidates_its_own_copy_at_no_cost() {
    let config = machine("tilegx-36");
    let store_after_a_read_by = |reader: usize| {
        let run = Simulation::new(&config).run(|| {
            let words: Vec<_> = (0..8 * 36).map(|_| U64::new(0)).collect();
            let words = Arc::new(words);
            // The main thread is on core 0.
            let at_home = words.iter().position(|word| Simulated::home_of(word) == 1);
            let at_home = at_home.unwrap();
            let theirs = Arc::clone(&words);
            Simulated::join(spawn(reader, move || _ = theirs[at_home].load(SeqCst)));
            let start = Simulated::now();
            words[at_home].store(1, SeqCst);
            Simulated::now() - start
        });
        run.unwrap().value
    };
    let invalidate = config.llc.as_ref().unwrap().invalidate;
    assert_eq!(
        store_after_a_read_by(2),
        store_after_a_read_by(1) + invalidate
    );
}

#[test]
fn on_a_mesh_a_request_pays_the_hops_to_the_writers_tile() {
    let config = machine("graviton2-64");
    let load_after_a_write_by = |writer: usize| {
        let run = Simulation::new(&config).run(|| {
            let words: Vec<_> = (0..8 * 64).map(|_| U64::new(0)).collect();
            let words = Arc::new(words);
            // The main thread is on core 0.
            let at_home = words.iter().position(|word| Simulated::home_of(word) == 1);
            let at_home = at_home.unwrap();
            let theirs = Arc::clone(&words);
            Simulated::join(spawn(writer, move || theirs[at_home].store(1, SeqCst)));
            let start = Simulated::now();
            words[at_home].load(SeqCst);
            Simulated::now() - start
        });
        run.unwrap().value
    };
    // The messages go from the home to the writer and from there to the reader, and each hop takes 2 cycles. The home
    // is at (1, 0) and the reader at (0, 0). The near writer is at the home itself. The far writer is at (7, 0), 6 hops
    // from the home and 7 from the reader. A message to another tile takes 1 cycle more, for its flit.
    let near = load_after_a_write_by(1);
    assert_eq!(load_after_a_write_by(7), near + (2 * 6 + 1) + 2 * (7 - 1));
}

#[test]
fn a_futex_hands_over() {
    let run = Simulation::new(&machine("westmere-ex"))
        .run(|| {
            let word = Arc::new(Word::new(0));
            let sleeper = {
                let word = Arc::clone(&word);
                spawn(5, move || {
                    while word.load(SeqCst) == 0 {
                        word.wait(0, None);
                    }
                    word.store(2, SeqCst);
                })
            };
            Simulated::compute(100_000);
            word.store(1, SeqCst);
            word.wake(1);
            Simulated::join(sleeper);
            word.load(SeqCst)
        })
        .unwrap();
    assert_eq!(run.value, 2);
}

#[test]
fn a_spinner_sees_the_store_and_pays_for_the_wait() {
    let run = Simulation::new(&machine("atac-64"))
        .run(|| {
            let word = Arc::new(Word::new(0));
            let spinner = {
                let word = Arc::clone(&word);
                spawn(9, move || {
                    Simulated::spin_while(&word, 0, u64::MAX);
                })
            };
            Simulated::compute(1_000_000);
            word.store(1, SeqCst);
            Simulated::join(spinner);
        })
        .unwrap();
    let spun = run.statistics.report.cores[9][crate::Activity::Spin];
    assert!((990_000..1_010_000).contains(&spun), "{spun}");
    assert!(run.statistics.events < 200, "{}", run.statistics.events);
}

#[test]
fn a_sleeper_that_no_thread_can_wake_is_a_deadlock() {
    let error = Simulation::new(&machine("atac-64"))
        .run(|| {
            let word = Word::new(0);
            word.wait(0, None);
        })
        .unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("deadlock at cycle"), "{text}");
    assert!(text.contains("thread main sleeps on the futex"), "{text}");
}

#[test]
fn a_program_that_never_ends_hits_the_limit() {
    let error = Simulation::new(&machine("atac-64"))
        .limit(1_000_000)
        .run(|| {
            loop {
                Simulated::compute(100);
                Simulated::yield_now();
            }
        })
        .unwrap_err();
    assert!(
        error.to_string().contains("still ran after 1000000 cycles"),
        "{error}"
    );
}

#[test]
fn a_panic_of_the_program_is_an_error() {
    let error = Simulation::new(&machine("atac-64"))
        .run(|| panic!("oh"))
        .unwrap_err();
    assert_eq!(error.to_string(), "the simulated program panicked: oh");
}

#[test]
fn more_threads_than_cores_take_turns() {
    let mut machine = machine("atac-64");
    machine.set("cores=4").unwrap();
    let run = Simulation::new(&machine).run(|| {
        let team: Vec<_> = (0..5)
            .map(|_| {
                let body = || (0..100).for_each(|_| Simulated::compute(10_000_000));
                Simulated::spawn(ThreadSpec::default(), Box::new(body)).unwrap()
            })
            .collect();
        team.into_iter().for_each(Simulated::join);
    });
    let cycles = run.unwrap().statistics.cycles;
    // 5 s of work at 1 GHz on 4 cores takes at least 1.25 s, and at most 2 s, if one core runs two
    // threads in a row.
    assert!((1_250_000_000..2_010_000_000).contains(&cycles), "{cycles}");
}
